/* tasks_2026.c - the paths that msprobe 26 takes, and whose dumps they are. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/looking.h"

#define WORD 64 /* room for the name of a framework */

struct finding {
    struct tdc_options *options;
    struct tdc_tasks *list;
};

/* The framework a json names; none is PyTorch. `whose` is part of the warning. */
static void read_framework(const struct tdc_options *options, const char *json, const char *whose,
                           char framework[WORD])
{
    tdc_dump_peek(json, "framework", framework, WORD);
    if (framework[0] != '\0')
        return;
    strcpy(framework, "pytorch");
    tdc_find_say(options, TDC_MESSAGE_WARNING,
                 "Unable to get framework information from %sdump.json, default setting is "
                 "pytorch.",
                 whose);
}

static bool is(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static tdc_status take_frameworks(struct tdc_options *options, const char *npu, const char *bench,
                                  struct tdc_error *error)
{
    char target[WORD], golden[WORD];
    read_framework(options, npu, "target ", target);
    read_framework(options, bench, "golden ", golden);
    if (is(target, "pytorch") && is(golden, "pytorch"))
        options->framework = TDC_FRAMEWORK_PYTORCH;
    else if ((is(target, "mindspore") || is(target, "mindtorch")) &&
             (is(golden, "pytorch") || is(golden, "mindspore")))
        options->framework = TDC_FRAMEWORK_MINDSPORE;
    if (options->framework != TDC_FRAMEWORK_NONE)
        return TDC_OK;
    return tdc_fail(error, TDC_ERR_ARGUMENT,
                    "Unrecognized framework, target now is %s, golden now is %s, please check "
                    "dump.json.",
                    target, golden);
}

static tdc_status two_files(const struct finding *finding, const char *npu, const char *bench,
                            struct tdc_error *error)
{
    tdc_status status = take_frameworks(finding->options, npu, bench, error);
    if (status != TDC_OK)
        return status;
    if (!(tdc_ends_in(npu, "dump.json") && tdc_ends_in(bench, "dump.json")) &&
        !(tdc_ends_in(npu, "debug.json") && tdc_ends_in(bench, "debug.json")))
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "npu_path and bench_path must both end with dump.json or debug.json. "
                        "npu_path: %s, bench_path: %s",
                        npu, bench);
    const char *slash = strrchr(npu, '/'), *name = slash == NULL ? npu : slash + 1;
    if (!is(name, "dump.json") && !is(name, "debug.json"))
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "get_file_type failed, file_path is neither dump.json nor debug.json.");
    return tdc_tasks_add(finding->list, npu, bench, "", "", "", error);
}

/* ---- folders --------------------------------------------------------------------------------- */

/* The only process folder. */
static tdc_status find_process(const char *folder, struct tdc_names *found, struct tdc_error *error)
{
    tdc_status status = tdc_folder_names(folder, "proc", found, error);
    if (status != TDC_OK)
        return status;
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        char *path = tdc_path_join(folder, found->names[i].name);
        bool process = found->names[i].number >= 0 && path != NULL && tdc_is_folder(path);
        free(path);
        if (process)
            found->names[kept++] = found->names[i];
        else
            free(found->names[i].name);
    }
    found->count = kept;
    if (kept == 1)
        return TDC_OK;
    return tdc_fail(error, TDC_ERR_ARGUMENT,
                    "No or multiple proc directories were found in the <%s>. Expected exactly one.",
                    folder);
}

static tdc_status find_ranks(const char *npu, const char *bench, struct tdc_names *npu_ranks,
                             struct tdc_names *bench_ranks, struct tdc_error *error)
{
    tdc_status status = tdc_folder_names(npu, "rank", npu_ranks, error);
    if (status == TDC_OK)
        status = tdc_folder_names(bench, "rank", bench_ranks, error);
    if (status != TDC_OK)
        return status;
    if (npu_ranks->count != bench_ranks->count)
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "The number of ranks in the two runs are different. Unable to match the "
                        "ranks. Please use another folder to compare or use compare() api and "
                        "manually match the ranks.");
    if (npu_ranks->count != 0)
        return TDC_OK;
    tdc_folder_names_free(npu_ranks);
    tdc_folder_names_free(bench_ranks);
    *npu_ranks = *bench_ranks = (struct tdc_names){0};
    status = find_process(npu, npu_ranks, error);
    return status == TDC_OK ? find_process(bench, bench_ranks, error) : status;
}

/* folder/rank/name, allocated; NULL when out of memory. */
static char *json_of(const char *folder, const char *rank, const char *name)
{
    char *below = tdc_path_join(folder, rank);
    char *json = below != NULL ? tdc_path_join(below, name) : NULL;
    free(below);
    return json;
}

