#include "io/tensor/pickle/saved_state.h"

#include <string.h>

#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/tensor/pickle/saved_pickle.h"
#include "io/tensor/tensor_layout.h"

#define STATE_LIMIT ((size_t)8 << 30) /* or what the process may use */

static const struct tdc_zip_item *find(const struct tdc_saved_state *state, const char *name)
{
    return tdc_zip_list_find(&state->members, "", (const unsigned char *)name, strlen(name));
}

static bool says_big(const struct tdc_zip_item *byte_order)
{
    return byte_order != NULL && byte_order->member.size == 3 &&
           memcmp(byte_order->member.data, "big", 3) == 0;
}

tdc_status tdc_saved_state_parse(struct tdc_saved_state *state, struct tdc_arena *arena,
                                 const unsigned char *bytes, size_t size, struct tdc_error *error)
{
    const struct tdc_zip_kind kind = {.what = "torch file", .in_folder = true};
    struct tdc_zip zip;
    if (size < 4 || memcmp(bytes, "PK\3\4", 4) != 0)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: not a zip archive of torch.save", state->path);
    tdc_status status = tdc_zip_open(&zip, kind, bytes, size, state->path, error);
    if (status == TDC_OK)
        status = tdc_zip_list_make(&zip, arena, &state->members, error);
    if (status != TDC_OK)
        return status;
    const struct tdc_zip_item *pickle = find(state, "data.pkl");
    if (pickle == NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: not a torch file: no data.pkl", state->path);
    state->big_endian = says_big(find(state, "byteorder"));
    /* texts of the pickle are looked at as long as the state lives: not in the map */
    unsigned char *copy = tdc_arena_take(arena, pickle->member.size);
    if (copy == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", state->path);
    memcpy(copy, pickle->member.data, pickle->member.size);
    return tdc_saved_pickle(copy, pickle->member.size, state->path, arena, &state->root, error);
}

struct opening {
    struct tdc_saved_state *state;
    struct tdc_error *error;
    tdc_status status;
};

static void parse(void *argument)
{
    struct opening *opening = argument;
    struct tdc_saved_state *state = opening->state;
    opening->status =
        tdc_saved_state_parse(state, &state->arena, (const unsigned char *)state->map.data,
                              state->map.size, opening->error);
}

tdc_status tdc_saved_state_open(const char *path, struct tdc_saved_state *state,
                                struct tdc_error *error)
{
    *state = (struct tdc_saved_state){.path = path};
    tdc_arena_init(&state->arena, STATE_LIMIT);
    tdc_status status = tdc_file_map_open(path, &state->map, error);
    if (status != TDC_OK)
        return status;
    state->guarded = tdc_guard_begin();
    if (!state->guarded)
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    struct opening opening = {state, error, TDC_OK};
    if (!tdc_guarded_read(parse, &opening))
        return tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
    return opening.status;
}

void tdc_saved_state_close(struct tdc_saved_state *state)
{
    tdc_arena_free(&state->arena);
    if (state->map.data != NULL)
        tdc_file_map_close(&state->map);
    if (state->guarded)
        tdc_guard_end();
    *state = (struct tdc_saved_state){0};
}

const struct tdc_saved *tdc_saved_get(const struct tdc_saved *value, const char *key)
{
    if (value != NULL && value->kind == TDC_SAVED_OBJECT)
        value = value->state;
    if (value == NULL || value->kind != TDC_SAVED_DICT)
        return NULL;
    size_t length = strlen(key);
    for (size_t i = value->count; i >= 2; i -= 2) { /* the last one of a key counts */
        const struct tdc_saved *name = value->items[i - 2];
        if (name->kind == TDC_SAVED_TEXT && name->length == length &&
            memcmp(name->text, key, length) == 0)
            return value->items[i - 1];
    }
    return NULL;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static bool fill_layout(const struct tdc_saved *size, const struct tdc_saved *stride,
                        struct tdc_tensor *tensor)
{
    if (size->count != stride->count || size->count > TDC_MAX_DIMENSIONS)
        return false;
    tensor->dimensions = (unsigned)size->count;
    for (unsigned i = 0; i < tensor->dimensions; i++) {
        const struct tdc_saved *length = size->items[i], *step = stride->items[i];
        if (length->kind != TDC_SAVED_INTEGER || step->kind != TDC_SAVED_INTEGER ||
            length->integer < 0 || step->integer < 0)
            return false;
        tensor->shape[i] = (uint64_t)length->integer;
        tensor->strides[i] = step->integer;
    }
    if (!tdc_layout_count(tensor))
        return false;
    tdc_layout_dense(tensor);
    return true;
}

static bool inside(const struct tdc_tensor *tensor, int64_t offset, uint64_t available)
{
    uint64_t element = tdc_dtype_size(tensor->dtype), extent, start, end;
    return offset >= 0 && tdc_layout_extent(tensor, &extent) &&
           !__builtin_mul_overflow((uint64_t)offset, element, &start) &&
           !__builtin_mul_overflow(extent, element, &end) &&
           !__builtin_add_overflow(start, end, &end) && end <= available;
}

tdc_status tdc_saved_tensor(const struct tdc_saved_state *state, const struct tdc_saved *value,
                            struct tdc_tensor *tensor, struct tdc_error *error)
{
    const struct tdc_saved *storage = value->items[0];
    const struct tdc_pt_name *name =
        value->items[4] != NULL ? value->items[4]->name : storage->items[0]->name;
    *tensor = (struct tdc_tensor){.dtype = name->dtype, .descriptor = -1};
    if (name->dtype == TDC_DTYPE_NONE || name->coding != TDC_CODING_PLAIN)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: elements of type %s.%s", state->path,
                        name->module, name->name);
    const struct tdc_saved *key = storage->items[1];
    const struct tdc_zip_item *bytes =
        tdc_zip_list_find(&state->members, "data/", (const unsigned char *)key->text, key->length);
    int64_t offset = value->items[1]->integer;
    if (bytes == NULL || !fill_layout(value->items[2], value->items[3], tensor) ||
        (tensor->count != 0 && !inside(tensor, offset, bytes->member.size)))
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: a tensor that leaves its storage", state->path);
    if (tensor->count != 0)
        tensor->data = bytes->member.data + (uint64_t)offset * tdc_dtype_size(tensor->dtype);
    tensor->swapped = tdc_layout_swapped(tensor, state->big_endian);
    return TDC_OK;
}
