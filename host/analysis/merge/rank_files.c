#include "host/analysis/merge/rank_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/storage/storage_calls.h"

enum name_kind {
    NOT_OURS,
    SINGLE_RANK, /* of a run without ranks */
    RANK
};

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* compare_result_rank<N>_<14 digits>, with `-rank<N>` after the rank or without. */
static enum name_kind kind_of(const char *name, const char *extension, long *rank)
{
    static const char start[] = "compare_result_rank";
    if (strncmp(name, start, sizeof start - 1) != 0)
        return NOT_OURS;
    const char *at = name + sizeof start - 1, *number = at;
    size_t count = digits_at(at);
    at += count;
    if (strncmp(at, "-rank", 5) == 0) {
        at += 5;
        if (digits_at(at) != count || strncmp(at, number, count) != 0)
            return NOT_OURS;
        at += count;
    }
    if (*at != '_' || digits_at(at + 1) != 14 || strcmp(at + 15, extension) != 0 || count > 9)
        return NOT_OURS;
    *rank = strtol(number, NULL, 10);
    return count != 0 ? RANK : SINGLE_RANK;
}

static tdc_status add_file(struct tdc_rank_files *files, const char *folder, const char *name,
                           long rank, struct tdc_error *error)
{
    struct tdc_rank_file *grown = realloc(files->files, (files->count + 1) * sizeof *files->files);
    char *path = tdc_path_join(folder, name);
    if (grown != NULL)
        files->files = grown;
    if (grown == NULL || path == NULL) {
        free(path);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
    }
    files->files[files->count++] = (struct tdc_rank_file){rank, path};
    return TDC_OK;
}

static tdc_status take_name(struct tdc_rank_files *files, const char *folder, const char *name,
                            bool lenient, const struct tdc_options *options,
                            struct tdc_error *error)
{
    const char *extension = strrchr(name, '.');
    bool workbook = extension != NULL && strcmp(extension, ".xlsx") == 0;
    bool csv = extension != NULL && strcmp(extension, ".csv") == 0;
    long rank = 0;
    if (!workbook && !csv)
        return TDC_OK;
    enum name_kind kind = kind_of(name, extension, &rank);
    if (kind == RANK)
        return add_file(files, folder, name, rank, error);
    if (kind == SINGLE_RANK && workbook) {
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "Single rank compare result do not need to be merged.");
    } else if (kind == NOT_OURS && workbook && !lenient) {
        return tdc_fail(error, TDC_ERR_ARGUMENT, "Wrong compare result name: %s, please check!",
                        name);
    } else if (kind == NOT_OURS && workbook) {
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "%s: not the name of a rank's compare result, passed over", name);
    }
    return TDC_OK;
}

/* By rank; a workbook before csv, and of several of a kind the newest first. */
static int by_rank(const void *a, const void *b)
{
    const struct tdc_rank_file *x = a, *y = b;
    if (x->rank != y->rank)
        return (x->rank > y->rank) - (x->rank < y->rank);
    int kind = strcmp(strrchr(y->path, '.'), strrchr(x->path, '.'));
    return kind != 0 ? kind : strcmp(y->path, x->path);
}

static void keep_one_each(struct tdc_rank_files *files, const struct tdc_options *options)
{
    size_t count = 0;
    if (files->count != 0)
        qsort(files->files, files->count, sizeof *files->files, by_rank);
    for (size_t i = 0; i < files->count; i++) {
        struct tdc_rank_file *file = &files->files[i];
        if (count == 0 || files->files[count - 1].rank != file->rank) {
            files->files[count++] = *file;
            continue;
        }
        const struct tdc_rank_file *kept = &files->files[count - 1];
        /* both formats of one run are no second result */
        if (strcmp(strrchr(kept->path, '.'), strrchr(file->path, '.')) == 0)
            tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                             "%s: an older result of rank %ld, passed over", file->path,
                             file->rank);
        free(file->path);
    }
    files->count = count;
}

tdc_status tdc_rank_files_find(const char *folder, bool lenient, const struct tdc_options *options,
                               struct tdc_rank_files *files, struct tdc_error *error)
{
    *files = (struct tdc_rank_files){0};
    struct tdc_listing listing;
    int number = tdc_storage_list(folder, &listing);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, number, "%s", folder);
    tdc_listing_sort(&listing);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < listing.count && status == TDC_OK; i++)
        status = take_name(files, folder, listing.names[i], lenient, options, error);
    tdc_listing_free(&listing);
    keep_one_each(files, options);
    return status;
}

void tdc_rank_files_free(struct tdc_rank_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].path);
    free(files->files);
    *files = (struct tdc_rank_files){0};
}
