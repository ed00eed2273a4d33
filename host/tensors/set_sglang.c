/*
 * set_sglang.c - a folder of SGLang's dumper: files key=value___key=value.pt, each with a value and
 * what it says of itself (docs/diff.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tensors/tensor_set.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/storage_calls.h"
#include "io/tensor/pickle/saved_state.h"

#define FILE_LIMIT ((size_t)1 << 20)
#define AXIS_LIMIT ((size_t)64)
#define NAME_LIMIT ((size_t)4096)

static const char between[] = "___";

/* ---- names of files -------------------------------------------------------------------------- */

struct dumped {
    const char *file;
    int64_t step, rank, index;
};

/* The next key and value of a name; false at its end. */
struct tag {
    const char *key, *value;
    size_t key_length, value_length;
};

static bool next_tag(const char **at, struct tag *tag)
{
    while (**at != '\0') {
        const char *start = *at, *end = strstr(start, between);
        size_t length = end != NULL ? (size_t)(end - start) : strlen(start) - strlen(".pt");
        const char *equals = memchr(start, '=', length);
        *at = end != NULL ? end + strlen(between) : start + strlen(start);
        if (equals == NULL)
            continue;
        *tag = (struct tag){.key = start,
                            .value = equals + 1,
                            .key_length = (size_t)(equals - start),
                            .value_length = length - (size_t)(equals - start) - 1};
        return true;
    }
    return false;
}

static bool is_key(const struct tag *tag, const char *key)
{
    return tag->key_length == strlen(key) && memcmp(tag->key, key, tag->key_length) == 0;
}

/* Digits alone; false for anything else. */
static bool number_of(const struct tag *tag, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < tag->value_length; i++) {
        if (tag->value[i] < '0' || tag->value[i] > '9' || i >= 15)
            return false;
        *number = *number * 10 + (tag->value[i] - '0');
    }
    return tag->value_length != 0;
}

/* Whether it is a file of the dumper: it has a step and a rank. */
static bool read_name(const char *file, struct dumped *dumped)
{
    bool step = false, rank = false;
    struct tag tag;
    *dumped = (struct dumped){.file = file};
    if (!tdc_ends_in(file, ".pt"))
        return false;
    for (const char *at = file; next_tag(&at, &tag);) {
        if (is_key(&tag, "step"))
            step = number_of(&tag, &dumped->step);
        else if (is_key(&tag, "rank"))
            rank = number_of(&tag, &dumped->rank) && dumped->rank < UINT32_MAX;
        else if (is_key(&tag, "dump_index"))
            number_of(&tag, &dumped->index);
    }
    return step && rank;
}

bool tdc_is_sglang(const char *folder)
{
    struct tdc_listing listing;
    struct dumped dumped;
    bool found = false;
    (void)tdc_storage_list(folder, &listing); /* one that cannot be read holds none */
    for (size_t i = 0; i < listing.count && !found; i++)
        found = strncmp(listing.names[i], "step=", 5) == 0 && read_name(listing.names[i], &dumped);
    tdc_listing_free(&listing);
    return found;
}

bool tdc_path_is_sglang(const char *path)
{
    return tdc_is_sglang(path);
}

static bool put(char *name, size_t *length, const char *text, size_t count)
{
    if (count >= NAME_LIMIT - *length)
        return false;
    memcpy(name + *length, text, count);
    *length += count;
    name[*length] = '\0';
    return true;
}

/* The name, then every tag of its own; `below` is the key inside a value that is a dict. */
static const char *record_name(struct tdc_tensor_set *set, const char *file, const char *below)
{
    static const char *const others[] = {"step", "rank", "dump_index", "name", "recompute_status",
                                         "ranks"};
    char name[NAME_LIMIT] = "";
    size_t length = 0;
    struct tag tag;
    bool fits = true;
    for (const char *at = file; next_tag(&at, &tag);)
        if (is_key(&tag, "name"))
            fits &= put(name, &length, tag.value, tag.value_length);
    for (const char *at = file; next_tag(&at, &tag) && fits;) {
        bool own = true;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            own &= !is_key(&tag, others[i]);
        if (own)
            fits = put(name, &length, ".", 1) && put(name, &length, tag.key, tag.key_length) &&
                   put(name, &length, "=", 1) && put(name, &length, tag.value, tag.value_length);
    }
    if (below[0] != '\0' && fits)
        fits = put(name, &length, ".", 1) && put(name, &length, below, strlen(below));
    return tdc_arena_text(&set->arena, name, length);
}

/* ---- what a file says of itself -------------------------------------------------------------- */

static const struct tdc_saved *number_at(const struct tdc_saved *info, const char *axis,
                                         size_t length)
{
    char key[256];
    if (length > sizeof key - 8)
        return NULL;
    snprintf(key, sizeof key, "%.*s_size", (int)length, axis);
    const struct tdc_saved *size = tdc_saved_get(info, key);
    return size != NULL && size->kind == TDC_SAVED_INTEGER && size->integer > 0 ? size : NULL;
}

