/*
 * set_distributed.c - torch's distributed checkpoints: .metadata says which pieces of a tensor lie
 * where in which .distcp file; each piece is what torch.save writes for a tensor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tensors/tensor_set.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/tensor/pickle/saved_pickle.h"
#include "io/tensor/pickle/saved_state.h"

#define MOST_CHUNKS ((size_t)8192) /* each is held against each */

/* A file of pieces, mapped as long as the set lives; NULL data: it cannot be read. */
struct piece_file {
    const char *name; /* below the folder of the checkpoint */
    struct tdc_file_map map;
    const char *trouble;
    struct piece_file *next;
};

struct checkpoint {
    struct tdc_tensor_set *set;
    const struct tdc_set_place *place;
    const char *path; /* of .metadata */
    struct tdc_file_map map;
    struct tdc_saved *root;
    struct piece_file *files;
    struct tdc_name_table keys;     /* "name@offset,offset": numbers of `found` */
    const struct tdc_saved **found; /* where it lies */
    struct tdc_error *error;
    tdc_status status;
};

static tdc_status no_memory(const struct checkpoint *checkpoint)
{
    return tdc_set_no_memory(checkpoint->set, checkpoint->error);
}

/* ---- .metadata ------------------------------------------------------------------------------- */

static void read_pickle(void *argument)
{
    struct checkpoint *checkpoint = argument;
    struct tdc_arena *arena = &checkpoint->set->arena;
    unsigned char *copy = tdc_arena_take(arena, checkpoint->map.size);
    if (copy == NULL) {
        checkpoint->status = no_memory(checkpoint);
        return;
    }
    memcpy(copy, checkpoint->map.data, checkpoint->map.size);
    checkpoint->status = tdc_saved_pickle(copy, checkpoint->map.size, checkpoint->path, arena,
                                          &checkpoint->root, checkpoint->error);
}

static tdc_status load_metadata(struct checkpoint *checkpoint)
{
    tdc_status status = tdc_file_map_open(checkpoint->path, &checkpoint->map, checkpoint->error);
    if (status == TDC_OK && checkpoint->map.data == NULL)
        return tdc_fail(checkpoint->error, TDC_ERR_FORMAT, "%s: the file is empty",
                        checkpoint->path);
    if (status != TDC_OK)
        return status;
    status = tdc_guarded_read(read_pickle, checkpoint)
                 ? checkpoint->status
                 : tdc_fail(checkpoint->error, TDC_ERR_CHANGED,
                            "%s: the file shrank while it was read", checkpoint->path);
    tdc_file_map_close(&checkpoint->map);
    return status;
}

/* "name@4,0", in the arena. */
static const char *key_of(struct checkpoint *checkpoint, const char *name, size_t length,
                          const struct tdc_saved *offsets)
{
    size_t room = length + 2 + (offsets != NULL ? offsets->count : 0) * 22, at = length;
    char *key = tdc_arena_take(&checkpoint->set->arena, room);
    if (key == NULL)
        return NULL;
    memcpy(key, name, length);
    key[at++] = '@';
    for (size_t i = 0; offsets != NULL && offsets->kind == TDC_SAVED_LIST && i < offsets->count;
         i++)
        at += (size_t)snprintf(key + at, room - at, "%s%" PRId64, i != 0 ? "," : "",
                               offsets->items[i]->integer);
    key[at] = '\0';
    return key;
}

