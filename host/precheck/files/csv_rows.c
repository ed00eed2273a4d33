#include "host/precheck/files/csv_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/storage/patient_read.h"
#include "io/file/out_file.h"
#include "io/text/csv_reader.h"

#define LARGEST_FILE ((size_t)1 << 30)
#define MARK_LENGTH  3

static tdc_status read_bytes(struct tdc_csv_rows *rows, bool must_exist, struct tdc_error *error)
{
    struct tdc_file file;
    tdc_status status = tdc_file_open(rows->path, &file, error);
    if (status == TDC_ERR_NOT_FOUND && !must_exist)
        return TDC_OK;
    if (status != TDC_OK)
        return status;
    if (file.size > LARGEST_FILE)
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s: too large", rows->path);
    rows->bytes = status == TDC_OK ? malloc(file.size + 1) : NULL;
    rows->unquoted = status == TDC_OK ? malloc(file.size + 1) : NULL;
    if (status == TDC_OK && (rows->bytes == NULL || rows->unquoted == NULL))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", rows->path);
    if (status == TDC_OK) {
        int number = tdc_storage_read(file.descriptor, rows->bytes, file.size, 0, &rows->size);
        if (number != 0)
            status = tdc_fail_errno(error, TDC_ERR_READ, number, "%s", rows->path);
    }
    tdc_file_close(file.descriptor);
    return status;
}

static bool is_verdict(const struct tdc_csv_span *field)
{
    return tdc_csv_is(field, "pass", 4) || tdc_csv_is(field, "error", 5) ||
           tdc_csv_is(field, "Warning", 7);
}

/* Reads the next row; false when the file ends inside it. */
static bool describe(struct tdc_csv_rows *rows, struct tdc_csv_reader *reader,
                     struct tdc_csv_row *row)
{
    struct tdc_csv_span field = tdc_csv_next(reader);
    char *copy = rows->unquoted + rows->unquoted_size;
    *row = (struct tdc_csv_row){.start = (size_t)(field.start - rows->bytes), .first = copy};
    row->first_length = tdc_csv_content(&field, copy);
    for (int i = 1; !field.last; i++) {
        field = tdc_csv_next(reader);
        row->verdict |= i <= 2 && !field.last && is_verdict(&field);
    }
    row->end = (size_t)(reader->at - rows->bytes);
    if (field.torn)
        return false;
    rows->unquoted_size += row->first_length;
    return true;
}

static tdc_status split(struct tdc_csv_rows *rows, struct tdc_error *error)
{
    size_t capacity = 0;
    struct tdc_csv_reader reader;
    tdc_csv_start(&reader, rows->bytes, rows->size);
    while (!tdc_csv_at_end(&reader)) {
        if (rows->count == capacity) {
            capacity = capacity == 0 ? 256 : capacity * 2;
            struct tdc_csv_row *grown = reallocarray(rows->rows, capacity, sizeof *grown);
            if (grown == NULL)
                return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", rows->path);
            rows->rows = grown;
        }
        rows->torn = !describe(rows, &reader, &rows->rows[rows->count]);
        if (rows->torn)
            break;
        rows->count++;
    }
    return TDC_OK;
}

static bool has_field(const struct tdc_csv_rows *rows, const struct tdc_csv_row *row,
                      const struct tdc_csv_span *wanted)
{
    struct tdc_csv_reader reader;
    tdc_csv_start(&reader, rows->bytes + row->start, row->end - row->start);
    for (bool last = false; !last;) {
        struct tdc_csv_span field = tdc_csv_next(&reader);
        if (tdc_csv_is(&field, wanted->start, (size_t)(wanted->stop - wanted->start)))
            return true;
        last = field.last;
    }
    return false;
}

/* Every field of the wanted header, which has no quotes, is somewhere in the first row. */
static bool header_fits(const struct tdc_csv_rows *rows, const char *header)
{
    struct tdc_csv_reader reader;
    tdc_csv_start(&reader, header, strlen(header));
    while (!tdc_csv_at_end(&reader)) {
        struct tdc_csv_span wanted = tdc_csv_next(&reader);
        if (!has_field(rows, &rows->rows[0], &wanted))
            return false;
    }
    return true;
}

/* The file ended while its first bytes were written: a beginning of mark and header. */
static bool is_beginning(const struct tdc_csv_rows *rows, const char *header)
{
    size_t marked = rows->size < MARK_LENGTH ? rows->size : MARK_LENGTH;
    if (rows->size == 0 || memcmp(rows->bytes, "\xef\xbb\xbf", marked) != 0)
        return rows->size == 0;
    size_t rest = rows->size - marked;
    return rest <= strlen(header) && memcmp(rows->bytes + marked, header, rest) == 0;
}

tdc_status tdc_csv_rows_read(const char *path, const char *header, bool must_exist,
                             struct tdc_csv_rows *rows, struct tdc_error *error)
{
    memset(rows, 0, sizeof *rows);
    rows->path = strdup(path);
    if (rows->path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = read_bytes(rows, must_exist, error);
    if (status == TDC_OK)
        status = split(rows, error);
    if (status != TDC_OK || rows->bytes == NULL)
        return status;
    if (rows->count == 0 && is_beginning(rows, header)) {
        rows->torn = rows->size != 0;
        return TDC_OK;
    }
    if (rows->count == 0 || !header_fits(rows, header))
        return tdc_fail(error, TDC_ERR_REFUSED, "%s: not a result file: its header differs", path);
    return TDC_OK;
}

tdc_status tdc_csv_rows_write(const struct tdc_csv_rows *rows, struct tdc_error *error)
{
    bool changed = rows->torn;
    for (size_t i = 0; i < rows->count; i++)
        changed |= rows->rows[i].dropped;
    if (!changed)
        return TDC_OK;
    struct tdc_out_file file;
    tdc_status status = tdc_out_file_open(rows->path, &file, error);
    if (status != TDC_OK)
        return status;
    struct tdc_byte_writer writer = {0};
    if (!tdc_byte_writer_start(&writer, file.fd)) {
        tdc_out_file_discard(&file);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", rows->path);
    }
    if (rows->count != 0)
        tdc_put(&writer, rows->bytes, rows->rows[0].start);
    for (size_t i = 0; i < rows->count; i++)
        if (!rows->rows[i].dropped)
            tdc_put(&writer, rows->bytes + rows->rows[i].start,
                    rows->rows[i].end - rows->rows[i].start);
    bool flushed = tdc_byte_writer_flush(&writer);
    int failure = writer.failure;
    tdc_byte_writer_free(&writer);
    if (!flushed) {
        tdc_out_file_discard(&file);
        return tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", rows->path);
    }
    return tdc_out_file_commit(&file, error);
}

void tdc_csv_rows_free(struct tdc_csv_rows *rows)
{
    free(rows->path);
    free(rows->bytes);
    free(rows->unquoted);
    free(rows->rows);
    memset(rows, 0, sizeof *rows);
}
