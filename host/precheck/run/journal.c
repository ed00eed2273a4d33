#include "host/precheck/run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/precheck/files/csv_rows.h"
#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/file/retry.h"
#include "io/storage/looking.h"

#define NAMES_LIMIT  ((size_t)4 << 30)
#define ROWS_LIMIT   ((size_t)4 << 30)
#define WAITING_MOST ((size_t)1 << 20) /* bytes of details that wait to be written */

static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */

static void clear(struct tdc_journal *journal, const char *result_header,
                  const char *details_header)
{
    memset(journal, 0, sizeof *journal);
    journal->result = journal->details = journal->lock = -1;
    journal->result_header = result_header;
    journal->details_header = details_header;
    tdc_arena_init(&journal->arena, NAMES_LIMIT);
    tdc_names_init(&journal->done);
    tdc_text_init(&journal->result_rows, ROWS_LIMIT);
    tdc_text_init(&journal->details_rows, ROWS_LIMIT);
}

void tdc_journal_close(struct tdc_journal *journal)
{
    if (journal->result >= 0)
        close(journal->result);
    if (journal->details >= 0)
        close(journal->details);
    if (journal->lock >= 0)
        close(journal->lock);
    tdc_stamp_free(journal->stamp);
    free(journal->result_path);
    free(journal->details_path);
    tdc_names_free(&journal->done);
    tdc_text_free(&journal->result_rows);
    tdc_text_free(&journal->details_rows);
    tdc_arena_free(&journal->arena);
    memset(journal, 0, sizeof *journal);
    journal->result = journal->details = journal->lock = -1;
}

/* ---- new files ------------------------------------------------------------------------------- */

static char *file_path(const char *folder, const char *kind, const char *stamp, const char *ending)
{
    size_t length = strlen(folder);
    const char *slash = length != 0 && folder[length - 1] == '/' ? "" : "/";
    char *path;
    if (asprintf(&path, "%s%saccuracy_checking_%s_%s.%s", folder, slash, kind, stamp, ending) < 0)
        return NULL;
    return path;
}

/* Names both files; false when out of memory. *taken: an earlier run has used one of the names. */
static bool name_files(struct tdc_journal *journal, const char *folder, bool *taken)
{
    const char *stamp = tdc_stamp_text(journal->stamp);
    free(journal->result_path);
    free(journal->details_path);
    journal->result_path = file_path(folder, "result", stamp, "csv");
    journal->details_path = file_path(folder, "details", stamp, "csv");
    char *json = file_path(folder, "details", stamp, "json");
    bool named = journal->result_path != NULL && journal->details_path != NULL && json != NULL;
    *taken = named && (tdc_is_taken(journal->result_path) || tdc_is_taken(journal->details_path) ||
                       tdc_is_taken(json));
    free(json);
    return named;
}

tdc_status tdc_journal_start(struct tdc_journal *journal, const char *folder,
                             const char *result_header, const char *details_header,
                             struct tdc_error *error)
{
    clear(journal, result_header, details_header);
    tdc_status status = tdc_stamp_new(folder, &journal->stamp, error);
    for (bool taken = true; status == TDC_OK && taken;) {
        if (!name_files(journal, folder, &taken))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (taken)
            status = tdc_stamp_next(journal->stamp, error);
    }
    return status;
}

static tdc_status write_all(int fd, const char *path, const char *data, size_t length,
                            struct tdc_error *error)
{
    int failure = tdc_write_fully(fd, data, length);
    return failure == 0 ? TDC_OK : tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", path);
}

/* Where the file system has no locks, there is none. */
static tdc_status lock_file(int fd, const char *path, struct tdc_error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return TDC_OK;
    return tdc_fail(error, TDC_ERR_REFUSED, "%s: another run is writing this file", path);
}