/* storage_data: an index (fqn, offset) and where it lies in turn. */
static tdc_status index_storage(struct checkpoint *checkpoint)
{
    const struct tdc_saved *storage = tdc_saved_get(checkpoint->root, "storage_data");
    if (storage == NULL || storage->kind != TDC_SAVED_DICT)
        return tdc_fail(checkpoint->error, TDC_ERR_FORMAT, "%s: no storage_data in it",
                        checkpoint->path);
    checkpoint->found = calloc(storage->count / 2 + 1, sizeof(struct tdc_saved *));
    if (checkpoint->found == NULL)
        return no_memory(checkpoint);
    for (size_t i = 0; i + 1 < storage->count; i += 2) {
        const struct tdc_saved *name = tdc_saved_get(storage->items[i], "fqn");
        if (name == NULL || name->kind != TDC_SAVED_TEXT)
            continue;
        const char *key = key_of(checkpoint, name->text, name->length,
                                 tdc_saved_get(storage->items[i], "offset"));
        bool fresh;
        uint32_t number = key != NULL ? tdc_names_put(&checkpoint->keys, key, strlen(key), &fresh)
                                      : TDC_NAME_NONE;
        if (number == TDC_NAME_NONE)
            return no_memory(checkpoint);
        checkpoint->found[number] = storage->items[i + 1];
    }
    return TDC_OK;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct piece_file *open_file(struct checkpoint *checkpoint, const struct tdc_saved *path)
{
    struct tdc_tensor_set *set = checkpoint->set;
    const char *name = path != NULL && path->kind == TDC_SAVED_TEXT
                           ? tdc_arena_text(&set->arena, path->text, path->length)
                           : NULL;
    if (name == NULL)
        return NULL;
    for (struct piece_file *file = checkpoint->files; file != NULL; file = file->next)
        if (strcmp(file->name, name) == 0)
            return file;
    struct piece_file *file = tdc_arena_zeroed(&set->arena, 1, sizeof *file);
    struct tdc_open_file *held = tdc_arena_zeroed(&set->arena, 1, sizeof *held);
    const char *below = tdc_set_text(set, checkpoint->place->folder, name);
    const char *full = below != NULL ? tdc_set_path(set, below) : NULL;
    if (file == NULL || held == NULL || full == NULL)
        return NULL;
    struct tdc_error why = {0};
    file->name = name;
    if (strchr(name, '/') != NULL || strcmp(name, "..") == 0)
        file->trouble = "a file of the checkpoint must not leave its folder";
    else if (tdc_file_map_open(full, &file->map, &why) != TDC_OK)
        file->trouble = tdc_arena_text(&set->arena, why.message, strlen(why.message));
    else { /* the set closes it */
        held->list = (struct tdc_tensor_list){.path = full, .map = file->map, .descriptor = -1};
        held->next = set->files;
        set->files = held;
    }
    file->next = checkpoint->files;
    checkpoint->files = file;
    return file;
}

struct parsing {
    const unsigned char *bytes;
    size_t size;
    const char *name;
    struct tdc_tensor *tensor;
    struct tdc_error error;
    tdc_status status;
};

static void parse(void *argument)
{
    struct parsing *parsing = argument;
    parsing->status = tdc_tensor_parse(parsing->bytes, parsing->size, TDC_TENSOR_PT, parsing->name,
                                       parsing->tensor, &parsing->error);
}

static bool whole_number(const struct tdc_saved *value, uint64_t *number)
{
    if (value == NULL || value->kind != TDC_SAVED_INTEGER || value->integer < 0)
        return false;
    *number = (uint64_t)value->integer;
    return true;
}

/* One piece: the tensor that lies at [offset, offset + length) of its file. NULL with a text. */
static const struct tdc_tensor *read_piece(struct checkpoint *checkpoint,
                                           const struct tdc_saved *where, const char **trouble)
{
    struct tdc_tensor_set *set = checkpoint->set;
    const struct tdc_saved *transforms = tdc_saved_get(where, "transform_descriptors");
    uint64_t offset, length;
    *trouble = "where a piece lies is not said";
    if (transforms != NULL && transforms->kind == TDC_SAVED_LIST && transforms->count != 0) {
        *trouble = "transformed storage is not supported";
        return NULL;
    }
    if (where == NULL || !whole_number(tdc_saved_get(where, "offset"), &offset) ||
        !whole_number(tdc_saved_get(where, "length"), &length))
        return NULL;
    const struct piece_file *file = open_file(checkpoint, tdc_saved_get(where, "relative_path"));
    struct tdc_tensor *tensor = tdc_arena_zeroed(&set->arena, 1, sizeof *tensor);
    if (file == NULL || tensor == NULL)
        return NULL;
    *trouble = file->trouble != NULL ? file->trouble : "a piece leaves its file";
    if (file->trouble != NULL || offset > file->map.size || length > file->map.size - offset)
        return NULL;
    struct parsing parsing = {.bytes = (const unsigned char *)file->map.data + offset,
                              .size = (size_t)length,
                              .name = file->name,
                              .tensor = tensor};
    if (!tdc_guarded_read(parse, &parsing)) {
        *trouble = "its file shrank while it was read";
        return NULL;
    }
    if (parsing.status != TDC_OK) {
        *trouble =
            tdc_arena_text(&set->arena, parsing.error.message, strlen(parsing.error.message));
        return NULL;
    }
    tensor->borrowed = true;
    tensor->map = (void *)(uintptr_t)file->map.data;
    tensor->map_size = file->map.size;
    return tensor;
}

/* The numbers of a list in the arena; NULL for what is none. */
static uint64_t *numbers_of(struct checkpoint *checkpoint, const struct tdc_saved *list,
                            size_t count)
{
    if (list == NULL || list->kind != TDC_SAVED_LIST || list->count != count)
        return NULL;
    uint64_t *numbers = tdc_arena_zeroed(&checkpoint->set->arena, count + 1, sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < count; i++)
        if (!whole_number(list->items[i], &numbers[i]))
            return NULL;
    return numbers;
}

static bool same_sizes(const struct tdc_tensor *tensor, const uint64_t *sizes, size_t count)
{
    return tensor->dimensions == count && memcmp(tensor->shape, sizes, count * sizeof *sizes) == 0;
}

static bool meet(const struct tdc_set_chunk *one, const struct tdc_set_chunk *other,
                 unsigned dimensions)
{
    for (unsigned d = 0; d < dimensions; d++)
        if (one->first[d] + one->tensor->shape[d] <= other->first[d] ||
            other->first[d] + other->tensor->shape[d] <= one->first[d])
            return false;
    return true;
}

/* Boxes that lie inside, do not meet and have as many elements as the whole cover it. */
static bool covers(const struct tdc_set_record *record)
{
    uint64_t all = 1, parts = 0;
    for (unsigned d = 0; d < record->dimensions; d++)
        if (__builtin_mul_overflow(all, record->size[d], &all))
            return false;
    for (size_t i = 0; i < record->chunk_count; i++) {
        const struct tdc_set_chunk *chunk = &record->chunks[i];
        for (unsigned d = 0; d < record->dimensions; d++)
            if (chunk->first[d] > record->size[d] ||
                chunk->tensor->shape[d] > record->size[d] - chunk->first[d])
                return false;
        if (__builtin_add_overflow(parts, chunk->tensor->count, &parts))
            return false;
        for (size_t k = 0; k < i && chunk->tensor->count != 0; k++)
            if (record->chunks[k].tensor->count != 0 &&
                meet(chunk, &record->chunks[k], record->dimensions))
                return false;
    }
    return parts == all;
}

/* ---- records --------------------------------------------------------------------------------- */

/* What is wrong with the tensor, or NULL. */
static const char *fill_record(struct checkpoint *checkpoint, const struct tdc_saved *entry,
                               const char *name, struct tdc_set_record *record)
{
    struct tdc_tensor_set *set = checkpoint->set;
    const struct tdc_saved *size = tdc_saved_get(entry, "size");
    const struct tdc_saved *chunks = tdc_saved_get(entry, "chunks");
    if (size == NULL || size->kind != TDC_SAVED_LIST || size->count > TDC_MAX_DIMENSIONS ||
        chunks == NULL || chunks->kind != TDC_SAVED_LIST || chunks->count == 0)
        return "its size or chunks are not said";
    if (chunks->count > MOST_CHUNKS)
        return "more pieces than are read";
    struct tdc_tensor whole = {.dimensions = (unsigned)size->count};
    record->dimensions = whole.dimensions;
    record->size = numbers_of(checkpoint, size, size->count);
    struct tdc_set_chunk *list = tdc_arena_zeroed(&set->arena, chunks->count, sizeof *list);
    if (record->size == NULL || list == NULL)
        return "its size is none";
    memcpy(whole.shape, record->size, size->count * sizeof *record->size);
    for (size_t i = 0; i < chunks->count; i++) {
        const struct tdc_saved *offsets = tdc_saved_get(chunks->items[i], "offsets");
        const uint64_t *sizes =
            numbers_of(checkpoint, tdc_saved_get(chunks->items[i], "sizes"), size->count);
        const char *key = key_of(checkpoint, name, strlen(name), offsets), *trouble;
        uint32_t number =
            key != NULL ? tdc_names_find(&checkpoint->keys, key, strlen(key)) : TDC_NAME_NONE;
        list[i].first = numbers_of(checkpoint, offsets, size->count);
        if (list[i].first == NULL || sizes == NULL || number == TDC_NAME_NONE)
            return "where a piece lies is not said";
        list[i].tensor = read_piece(checkpoint, checkpoint->found[number], &trouble);
        if (list[i].tensor == NULL)
            return trouble != NULL ? trouble : "out of memory";
        if (!same_sizes(list[i].tensor, sizes, size->count))
            return "a piece has another shape than .metadata says";
    }
    record->chunks = list;
    record->chunk_count = chunks->count;
    whole.dtype = list[0].tensor->dtype;
    tdc_set_describe(set, record, &whole);
    if (!covers(record)) {
        const char *text = tdc_set_text(set, "chunks do not cover ", record->shape);
        return text != NULL ? text : "out of memory";
    }
    if (chunks->count == 1) { /* all in one place */
        record->tensor = list[0].tensor;
        record->chunks = NULL;
        record->chunk_count = 0;
    }
    return NULL;
}

static tdc_status add_tensor(struct checkpoint *checkpoint, const struct tdc_saved *key,
                             const struct tdc_saved *entry)
{
    struct tdc_tensor_set *set = checkpoint->set;
    const char *name = tdc_arena_text(&set->arena, key->text, key->length);
    struct tdc_set_record *record =
        name != NULL ? tdc_set_add(set, name, checkpoint->place, ".metadata") : NULL;
    if (record == NULL)
        return no_memory(checkpoint);
    const char *trouble = fill_record(checkpoint, entry, name, record);
    if (trouble != NULL) {
        const char *before = tdc_set_text(set, name, ": ");
        record->tensor = NULL;
        record->chunks = NULL;
        record->refusal = before != NULL ? tdc_set_text(set, before, trouble) : NULL;
        if (record->refusal == NULL)
            return no_memory(checkpoint);
    }
    return tdc_set_claim(set, record, checkpoint->error);
}

static tdc_status add_tensors(struct checkpoint *checkpoint)
{
    const struct tdc_saved *entries = tdc_saved_get(checkpoint->root, "state_dict_metadata");
    if (entries == NULL || entries->kind != TDC_SAVED_DICT)
        return tdc_fail(checkpoint->error, TDC_ERR_FORMAT, "%s: no state_dict_metadata in it",
                        checkpoint->path);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i + 1 < entries->count && status == TDC_OK; i += 2)
        if (entries->items[i]->kind == TDC_SAVED_TEXT &&
            tdc_saved_get(entries->items[i + 1], "chunks") != NULL)
            status = add_tensor(checkpoint, entries->items[i], entries->items[i + 1]);
    return status;
}

tdc_status tdc_set_distributed(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                               struct tdc_error *error)
{
    struct checkpoint checkpoint = {.set = set, .place = place, .error = error};
    const char *below = tdc_set_text(set, place->folder, ".metadata");
    checkpoint.path = below != NULL ? tdc_set_path(set, below) : NULL;
    if (checkpoint.path == NULL)
        return no_memory(&checkpoint);
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", checkpoint.path);
    tdc_names_init(&checkpoint.keys);
    tdc_status status = load_metadata(&checkpoint);
    if (status == TDC_OK)
        status = index_storage(&checkpoint);
    if (status == TDC_OK)
        status = add_tensors(&checkpoint);
    tdc_names_free(&checkpoint.keys);
    free(checkpoint.found);
    tdc_guard_end();
    return status;
}
