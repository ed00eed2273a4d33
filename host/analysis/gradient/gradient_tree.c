#include "host/analysis/gradient/gradient_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"
#include "io/table/text_table.h"

/* ---- ranks and steps ------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* The number behind a prefix and before an ending; -1: none. */
static long number_in(const char *name, const char *prefix, const char *ending)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return -1;
    size_t digits = strspn(name + length, "0123456789");
    if (digits == 0 || digits > 9 || strcmp(name + length + digits, ending) != 0)
        return -1;
    return strtol(name + length, NULL, 10);
}

static bool also_there(const char *folder, const char *name)
{
    char *path = tdc_path_join(folder, name);
    bool there = path != NULL && (tdc_is_folder(path) || tdc_is_file(path));
    free(path);
    return there;
}

static tdc_status find_numbers(const char *npu, const char *bench, const char *prefix,
                               const char *ending, struct tdc_common_numbers *common,
                               struct tdc_error *error)
{
    *common = (struct tdc_common_numbers){0};
    struct tdc_listing listing;
    int failure = tdc_storage_list(npu, &listing);
    if (failure != 0)
        return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, failure, "%s", npu);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < listing.count; i++) {
        long number = number_in(listing.names[i], prefix, ending);
        if (number < 0 || !also_there(bench, listing.names[i]))
            continue;
        long *grown = realloc(common->numbers, (common->count + 1) * sizeof *grown);
        if (grown == NULL) {
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
            break;
        }
        common->numbers = grown;
        common->numbers[common->count++] = number;
    }
    tdc_listing_free(&listing);
    if (common->count != 0)
        qsort(common->numbers, common->count, sizeof *common->numbers, by_number);
    return status;
}

tdc_status tdc_common_numbers_find(const char *npu, const char *bench, const char *prefix,
                                   struct tdc_common_numbers *common, struct tdc_error *error)
{
    return find_numbers(npu, bench, prefix, "", common, error);
}

void tdc_common_numbers_free(struct tdc_common_numbers *common)
{
    free(common->numbers);
    *common = (struct tdc_common_numbers){0};
}

/* ---- parameters ------------------------------------------------------------------------------ */

static tdc_status take_names(const struct tdc_text_table *table, const char *path,
                             struct tdc_parameter_names *names, struct tdc_error *error)
{
    size_t column = tdc_text_column(table, "param_name");
    if (column == SIZE_MAX)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: no column param_name", path);
    names->names = calloc(table->count + 1, sizeof *names->names);
    for (size_t i = 1; i < table->count && names->names != NULL; i++) {
        const char *name = tdc_text_cell(&table->rows[i], column);
        if (name[0] == '\0')
            continue;
        names->names[names->count] = strdup(name);
        if (names->names[names->count++] == NULL)
            break;
    }
    if (names->names == NULL || (names->count != 0 && names->names[names->count - 1] == NULL))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    return TDC_OK;
}

tdc_status tdc_parameter_names_read(const char *npu, const char *bench,
                                    struct tdc_parameter_names *names, struct tdc_error *error)
{
    *names = (struct tdc_parameter_names){0};
    struct tdc_common_numbers steps;
    tdc_status status = find_numbers(npu, bench, "grad_summary_", ".csv", &steps, error);
    if (status == TDC_OK && steps.count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "no matched grad_summary.csv for comparison, please dump data in same "
                          "configuration");
    if (status == TDC_OK) {
        char name[64];
        struct tdc_text_table table;
        snprintf(name, sizeof name, "grad_summary_%ld.csv", steps.numbers[0]);
        char *path = tdc_path_join(npu, name);
        if (path == NULL) {
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
        } else {
            status = tdc_text_table_from_csv(path, &table, error);
            if (status == TDC_OK)
                status = take_names(&table, path, names, error);
            tdc_text_table_free(&table);
        }
        free(path);
    }
    tdc_common_numbers_free(&steps);
    return status;
}

void tdc_parameter_names_free(struct tdc_parameter_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct tdc_parameter_names){0};
}
