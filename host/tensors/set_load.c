/* set_load.c - what a path is, and which of its files hold the tensors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tensors/tensor_set.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

#define SET_LIMIT  ((size_t)64 << 30) /* or what the process may use */
#define NAME_LIMIT ((size_t)1 << 20)  /* names of one folder */

static bool has(const char *folder, const char *name)
{
    char path[4400];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           tdc_is_there(path);
}

/* ---- names of a folder ----------------------------------------------------------------------- */

/* In order of their bytes, without hidden ones. */
static tdc_status names_read(const char *folder, struct tdc_listing *names, struct tdc_error *error)
{
    int number = tdc_storage_list(folder, names);
    if (number != 0)
        return tdc_fail_errno(error, number == ENOENT ? TDC_ERR_NOT_FOUND : TDC_ERR_READ, number,
                              "%s", folder);
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (names->names[i][0] == '.')
            free(names->names[i]);
        else
            names->names[kept++] = names->names[i];
    }
    names->count = kept;
    tdc_listing_sort(names);
    if (kept <= NAME_LIMIT)
        return TDC_OK;
    tdc_listing_free(names);
    return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: more than %zu names", folder, NAME_LIMIT);
}

/* "rank7" is 7 of "rank"; -1 for other names. */
static long numbered(const char *name, const char *word)
{
    size_t length = strlen(word);
    const char *digits = name + length;
    if (strncmp(name, word, length) != 0 || *digits == '\0' || strlen(digits) > 6 ||
        digits[strspn(digits, "0123456789")] != '\0')
        return -1;
    return strtol(digits, NULL, 10);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static bool has_json(const char *folder)
{
    return has(folder, "dump.json") || has(folder, "debug.json");
}

/* NOLINTNEXTLINE(misc-no-recursion): two levels */
static bool holds_dump(const char *folder, int levels)
{
    struct tdc_listing names;
    struct tdc_error ignored;
    if (has_json(folder))
        return true;
    if (levels == 0 || names_read(folder, &names, &ignored) != TDC_OK)
        return false;
    bool found = false;
    for (size_t i = 0; i < names.count && !found; i++) {
        char path[4400];
        bool level =
            numbered(names.names[i], "rank") >= 0 || numbered(names.names[i], "step") >= 0 ||
            strcmp(names.names[i], "rank") == 0 || strncmp(names.names[i], "proc", 4) == 0 ||
            strcmp(names.names[i], "graph") == 0 || strcmp(names.names[i], "pynative") == 0;
        if (level &&
            snprintf(path, sizeof path, "%s/%s", folder, names.names[i]) < (int)sizeof path)
            found = holds_dump(path, levels - 1);
    }
    tdc_listing_free(&names);
    return found;
}

bool tdc_path_holds_dump(const char *path)
{
    if (!tdc_is_folder(path))
        return tdc_ends_in(path, ".json") && !tdc_ends_in(path, ".index.json");
    return holds_dump(path, 3);
}

/* ---- folders --------------------------------------------------------------------------------- */

static tdc_status take_all(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                           const struct tdc_listing *names, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < names->count && status == TDC_OK; i++) {
        if (tdc_list_kind_of(names->names[i]) == TDC_LIST_BY_SUFFIX)
            continue;
        const char *name = tdc_set_text(set, "", names->names[i]);
        status = name != NULL ? tdc_set_take_file(set, place, name, false, NULL, error)
                              : tdc_set_no_memory(set, error);
    }
    return status;
}

static tdc_status take_folder(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                              struct tdc_error *error)
{
    static const char *const indices[] = {"model.safetensors.index.json",
                                          "pytorch_model.bin.index.json"};
    const char *folder = place->folder[0] != '\0' ? tdc_set_path(set, place->folder) : set->folder;
    if (folder == NULL)
        return tdc_set_no_memory(set, error);
    if (has(folder, ".metadata"))
        return tdc_set_distributed(set, place, error);
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        if (has(folder, indices[i]))
            return tdc_set_index(set, place, indices[i], error);
    if (folder == set->folder && tdc_is_sglang(folder))
        return tdc_set_sglang(set, error);
    struct tdc_listing names;
    tdc_status status = names_read(folder, &names, error);
    if (status == TDC_OK)
        status = take_all(set, place, &names, error);
    tdc_listing_free(&names);
    return status;
}