/* Opens for appending; writes the header if the file has no content. */
static tdc_status open_file(const struct tdc_journal *journal, const char *path, const char *header,
                            int *fd, struct tdc_error *error)
{
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    if (journal->stamp != NULL)
        flags |= O_EXCL;
    *fd = TDC_RETRY(open(path, flags, 0640));
    if (*fd < 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    off_t size = lseek(*fd, 0, SEEK_END);
    if (size != 0)
        return TDC_OK;
    char line[1024];
    int length = snprintf(line, sizeof line, "%s%s", mark, header);
    return write_all(*fd, path, line, (size_t)length, error);
}

/* A new file that failed before its first row does not stay. */
static void close_unused(const struct tdc_journal *journal, int *fd, const char *path)
{
    if (*fd < 0)
        return;
    if (journal->stamp != NULL)
        unlink(path);
    close(*fd);
    *fd = -1;
}

/* The result file first: a run goes on with it, and one that is killed between the two leaves no
 * details that nothing leads to. */
static tdc_status open_files(struct tdc_journal *journal, struct tdc_error *error)
{
    tdc_status status =
        open_file(journal, journal->result_path, journal->result_header, &journal->result, error);
    if (status == TDC_OK)
        status = open_file(journal, journal->details_path, journal->details_header,
                           &journal->details, error);
    if (status == TDC_OK && journal->stamp != NULL)
        status = lock_file(journal->result, journal->result_path, error);
    return status;
}

/* Appends to both files; on failure they are as before, as far as the disk lets them. */
static tdc_status write_rows(const struct tdc_journal *journal, struct tdc_error *error)
{
    const struct tdc_text *details = &journal->details_rows, *result = &journal->result_rows;
    off_t details_before = lseek(journal->details, 0, SEEK_END);
    off_t result_before = lseek(journal->result, 0, SEEK_END);
    tdc_status status = write_all(journal->details, journal->details_path, tdc_text_get(details),
                                  details->length, error);
    if (status == TDC_OK)
        status = write_all(journal->result, journal->result_path, tdc_text_get(result),
                           result->length, error);
    if (status == TDC_OK)
        return status;
    if (result_before >= 0)
        (void)!ftruncate(journal->result, result_before);
    if (details_before >= 0)
        (void)!ftruncate(journal->details, details_before);
    return status;
}

tdc_status tdc_journal_flush(struct tdc_journal *journal, struct tdc_error *error)
{
    if (journal->result_rows.length == 0 && journal->details_rows.length == 0)
        return TDC_OK;
    tdc_status status = write_rows(journal, error);
    tdc_text_clear(&journal->result_rows);
    tdc_text_clear(&journal->details_rows);
    return status;
}

tdc_status tdc_journal_append(struct tdc_journal *journal, const char *details,
                              size_t details_length, const char *result, size_t result_length,
                              bool *first, struct tdc_error *error)
{
    *first = journal->result < 0;
    tdc_text_add(&journal->details_rows, details, details_length);
    tdc_text_add(&journal->result_rows, result, result_length);
    if (journal->details_rows.failed || journal->result_rows.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = *first ? open_files(journal, error) : TDC_OK;
    if (status == TDC_OK && (*first || journal->details_rows.length >= WAITING_MOST))
        status = tdc_journal_flush(journal, error);
    if (status != TDC_OK && *first) {
        close_unused(journal, &journal->result, journal->result_path);
        close_unused(journal, &journal->details, journal->details_path);
    }
    return status;
}

/* ---- going on -------------------------------------------------------------------------------- */

/* The base name with every "result" made "details". */
static char *details_beside(const char *result_csv)
{
    const char *slash = strrchr(result_csv, '/');
    const char *at = slash != NULL ? slash + 1 : result_csv;
    char *path = malloc(strlen(result_csv) * 2 + 1);
    if (path == NULL)
        return NULL;
    size_t used = (size_t)(at - result_csv);
    memcpy(path, result_csv, used);
    while (*at != '\0') {
        if (strncmp(at, "result", 6) == 0) {
            memcpy(path + used, "details", 7);
            used += 7;
            at += 6;
        } else {
            path[used++] = *at++;
        }
    }
    path[used] = '\0';
    return path;
}

bool tdc_journal_has(const struct tdc_journal *journal, const char *call)
{
    return tdc_names_find(&journal->done, call, strlen(call)) != TDC_NAME_NONE;
}

static tdc_status remember(struct tdc_journal *journal, const struct tdc_csv_rows *result,
                           struct tdc_error *error)
{
    for (size_t i = 1; i < result->count; i++) {
        bool fresh;
        const char *name =
            tdc_arena_text(&journal->arena, result->rows[i].first, result->rows[i].first_length);
        if (!result->rows[i].dropped &&
            (name == NULL || tdc_names_put(&journal->done, name, result->rows[i].first_length,
                                           &fresh) == TDC_NAME_NONE))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    return TDC_OK;
}

/* "Mint.add.0.forward.output.1" to the length of "Mint.add.0". */
static size_t call_length(const char *name, size_t length)
{
    for (int part = 0; part < 3; part++) {
        const char *dot = memrchr(name, '.', length);
        if (dot == NULL)
            return length;
        length = (size_t)(dot - name);
    }
    return length;
}

static void drop_unfinished(const struct tdc_journal *journal, struct tdc_csv_rows *details)
{
    for (size_t i = 1; i < details->count; i++) {
        struct tdc_csv_row *row = &details->rows[i];
        row->dropped = tdc_names_find(&journal->done, row->first,
                                      call_length(row->first, row->first_length)) == TDC_NAME_NONE;
    }
}

/* Rows of the call at the end of the details file. */
static size_t rows_at_end(const struct tdc_csv_rows *details)
{
    const struct tdc_csv_row *last = &details->rows[details->count - 1];
    size_t length = call_length(last->first, last->first_length), count = 0;
    for (size_t i = details->count; i-- > 1; count++) {
        const struct tdc_csv_row *row = &details->rows[i];
        if (call_length(row->first, row->first_length) != length ||
            memcmp(row->first, last->first, length) != 0)
            break;
    }
    return count;
}

/* Whole rows, but fewer than their call has. */
static bool ends_early(const struct tdc_csv_rows *details, tdc_rows_of_call *rows_of_call,
                       void *context)
{
    if (details->count < 2)
        return false;
    const struct tdc_csv_row *last = &details->rows[details->count - 1];
    size_t length = call_length(last->first, last->first_length), wanted = TDC_ROWS_UNKNOWN;
    char *call = malloc(length + 1);
    if (call != NULL) {
        memcpy(call, last->first, length);
        call[length] = '\0';
        wanted = rows_of_call(context, call);
    }
    free(call);
    return wanted != TDC_ROWS_UNKNOWN && rows_at_end(details) < wanted;
}

/* Calls that have details rows. */
static bool gather_calls(const struct tdc_csv_rows *details, struct tdc_name_table *seen)
{
    for (size_t i = 1; i < details->count; i++) {
        const struct tdc_csv_row *row = &details->rows[i];
        bool fresh;
        if (tdc_names_put(seen, row->first, call_length(row->first, row->first_length), &fresh) ==
            TDC_NAME_NONE)
            return false;
    }
    return true;
}

/*
 * A details file that lost its end after the result file was written: finished calls from the last
 * one with details on are done again. It shows by a torn row, by a call with a verdict but no
 * details, or by the last call having too few.
 */
static tdc_status demote_torn(struct tdc_csv_rows *result, const struct tdc_csv_rows *details,
                              bool early, struct tdc_error *error)
{
    struct tdc_name_table seen;
    tdc_names_init(&seen);
    bool gathered = gather_calls(details, &seen), torn = details->torn || early;
    size_t last_complete = 0;
    for (size_t i = 1; gathered && i < result->count; i++) {
        const struct tdc_csv_row *row = &result->rows[i];
        bool has = tdc_names_find(&seen, row->first, row->first_length) != TDC_NAME_NONE;
        if (has)
            last_complete = i;
        torn |= row->verdict && !has;
    }
    tdc_names_free(&seen);
    if (!gathered)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = last_complete != 0 ? last_complete : 1; torn && i < result->count; i++)
        result->rows[i].dropped = true;
    return TDC_OK;
}

/* Keeps other runs from a result file. Called again when the file may have been replaced: the lock
 * on the old one is held until then. A file that cannot be opened is told by who reads it. */
static tdc_status lock_result(struct tdc_journal *journal, struct tdc_error *error)
{
    struct stat held, found;
    int fd = TDC_RETRY(open(journal->result_path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd < 0)
        return TDC_OK;
    if (journal->lock >= 0 && fstat(fd, &found) == 0 && fstat(journal->lock, &held) == 0 &&
        found.st_dev == held.st_dev && found.st_ino == held.st_ino) {
        close(fd);
        return TDC_OK;
    }
    tdc_status status = lock_file(fd, journal->result_path, error);
    if (journal->lock >= 0)
        close(journal->lock);
    journal->lock = fd;
    return status;
}

static tdc_status take_up(struct tdc_journal *journal, struct tdc_csv_rows *result,
                          struct tdc_csv_rows *details, tdc_rows_of_call *rows_of_call,
                          void *context, struct tdc_error *error)
{
    tdc_status status =
        tdc_csv_rows_read(journal->result_path, journal->result_header, true, result, error);
    if (status == TDC_OK)
        status = tdc_csv_rows_read(journal->details_path, journal->details_header, false, details,
                                   error);
    if (status == TDC_OK)
        status = demote_torn(result, details, ends_early(details, rows_of_call, context), error);
    if (status == TDC_OK)
        status = remember(journal, result, error);
    if (status == TDC_OK) {
        drop_unfinished(journal, details);
        status = tdc_csv_rows_write(details, error);
    }
    return status == TDC_OK ? tdc_csv_rows_write(result, error) : status;
}

tdc_status tdc_journal_resume(struct tdc_journal *journal, const char *result_csv,
                              const char *result_header, const char *details_header,
                              tdc_rows_of_call *rows_of_call, void *context,
                              struct tdc_error *error)
{
    clear(journal, result_header, details_header);
    journal->result_path = strdup(result_csv);
    journal->details_path = details_beside(result_csv);
    if (journal->result_path == NULL || journal->details_path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    struct tdc_csv_rows result = {0}, details = {0};
    tdc_status status = lock_result(journal, error);
    if (status == TDC_OK)
        status = take_up(journal, &result, &details, rows_of_call, context, error);
    if (status == TDC_OK)
        status = lock_result(journal, error);
    tdc_csv_rows_free(&result);
    tdc_csv_rows_free(&details);
    return status;
}
