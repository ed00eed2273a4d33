/* tasks_strict.c - the inputs of msprobe's compare.json (docs/msprobe.md#inputs,
 * docs/msprobe.md#ranks). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/dump/dump.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static tdc_status two_files(const char *npu, const char *bench, struct tdc_tasks *list,
                            struct tdc_error *error)
{
    if (!(tdc_ends_in(npu, "dump.json") && tdc_ends_in(bench, "dump.json")) &&
        !(tdc_ends_in(npu, "debug.json") && tdc_ends_in(bench, "debug.json")))
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "Please check the json path is valid and ensure that neither npu_path nor "
                        "bench_path is None.");
    if (strcmp(base_name(npu), "dump.json") != 0 && strcmp(base_name(npu), "debug.json") != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "get_file_type failed, file_path is neither dump.json nor debug.json.");
    return tdc_tasks_add(list, npu, bench, "", "", "", error);
}

static tdc_status rank_names(const char *folder, struct tdc_names *names, struct tdc_error *error)
{
    tdc_status status = tdc_folder_names(folder, "rank", names, error);
    if (status != TDC_OK || names->stranger == NULL)
        return status;
    return tdc_fail(error, TDC_ERR_ARGUMENT,
                    "dump_dir contains '%s'. Expected 'rank'. This name is not in the format of "
                    "dump output. Please check and delete irrelevant files in %s and try again.",
                    names->stranger, folder);
}

/* Adds <npu>/<name> against <bench>/<name> if both exist. */
static tdc_status add_if_both(const char *npu, const char *bench, const char *name,
                              const char *rank, const char *folder, struct tdc_tasks *list,
                              struct tdc_error *error)
{
    char *npu_json = tdc_path_join(npu, name), *bench_json = tdc_path_join(bench, name);
    tdc_status status = TDC_OK;
    if (npu_json == NULL || bench_json == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    else if (tdc_is_file(npu_json) && tdc_is_file(bench_json))
        status = tdc_tasks_add(list, npu_json, bench_json, rank, "", folder, error);
    free(npu_json);
    free(bench_json);
    return status;
}

static tdc_status add_rank(const char *npu, const char *bench, const struct tdc_numbered *npu_rank,
                           const struct tdc_numbered *bench_rank, bool debug, const char *folder,
                           struct tdc_tasks *list, struct tdc_error *error)
{
    char *npu_folder = tdc_path_join(npu, npu_rank->name);
    char *bench_folder = tdc_path_join(bench, bench_rank->name);
    tdc_status status = TDC_OK;
    if (npu_folder == NULL || bench_folder == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK)
        status =
            add_if_both(npu_folder, bench_folder, "dump.json", npu_rank->name, folder, list, error);
    if (status == TDC_OK && debug)
        status = add_if_both(npu_folder, bench_folder, "debug.json", npu_rank->name, folder, list,
                             error);
    free(npu_folder);
    free(bench_folder);
    return status;
}

/* The first NPU rank decides: a statistics dump passes over debug.json. */
static bool first_rank_has_statistics(const char *npu, const struct tdc_names *ranks)
{
    char *folder = ranks->count != 0 ? tdc_path_join(npu, ranks->names[0].name) : NULL;
    char *json = folder != NULL ? tdc_path_join(folder, "dump.json") : NULL;
    char task[32] = "";
    if (json != NULL)
        tdc_dump_peek(json, "task", task, sizeof task);
    free(folder);
    free(json);
    return strcmp(task, "statistics") == 0;
}

static tdc_status two_folders(const char *npu, const char *bench, const char *folder,
                              struct tdc_tasks *list, struct tdc_error *error)
{
    struct tdc_names npu_ranks = {0}, bench_ranks = {0};
    tdc_status status = rank_names(npu, &npu_ranks, error);
    if (status == TDC_OK)
        status = rank_names(bench, &bench_ranks, error);
    if (status == TDC_OK && npu_ranks.count != bench_ranks.count)
        status = tdc_fail(error, TDC_ERR_ARGUMENT,
                          "The number of ranks in the two runs are different. Unable to match the "
                          "ranks. Please use another folder to compare or use compare() api and "
                          "manually match the ranks.");
    bool debug = status == TDC_OK && !first_rank_has_statistics(npu, &npu_ranks);
    for (size_t i = 0; i < npu_ranks.count && status == TDC_OK; i++)
        status = add_rank(npu, bench, &npu_ranks.names[i], &bench_ranks.names[i], debug, folder,
                          list, error);
    tdc_folder_names_free(&npu_ranks);
    tdc_folder_names_free(&bench_ranks);
    return status;
}

static tdc_status add_step(void *context, const char *npu, const char *bench, const char *folder,
                           struct tdc_error *error)
{
    return two_folders(npu, bench, folder, context, error);
}

static tdc_status find(const char *npu, const char *bench, struct tdc_tasks *list,
                       struct tdc_error *error)
{
    const char *paths[] = {npu, bench};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        int number = tdc_storage_stat(paths[i], &info);
        if (number != 0)
            return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, number, "%s", paths[i]);
    }
    tdc_status status;
    if (tdc_is_file(npu) && tdc_is_file(bench))
        status = two_files(npu, bench, list, error);
    else if (tdc_is_folder(npu) && tdc_is_folder(bench)) {
        bool mixed;
        status = tdc_mixed_steps(npu, bench, add_step, list, &mixed, error);
        if (status == TDC_OK && !mixed)
            status = two_folders(npu, bench, "", list, error);
    } else
        status = tdc_fail(error, TDC_ERR_ARGUMENT,
                          "The npu_path and bench_path need to be of the same type.");
    return status;
}

tdc_status tdc_tasks_strict(const char *npu, const char *bench, tdc_tasks **tasks,
                            struct tdc_error *error)
{
    *tasks = NULL;
    struct tdc_tasks *list = calloc(1, sizeof *list);
    if (list == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = find(npu, bench, list, error);
    if (status == TDC_OK)
        *tasks = list;
    else
        tdc_tasks_free(list);
    return status;
}
