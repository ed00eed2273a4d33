/*
 * What a precheck reads: a dump.json whose calls are rebuilt, drawn, computed and judged; the two
 * files of a run to go on with; the details files of api_precision_compare. The first byte says
 * which. All must be accepted or refused in peace, with a reason.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/precheck/files/csv_rows.h"
#include "host/precheck/calls/filter.h"
#include "host/precheck/run/call_outcome.h"
#include "host/precheck/files/row_text.h"
#include "io/table/text_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A call's memory bounds its tensors and with them the time it takes. */
#define CALL_MEMORY ((size_t)2 << 20)
#define MOST_CALLS  20

static void require(bool fact)
{
    if (!fact)
        abort();
}

static int fresh_file(const uint8_t *data, size_t size, char path[64])
{
    int fd = memfd_create("precheck", MFD_CLOEXEC);
    require(fd >= 0);
    require(size == 0 || write(fd, data, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void check_found(const struct tdc_call_outcome *found)
{
    const char *details = tdc_text_get(&found->details), *result = tdc_text_get(&found->result);
    size_t length = strlen(details);
    require(length == 0 || (length > 2 && strcmp(details + length - 2, "\r\n") == 0));
    length = strlen(result);
    require(length == 0 || (length > 2 && strcmp(result + length - 2, "\r\n") == 0));
    for (int d = 0; d < TDC_DIRECTIONS; d++)
        require(found->statuses[d] != TDC_CHECK_SKIP || found->reasons[d].text[0] != '\0');
    require(found->failed_slots <= found->slots);
}

static void check_calls(const struct tdc_calls *calls, const struct tdc_precheck_options *options)
{
    struct tdc_checker checker;
    require(tdc_checker_start(&checker, calls, options, CALL_MEMORY));
    for (size_t i = 0; i < calls->count && i < MOST_CALLS; i++) {
        struct tdc_call_check check;
        struct tdc_call_outcome found;
        tdc_call_outcome_init(&found);
        tdc_check_call(&checker, &calls->calls[i], &check);
        tdc_call_outcome_take(&found, &check);
        check_found(&found);
        tdc_call_check_end(&check);
        tdc_call_outcome_free(&found);
    }
    tdc_checker_end(&checker);
}

static void fuzz_dump(const char *path, bool extended, bool pytorch_standard)
{
    struct tdc_precheck_options options;
    struct tdc_calls calls;
    struct tdc_error error = {0};
    tdc_precheck_options_init(&options, sizeof options,
                              extended ? TDC_PROFILE_EXTENDED : TDC_PROFILE_COMPAT);
    if (pytorch_standard)
        options.standard = TDC_STANDARD_PYTORCH;
    struct tdc_calls_rules rules = {true, NULL, NULL};
    tdc_status status = tdc_calls_load(path, &rules, &calls, &error);
    if (status == TDC_OK) {
        check_calls(&calls, &options);
        size_t before = calls.count;
        status = tdc_filter_repeated(&calls, &error);
        require(calls.count <= before);
    }
    require(status == TDC_OK || error.message[0] != '\0');
    tdc_calls_free(&calls);
}

/* ---- files of an earlier run ------------------------------------------------------------------
 */

static void fuzz_rows(const char *path, const char *header)
{
    struct tdc_csv_rows rows;
    struct tdc_error error = {0};
    tdc_status status = tdc_csv_rows_read(path, header, true, &rows, &error);
    require(status == TDC_OK || error.message[0] != '\0');
    for (size_t i = 0; status == TDC_OK && i < rows.count; i++) {
        const struct tdc_csv_row *row = &rows.rows[i];
        require(row->start < row->end && row->end <= rows.size);
        require(i == 0 || row->start == rows.rows[i - 1].end);
        require(row->first_length <= row->end - row->start);
        char *name = malloc(row->first_length + 1);
        require(name != NULL);
        memcpy(name, row->first, row->first_length); /* readable to its end */
        free(name);
    }
    tdc_csv_rows_free(&rows);
}

/* ---- details to compare -----------------------------------------------------------------------
 */

static void fuzz_table(const char *path, size_t size)
{
    struct tdc_text_table table;
    struct tdc_error error = {0};
    tdc_status status = tdc_text_table_from_csv(path, &table, &error);
    require(status == TDC_OK || error.message[0] != '\0');
    for (size_t i = 0; status == TDC_OK && i < table.count; i++) {
        const struct tdc_text_row *line = &table.rows[i];
        for (size_t k = 0; k < line->count; k++)
            require(strlen(tdc_text_cell(line, k)) <= size);
        require(tdc_text_cell(line, line->count)[0] == '\0');
    }
    tdc_text_table_free(&table);
}

static char folder[64]; /* of what a comparison writes; lasts as long as the process */

static void empty_folder(void)
{
    DIR *open = opendir(folder);
    require(open != NULL);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.')
            require(unlinkat(dirfd(open), entry->d_name, 0) == 0);
    closedir(open);
}

static void remove_folder(void)
{
    rmdir(folder);
}

static void fuzz_comparison(const char *path)
{
    if (folder[0] == '\0') {
        bool memory = access("/dev/shm", W_OK) == 0;
        snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", memory ? "/dev/shm" : "/tmp");
        require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    }
    struct tdc_error error = {0};
    static const tdc_rules_id rules[] = {TDC_RULES_COMPAT, TDC_RULES_COMPAT26};
    for (int i = 0; i < 2; i++) {
        tdc_status status = tdc_precision_compare(path, path, folder, rules[i], NULL, NULL, &error);
        require(status == TDC_OK || error.message[0] != '\0');
        empty_folder();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char path[64];
    int fd = fresh_file(data + 1, size - 1, path);
    switch (data[0]) {
    case 'd':
    case 'e':
    case 's':
        fuzz_dump(path, data[0] == 'e', data[0] == 's');
        break;
    case 'r':
        fuzz_rows(path, tdc_result_header);
        fuzz_rows(path, tdc_details_header);
        break;
    default:
        fuzz_table(path, size);
        fuzz_comparison(path);
    }
    close(fd);
    return 0;
}