/* What the first rank of the NPU side holds decides for all; *json is NULL when it holds none. */
static tdc_status ask_first_rank(struct tdc_options *options, const char *npu, const char *rank,
                                 const char **json, struct tdc_error *error)
{
    static const char *const names[] = {"dump.json", "debug.json"};
    char *path = NULL;
    *json = NULL;
    for (size_t i = 0; i < 2; i++) {
        free(path);
        path = json_of(npu, rank, names[i]);
        if (path == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (tdc_is_file(path)) {
            *json = names[i];
            break;
        }
    }
    tdc_status status = TDC_OK;
    if (*json != NULL) {
        char framework[WORD], level[WORD];
        read_framework(options, path, "", framework);
        tdc_dump_peek(path, "level", level, sizeof level);
        *json = is(level, "debug") ? "debug.json" : "dump.json";
        options->framework = is(framework, "pytorch")     ? TDC_FRAMEWORK_PYTORCH
                             : is(framework, "mindspore") ? TDC_FRAMEWORK_MINDSPORE
                                                          : TDC_FRAMEWORK_NONE;
        if (options->framework == TDC_FRAMEWORK_NONE)
            status =
                tdc_fail(error, TDC_ERR_ARGUMENT,
                         "Unrecognized framework, now is %s, please check dump.json.", framework);
    }
    free(path);
    return status;
}

static tdc_status add_rank(const struct finding *finding, const char *npu, const char *bench,
                           const char *npu_rank, const char *bench_rank, const char *json,
                           const char *folder, struct tdc_error *error)
{
    char *npu_json = json_of(npu, npu_rank, json), *bench_json = json_of(bench, bench_rank, json);
    tdc_status status = TDC_OK;
    if (npu_json == NULL || bench_json == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    else if (tdc_is_file(npu_json) && tdc_is_file(bench_json))
        status = tdc_tasks_add(finding->list, npu_json, bench_json, npu_rank, "", folder, error);
    else
        tdc_find_say(finding->options, TDC_MESSAGE_WARNING, "%s and %s: no %s on both sides",
                     npu_rank, bench_rank, json);
    free(npu_json);
    free(bench_json);
    return status;
}

static tdc_status two_folders(void *context, const char *npu, const char *bench, const char *folder,
                              struct tdc_error *error)
{
    const struct finding *finding = context;
    struct tdc_names npu_ranks = {0}, bench_ranks = {0};
    const char *json = NULL;
    tdc_status status = find_ranks(npu, bench, &npu_ranks, &bench_ranks, error);
    if (status == TDC_OK)
        status = ask_first_rank(finding->options, npu, npu_ranks.names[0].name, &json, error);
    for (size_t i = 0; i < npu_ranks.count && status == TDC_OK && json != NULL; i++)
        status = add_rank(finding, npu, bench, npu_ranks.names[i].name, bench_ranks.names[i].name,
                          json, folder, error);
    tdc_folder_names_free(&npu_ranks);
    tdc_folder_names_free(&bench_ranks);
    return status;
}

/* ---- both ------------------------------------------------------------------------------------ */

static tdc_status find(struct finding *finding, const char *npu, const char *bench,
                       struct tdc_error *error)
{
    const char *paths[] = {npu, bench};
    for (int i = 0; i < 2; i++)
        if (!tdc_is_file(paths[i]) && !tdc_is_folder(paths[i]))
            return tdc_fail(error, TDC_ERR_NOT_FOUND, "path does not exist, please check!");
    if (tdc_is_file(npu) && tdc_is_file(bench))
        return two_files(finding, npu, bench, error);
    if (!tdc_is_folder(npu) || !tdc_is_folder(bench))
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "The target_path and golden_path need to be of the same type.");
    bool mixed;
    tdc_status status = tdc_mixed_steps(npu, bench, two_folders, finding, &mixed, error);
    return status == TDC_OK && !mixed ? two_folders(finding, npu, bench, "", error) : status;
}

tdc_status tdc_tasks_2026(const char *npu, const char *bench, struct tdc_options *options,
                          tdc_tasks **tasks, struct tdc_error *error)
{
    *tasks = NULL;
    struct tdc_tasks *list = calloc(1, sizeof *list);
    if (list == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    struct finding finding = {options, list};
    tdc_status status = find(&finding, npu, bench, error);
    if (status == TDC_OK)
        *tasks = list;
    else
        tdc_tasks_free(list);
    return status;
}