struct rank_folder {
    long number;
    const char *name;
};

static int by_number(const void *a, const void *b)
{
    const struct rank_folder *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* rankN/ with a checkpoint each; *found is false when there is no such folder. */
static tdc_status take_ranks(struct tdc_tensor_set *set, bool *found, struct tdc_error *error)
{
    struct tdc_listing names;
    tdc_status status = names_read(set->folder, &names, error);
    struct rank_folder *ranks = calloc(names.count + 1, sizeof *ranks);
    size_t count = 0;
    if (ranks == NULL) {
        tdc_listing_free(&names);
        return tdc_set_no_memory(set, error);
    }
    for (size_t i = 0; i < names.count && status == TDC_OK; i++) {
        long number = numbered(names.names[i], "rank");
        const char *path = number >= 0 ? tdc_set_path(set, names.names[i]) : NULL;
        if (path != NULL && tdc_is_folder(path))
            ranks[count++] = (struct rank_folder){number, names.names[i]};
    }
    qsort(ranks, count, sizeof *ranks, by_number);
    *found = count != 0;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        tdc_names_free(&set->names);
        tdc_names_init(&set->names);
        struct tdc_set_place place = {.folder = tdc_set_text(set, ranks[i].name, "/"),
                                      .where = tdc_set_text(set, ranks[i].name, ""),
                                      .rank = (uint32_t)ranks[i].number};
        status = place.folder != NULL && place.where != NULL ? take_folder(set, &place, error)
                                                             : tdc_set_no_memory(set, error);
    }
    set->ranks = count != 0 ? (uint32_t)count : 1;
    free(ranks);
    tdc_listing_free(&names);
    return status;
}

static tdc_status load_folder(struct tdc_tensor_set *set, struct tdc_error *error)
{
    const struct tdc_set_place place = {.folder = ""};
    bool ranked = false;
    tdc_status status = take_ranks(set, &ranked, error);
    if (status != TDC_OK || ranked)
        return status;
    if (tdc_is_megatron(set->folder))
        return tdc_set_megatron(set, error);
    return take_folder(set, &place, error);
}

/* ---- files ----------------------------------------------------------------------------------- */

static tdc_status load_file(struct tdc_tensor_set *set, struct tdc_error *error)
{
    const struct tdc_set_place place = {.folder = ""};
    const char *slash = strrchr(set->path, '/');
    const char *name = slash != NULL ? slash + 1 : set->path;
    set->folder = slash == NULL ? "."
                  : slash == set->path
                      ? ""
                      : tdc_arena_text(&set->arena, set->path, (size_t)(slash - set->path));
    if (set->folder == NULL)
        return tdc_set_no_memory(set, error);
    if (tdc_ends_in(name, ".index.json"))
        return tdc_set_index(set, &place, name, error);
    return tdc_set_take_file(set, &place, name, true, NULL, error);
}

tdc_status tdc_tensor_set_load(const char *path, const char *key, struct tdc_tensor_set *set,
                               struct tdc_error *error)
{
    *set = (struct tdc_tensor_set){.key = key, .ranks = 1};
    for (int i = 0; i < TDC_SET_AXES; i++)
        set->sizes[i] = 1;
    tdc_arena_init(&set->arena, SET_LIMIT);
    tdc_names_init(&set->names);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    set->path = tdc_arena_text(&set->arena, path, length);
    if (set->path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    set->folder = set->path;
    tdc_status status = tdc_is_folder(path) ? load_folder(set, error) : load_file(set, error);
    if (status == TDC_OK && set->count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: no tensors found", path);
    return status;
}
