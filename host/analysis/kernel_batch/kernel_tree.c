#include "host/analysis/kernel_batch/kernel_tree.h"

#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

/* Folders in a folder, or its .npy files, sorted. */
static tdc_status list(const char *path, bool folders, struct tdc_listing *names,
                       struct tdc_error *error)
{
    int number = tdc_storage_list(path, names);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, number, "%s", path);
    tdc_status status = TDC_OK;
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        char *name = names->names[i];
        char *below = name[0] != '.' ? tdc_path_join(path, name) : NULL;
        if (below == NULL && name[0] != '.')
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory for names", path);
        bool wanted = below != NULL && (folders ? tdc_is_folder(below)
                                                : tdc_ends_in(name, ".npy") && tdc_is_file(below));
        free(below);
        if (wanted)
            names->names[kept++] = name;
        else
            free(name);
    }
    names->count = kept;
    tdc_listing_sort(names);
    return status;
}

/* ---- levels ---------------------------------------------------------------------------------- */

struct walking {
    const char *roots[2];
    const struct tdc_options *options;
    struct tdc_kernel_tree *tree;
};

/* Both sides of one level: the paths below the roots, and what is in them. */
struct level {
    const char *places[2];
    struct tdc_listing names[2];
};

static tdc_status list_level(const struct walking *walking, struct level *level, bool folders,
                             struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (int side = 0; side < 2 && status == TDC_OK; side++) {
        char *path = tdc_path_join(walking->roots[side], level->places[side]);
        status = path != NULL ? list(path, folders, &level->names[side], error)
                              : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
        free(path);
    }
    return status;
}

static void free_level(struct level *level)
{
    tdc_listing_free(&level->names[0]);
    tdc_listing_free(&level->names[1]);
}

/* How many face each other; the others are told. */
static size_t common_count(const struct walking *walking, const struct level *level)
{
    size_t counts[] = {level->names[0].count, level->names[1].count};
    size_t common = counts[0] < counts[1] ? counts[0] : counts[1];
    for (int side = 0; side < 2; side++) {
        if (counts[side] == common)
            continue;
        walking->tree->unpaired += counts[side] - common;
        tdc_analysis_say(walking->options, TDC_MESSAGE_WARNING,
                         "%s/%s: %zu of its %zu entries have no partner (first: %s)",
                         walking->roots[side], level->places[side], counts[side] - common,
                         counts[side], level->names[side].names[common]);
    }
    return common;
}

static bool add_pair(struct tdc_kernel_tree *tree, const struct level *level, size_t index)
{
    if (tree->count == tree->capacity) {
        size_t more = tree->capacity != 0 ? 2 * tree->capacity : 64;
        struct tdc_kernel_pair *grown = realloc(tree->pairs, more * sizeof *grown);
        if (grown == NULL)
            return false;
        tree->pairs = grown;
        tree->capacity = more;
    }
    struct tdc_kernel_pair *pair = &tree->pairs[tree->count++];
    pair->npu = tdc_path_join(level->places[0], level->names[0].names[index]);
    pair->bench = tdc_path_join(level->places[1], level->names[1].names[index]);
    return pair->npu != NULL && pair->bench != NULL;
}

static tdc_status walk_files(struct walking *walking, const char *npu, const char *bench,
                             struct tdc_error *error)
{
    struct level level = {.places = {npu, bench}};
    tdc_status status = list_level(walking, &level, false, error);
    size_t count = status == TDC_OK ? common_count(walking, &level) : 0;
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        if (!add_pair(walking->tree, &level, i))
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for pairs");
    free_level(&level);
    return status;
}

static tdc_status walk_times(struct walking *walking, const char *operation,
                             struct tdc_error *error)
{
    struct level level = {.places = {operation, operation}};
    tdc_status status = list_level(walking, &level, true, error);
    size_t count = status == TDC_OK ? common_count(walking, &level) : 0;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        char *npu = tdc_path_join(operation, level.names[0].names[i]);
        char *bench = tdc_path_join(operation, level.names[1].names[i]);
        status = npu != NULL && bench != NULL
                     ? walk_files(walking, npu, bench, error)
                     : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
        free(npu);
        free(bench);
    }
    free_level(&level);
    return status;
}

/* The first name that one side alone has; NULL: none. */
static const char *stranger_in(const struct tdc_listing *one, const struct tdc_listing *other)
{
    for (size_t i = 0; i < one->count; i++)
        if (i >= other->count || strcmp(one->names[i], other->names[i]) != 0)
            return one->names[i];
    return NULL;
}

tdc_status tdc_kernel_tree_walk(const char *npu, const char *bench,
                                const struct tdc_options *options, struct tdc_kernel_tree *tree,
                                struct tdc_error *error)
{
    *tree = (struct tdc_kernel_tree){0};
    struct walking walking = {.roots = {npu, bench}, .options = options, .tree = tree};
    struct level level = {0};
    tdc_status status = list(npu, true, &level.names[0], error);
    if (status == TDC_OK)
        status = list(bench, true, &level.names[1], error);
    const char *stranger = status == TDC_OK ? stranger_in(&level.names[0], &level.names[1]) : NULL;
    const char *where = npu;
    if (status == TDC_OK && stranger == NULL) {
        stranger = stranger_in(&level.names[1], &level.names[0]);
        where = bench;
    }
    if (stranger != NULL)
        status = tdc_fail(error, TDC_ERR_MISMATCH,
                          "the operators of the two are not the same: %s "
                          "is in %s alone, or not in the same place",
                          stranger, where);
    for (size_t i = 0; i < level.names[0].count && status == TDC_OK; i++)
        status = walk_times(&walking, level.names[0].names[i], error);
    tree->operators = level.names[0].count;
    free_level(&level);
    if (status == TDC_OK && tree->count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: no OPERATOR/TIME/*.npy that both sides have",
                          npu);
    return status;
}

void tdc_kernel_tree_free(struct tdc_kernel_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        free(tree->pairs[i].npu);
        free(tree->pairs[i].bench);
    }
    free(tree->pairs);
    *tree = (struct tdc_kernel_tree){0};
}
