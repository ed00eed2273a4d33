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
#include "io/file/out_file.h"

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
    while (status == TDC_OK && rows->size < file.size) {
        ssize_t got = read(file.descriptor, rows->bytes + rows->size, file.size - rows->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", rows->path);
        if (got <= 0)
            break;
        rows->size += (size_t)got;
    }
    close(file.descriptor);
    return status;
}

/* One past the line end of the row that begins at start; 0 when the file ends before. */
static size_t row_end(const struct tdc_csv_rows *rows, size_t start)
{
    bool quoted = false;
    for (size_t i = start; i < rows->size; i++) {
        if (rows->bytes[i] == '"')
            quoted = !quoted;
        else if (rows->bytes[i] == '\n' && !quoted)
            return i + 1;
    }
    return 0;
}

static bool field_is(const char *at, const char *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - at) > length && memcmp(at, text, length) == 0 && at[length] == ',';
}

/* Copies a quoted field without its quotes; returns the comma behind it or NULL. */
static const char *unquote(struct tdc_csv_rows *rows, struct tdc_csv_row *row)
{
    const char *at = rows->bytes + row->start + 1, *end = rows->bytes + row->end;
    char *copy = rows->unquoted + rows->unquoted_size;
    row->first = copy;
    while (at < end && (*at != '"' || (at + 1 < end && at[1] == '"'))) {
        at += *at == '"';
        *copy++ = *at++;
    }
    row->first_length = (size_t)(copy - row->first);
    rows->unquoted_size += row->first_length;
    return memchr(at, ',', (size_t)(end - at));
}

static void describe(struct tdc_csv_rows *rows, struct tdc_csv_row *row)
{
    row->first = rows->bytes + row->start;
    const char *end = rows->bytes + row->end;
    const char *comma = memchr(row->first, ',', row->end - row->start);
    row->first_length = (size_t)((comma != NULL ? comma : end) - row->first);
    if (row->first[0] == '"')
        comma = unquote(rows, row);
    for (int field = 0; comma != NULL && field < 2; field++) {
        row->verdict |= field_is(comma + 1, end, "pass") || field_is(comma + 1, end, "error") ||
                        field_is(comma + 1, end, "Warning");
        comma = memchr(comma + 1, ',', (size_t)(end - comma - 1));
    }
}

static tdc_status split(struct tdc_csv_rows *rows, struct tdc_error *error)
{
    size_t capacity = 0;
    size_t start =
        rows->size >= MARK_LENGTH && memcmp(rows->bytes, "\xef\xbb\xbf", 3) == 0 ? MARK_LENGTH : 0;
    while (start < rows->size) {
        size_t end = row_end(rows, start);
        rows->torn = end == 0;
        if (rows->torn)
            break;
        if (rows->count == capacity) {
            capacity = capacity == 0 ? 256 : capacity * 2;
            struct tdc_csv_row *grown = reallocarray(rows->rows, capacity, sizeof *grown);
            if (grown == NULL)
                return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", rows->path);
            rows->rows = grown;
        }
        struct tdc_csv_row *row = &rows->rows[rows->count++];
        *row = (struct tdc_csv_row){.start = start, .end = end};
        describe(rows, row);
        start = end;
    }
    return TDC_OK;
}

/* Every field of the wanted header is somewhere in the first row. */
static bool header_fits(const struct tdc_csv_rows *rows, const char *header)
{
    const char *line = rows->bytes + rows->rows[0].start;
    size_t length = rows->rows[0].end - rows->rows[0].start;
    while (*header != '\0') {
        size_t field = strcspn(header, ",\r\n");
        bool found = false;
        for (size_t at = 0; !found && at + field <= length;) {
            const char *comma = memchr(line + at, ',', length - at);
            size_t end = comma != NULL ? (size_t)(comma - line) : length;
            size_t width = end - at;
            while (comma == NULL && width > 0 && strchr("\r\n", line[at + width - 1]) != NULL)
                width--;
            found = width == field && memcmp(line + at, header, field) == 0;
            at = end + 1;
        }
        if (!found)
            return false;
        header += field;
        header += strspn(header, ",\r\n");
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
