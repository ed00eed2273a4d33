/* result_files.c - the results of the last run in a folder. */
#include <stdlib.h>
#include <string.h>

#include "host/cli/show/show.h"
#include "host/terminal/nearest_path.h"
#include "io/base/error.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

/* Formats that know most come first. */
static const char *const endings[] = {".json", ".jsonl", ".xlsx", ".csv"};
#define ENDINGS (sizeof endings / sizeof *endings)

/* compare_result_rank0_20260102030405.xlsx: length of the part before the ending, 0 for others. */
static size_t stem_of(const char *name, size_t *ending)
{
    static const char *const starts[] = {"compare_result", "debug_compare_result"};
    bool ours = false;
    for (size_t i = 0; i < 2; i++)
        ours |= strncmp(name, starts[i], strlen(starts[i])) == 0;
    for (*ending = 0; *ending < ENDINGS && ours; ++*ending) {
        size_t length = strlen(name), tail = strlen(endings[*ending]);
        if (length > tail && strcmp(name + length - tail, endings[*ending]) == 0)
            return length - tail;
    }
    return 0;
}

/* The numbers of ranks by their value. */
static int by_version(const void *left, const void *right)
{
    return strverscmp(*(char *const *)left, *(char *const *)right);
}

static bool list_results(const char *folder, struct tdc_listing *names)
{
    int number = tdc_storage_list(folder, names);
    size_t kept = 0, ending;
    if (number != 0) {
        struct tdc_error error;
        tdc_fail_errno(&error, TDC_ERR_READ, number, "%s", folder);
        tdc_complain("%s", error.message);
    }
    for (size_t i = 0; i < names->count; i++) {
        if (stem_of(names->names[i], &ending) != 0)
            names->names[kept++] = names->names[i];
        else
            free(names->names[i]);
    }
    names->count = kept;
    if (kept != 0)
        qsort(names->names, kept, sizeof *names->names, by_version);
    return number == 0;
}

/* The digits at the end of the stem: the moment of the run. */
static const char *stamp_of(const char *name, size_t stem)
{
    size_t digits = 0;
    while (digits < stem && name[stem - digits - 1] >= '0' && name[stem - digits - 1] <= '9')
        digits++;
    return digits == 14 ? name + stem - 14 : "00000000000000";
}

static bool add(struct tdc_result_files *files, const char *folder, const char *name)
{
    char **paths = realloc(files->paths, (files->count + 1) * sizeof *paths);
    if (paths != NULL)
        files->paths = paths;
    if (paths == NULL || asprintf(&paths[files->count], "%s/%s", folder, name) < 0) {
        tdc_complain("out of memory");
        return false;
    }
    files->count++;
    return true;
}

/* Another file of the same stem that knows more. */
static bool is_second(const struct tdc_listing *names, const char *which)
{
    size_t ending, other;
    size_t stem = stem_of(which, &ending);
    for (size_t i = 0; i < names->count; i++)
        if (stem_of(names->names[i], &other) == stem && other < ending &&
            memcmp(names->names[i], which, stem) == 0)
            return true;
    return false;
}

static bool take_folder(const char *folder, struct tdc_result_files *files)
{
    struct tdc_listing names;
    if (!list_results(folder, &names))
        return false;
    const char *last = "";
    size_t ending;
    bool taken = true;
    for (size_t i = 0; i < names.count; i++) {
        const char *stamp = stamp_of(names.names[i], stem_of(names.names[i], &ending));
        if (strncmp(stamp, last, 14) > 0)
            last = stamp;
    }
    for (size_t i = 0; i < names.count && taken; i++) {
        const char *stamp = stamp_of(names.names[i], stem_of(names.names[i], &ending));
        if (strncmp(stamp, last, 14) == 0 && !is_second(&names, names.names[i]))
            taken = add(files, folder, names.names[i]);
    }
    tdc_listing_free(&names);
    if (taken && files->count == 0) {
        tdc_complain("%s: no compare_result_*.xlsx, .csv or .json in it", folder);
        return false;
    }
    return taken;
}

bool tdc_result_files_find(const char *path, struct tdc_result_files *files)
{
    *files = (struct tdc_result_files){NULL, 0};
    if (!tdc_is_there(path)) {
        char *meant = tdc_nearest_path(path);
        tdc_complain("%s: there is no such result%s%s%s", path,
                     meant != NULL ? "; did you mean " : "", meant != NULL ? meant : "",
                     meant != NULL ? "?" : "");
        free(meant);
        return false;
    }
    if (tdc_is_folder(path))
        return take_folder(path, files);
    files->paths = malloc(sizeof *files->paths);
    if (files->paths != NULL)
        files->paths[0] = strdup(path);
    if (files->paths == NULL || files->paths[0] == NULL) {
        tdc_complain("out of memory");
        return false;
    }
    files->count = 1;
    return true;
}

void tdc_result_files_free(struct tdc_result_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
}