/* X_rank and X_size of a dict: the mesh. */
static tdc_status take_mesh(struct tdc_tensor_set *set, const struct tdc_saved *info,
                            struct tdc_set_record *record, struct tdc_error *error)
{
    static const char ending[] = "_rank";
    const size_t behind = strlen(ending);
    if (info == NULL || info->kind != TDC_SAVED_DICT || info->count > 2 * AXIS_LIMIT)
        return TDC_OK;
    struct tdc_set_coordinate *own =
        tdc_arena_zeroed(&set->arena, info->count / 2 + 1, sizeof *own);
    if (own == NULL)
        return tdc_set_no_memory(set, error);
    for (size_t i = 0; i + 1 < info->count; i += 2) {
        const struct tdc_saved *key = info->items[i], *index = info->items[i + 1];
        if (key->kind != TDC_SAVED_TEXT || key->length <= behind ||
            index->kind != TDC_SAVED_INTEGER || index->integer < 0 ||
            memcmp(key->text + key->length - behind, ending, behind) != 0)
            continue;
        const struct tdc_saved *size = number_at(info, key->text, key->length - behind);
        const char *axis = tdc_arena_text(&set->arena, key->text, key->length - behind);
        if (axis == NULL)
            return tdc_set_no_memory(set, error);
        if (size != NULL && index->integer < size->integer)
            own[record->own_count++] = (struct tdc_set_coordinate){axis, (uint64_t)index->integer,
                                                                   (uint64_t)size->integer};
    }
    record->own = own;
    return TDC_OK;
}

static tdc_status take_meta(struct tdc_tensor_set *set, const struct tdc_saved *state,
                            struct tdc_set_record *record, struct tdc_error *error)
{
    const struct tdc_saved *meta = tdc_saved_get(state, "meta");
    const struct tdc_saved *dims = tdc_saved_get(meta, "dims");
    const struct tdc_saved *info = tdc_saved_get(meta, "sglang_parallel_info");
    if (info == NULL || info->kind != TDC_SAVED_DICT || info->count == 0)
        info = tdc_saved_get(meta, "megatron_parallel_info");
    if (dims != NULL && dims->kind == TDC_SAVED_TEXT && dims->length != 0) {
        record->dims = tdc_arena_text(&set->arena, dims->text, dims->length);
        if (record->dims == NULL)
            return tdc_set_no_memory(set, error);
    }
    return take_mesh(set, info, record, error);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The part of a file that is the tensor. Earlier dumpers saved it bare. */
static tdc_status open_value(struct tdc_tensor_set *set, const char *file,
                             struct tdc_open_file **opened, struct tdc_error *error)
{
    const char *key = set->key;
    set->key = key != NULL ? key : "value";
    tdc_status status = tdc_set_open(set, file, opened, error);
    set->key = key;
    if (status == TDC_ERR_NOT_FOUND && key == NULL)
        status = tdc_set_open(set, file, opened, error);
    return status;
}

static const char *where_of(struct tdc_tensor_set *set, const struct dumped *dumped)
{
    char text[64];
    int length = set->several_steps
                     ? snprintf(text, sizeof text, "step%lld/rank%lld", (long long)dumped->step,
                                (long long)dumped->rank)
                     : snprintf(text, sizeof text, "rank%lld", (long long)dumped->rank);
    return tdc_arena_text(&set->arena, text, (size_t)length);
}

static tdc_status take_dumped(struct tdc_tensor_set *set, const struct dumped *dumped,
                              struct tdc_error *error)
{
    const struct tdc_set_place place = {
        .folder = "", .where = where_of(set, dumped), .rank = (uint32_t)dumped->rank};
    struct tdc_open_file *file;
    struct tdc_error why = {0};
    struct tdc_set_record *record;
    if (place.where == NULL)
        return tdc_set_no_memory(set, error);
    tdc_status status = open_value(set, dumped->file, &file, &why);
    if (status == TDC_ERR_MEMORY) {
        *error = why;
        return status;
    }
    if (status != TDC_OK) {
        status = tdc_set_add_refused(set, &place, dumped->file, record_name(set, dumped->file, ""),
                                     &why, &record, error);
        if (status == TDC_OK)
            record->step = dumped->step;
        return status;
    }
    set->skipped += file->list.count == 0; /* a number, a text: no tensor */
    for (size_t i = 0; i < file->list.count && status == TDC_OK; i++) {
        const struct tdc_listed_tensor *item = file->list.items[i];
        status =
            tdc_set_add_listed(set, &place, dumped->file,
                               record_name(set, dumped->file, item->name), item, &record, error);
        if (status == TDC_OK)
            status = take_meta(set, file->list.state, record, error);
        if (status == TDC_OK)
            record->step = dumped->step;
    }
    return status;
}

static int in_order(const void *left, const void *right)
{
    const struct dumped *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return strcmp(a->file, b->file);
}

static tdc_status list_files(struct tdc_tensor_set *set, struct dumped **list, size_t *count,
                             struct tdc_error *error)
{
    size_t room = 0;
    tdc_status status = TDC_OK;
    struct tdc_listing listing;
    int number = tdc_storage_list(set->folder, &listing);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_READ, number, "%s", set->folder);
    for (size_t i = 0; i < listing.count && status == TDC_OK; i++) {
        struct dumped dumped;
        if (!read_name(listing.names[i], &dumped))
            continue;
        if (*count == room) {
            room = room == 0 ? 256 : room * 2;
            struct dumped *grown = room <= FILE_LIMIT ? realloc(*list, room * sizeof *grown) : NULL;
            if (grown == NULL) {
                status = tdc_set_no_memory(set, error);
                break;
            }
            *list = grown;
        }
        dumped.file = tdc_set_text(set, "", listing.names[i]);
        (*list)[(*count)++] = dumped;
        if (dumped.file == NULL)
            status = tdc_set_no_memory(set, error);
    }
    tdc_listing_free(&listing);
    return status;
}

tdc_status tdc_set_sglang(struct tdc_tensor_set *set, struct tdc_error *error)
{
    struct dumped *list = NULL;
    size_t count = 0;
    tdc_status status = list_files(set, &list, &count, error);
    if (status == TDC_OK && count != 0)
        qsort(list, count, sizeof *list, in_order);
    set->dumped = true;
    set->several_steps = count != 0 && list[0].step != list[count - 1].step;
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        status = take_dumped(set, &list[i], error);
    free(list);
    return status;
}
