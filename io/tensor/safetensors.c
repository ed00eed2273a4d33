#include "io/tensor/safetensors.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/tensor/tensor_layout.h"
#include "io/text/json.h"

#define LENGTH_BYTES ((size_t)8)
#define HEADER_LIMIT ((uint64_t)100 << 20)

static const struct {
    const char *name;
    tdc_dtype dtype;
} types[] = {
    {"BOOL", TDC_BOOL}, {"U8", TDC_U8},           {"I8", TDC_I8},           {"I16", TDC_I16},
    {"U16", TDC_U16},   {"F16", TDC_F16},         {"BF16", TDC_BF16},       {"I32", TDC_I32},
    {"U32", TDC_U32},   {"F32", TDC_F32},         {"F64", TDC_F64},         {"I64", TDC_I64},
    {"U64", TDC_U64},   {"F8_E4M3", TDC_F8_E4M3}, {"F8_E5M2", TDC_F8_E5M2}, {"C64", TDC_C64},
};

struct header {
    struct tdc_tensor_list *list;
    const unsigned char *data; /* behind the header */
    uint64_t data_size;
    struct tdc_error *error;
};

static tdc_status wrong(const struct header *header, const char *name, const char *reason)
{
    return tdc_fail(header->error, TDC_ERR_FORMAT, "%s: damaged safetensors file: %.200s: %s",
                    header->list->path, name, reason);
}

/* A whole number from 0 on that fits. */
static bool whole_number(const struct tdc_json *value, uint64_t *number)
{
    if (value == NULL || value->kind != TDC_JSON_INTEGER || value->length > 19)
        return false;
    *number = 0;
    for (const char *at = value->text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *number = *number * 10 + (uint64_t)(*at - '0');
    }
    return *number <= INT64_MAX;
}

static tdc_status fill_shape(const struct header *header, const char *name,
                             const struct tdc_json *shape, struct tdc_tensor *tensor)
{
    if (shape == NULL || shape->kind != TDC_JSON_LIST)
        return wrong(header, name, "no shape");
    if (shape->children > TDC_MAX_DIMENSIONS)
        return wrong(header, name, "more than 64 dimensions");
    for (const struct tdc_json *size = shape->child; size != NULL; size = size->next)
        if (!whole_number(size, &tensor->shape[tensor->dimensions++]))
            return wrong(header, name, "a size that is no number from 0 on");
    if (!tdc_layout_count(tensor))
        return wrong(header, name, "too many elements");
    tdc_layout_contiguous(tensor, false);
    tensor->dense = true;
    return TDC_OK;
}

static tdc_status fill_data(const struct header *header, const char *name,
                            const struct tdc_json *offsets, struct tdc_listed_tensor *item)
{
    uint64_t from, to, bytes;
    if (offsets == NULL || offsets->kind != TDC_JSON_LIST || offsets->children != 2 ||
        !whole_number(offsets->child, &from) || !whole_number(offsets->child->next, &to) ||
        from > to || to > header->data_size)
        return wrong(header, name, "its data_offsets leave the file");
    if (item->refusal == NULL &&
        (__builtin_mul_overflow(item->tensor.count, (uint64_t)tdc_dtype_size(item->tensor.dtype),
                                &bytes) ||
         bytes != to - from))
        return wrong(header, name, "its data_offsets do not fit its shape and type");
    item->tensor.data = header->data + from;
    item->tensor.swapped = tdc_layout_swapped(&item->tensor, false);
    return TDC_OK;
}

/* A type that is not known is no damage: the tensor is listed with a reason. */
static tdc_status fill_type(const struct header *header, const char *name,
                            const struct tdc_json *dtype, struct tdc_listed_tensor *item)
{
    if (dtype == NULL || dtype->kind != TDC_JSON_STRING)
        return wrong(header, name, "no dtype");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, dtype->text) == 0)
            item->tensor.dtype = types[i].dtype;
    if (item->tensor.dtype != TDC_DTYPE_NONE)
        return TDC_OK;
    static const char before[] = "dtype ", behind[] = " is not supported";
    size_t shown = dtype->length < 40 ? dtype->length : 40;
    char *text = tdc_arena_zeroed(&header->list->arena, 1, sizeof before + shown + sizeof behind);
    if (text == NULL)
        return tdc_fail(header->error, TDC_ERR_MEMORY, "%s: out of memory", header->list->path);
    memcpy(text, before, sizeof before - 1);
    memcpy(text + sizeof before - 1, dtype->text, shown);
    memcpy(text + sizeof before - 1 + shown, behind, sizeof behind);
    item->refusal = text;
    return TDC_OK;
}

static tdc_status take_tensor(const struct header *header, const char *name, size_t length,
                              const struct tdc_json *value)
{
    if (value->kind != TDC_JSON_OBJECT)
        return wrong(header, name, "not an object");
    struct tdc_listed_tensor *item = tdc_tensor_list_add(header->list, name, length, header->error);
    if (item == NULL)
        return header->error->status;
    tdc_status status = fill_type(header, name, tdc_json_get(value, "dtype"), item);
    if (status == TDC_OK)
        status = fill_shape(header, name, tdc_json_get(value, "shape"), &item->tensor);
    return status == TDC_OK ? fill_data(header, name, tdc_json_get(value, "data_offsets"), item)
                            : status;
}

static tdc_status walk(const struct header *header, struct tdc_json_cursor *cursor)
{
    struct tdc_arena *scratch = &header->list->scratch;
    bool first = true;
    tdc_status status = tdc_json_enter(cursor, header->error);
    while (status == TDC_OK) {
        const char *name;
        size_t length;
        struct tdc_json *value;
        tdc_arena_reset(scratch);
        status = tdc_json_member(cursor, &first, scratch, &name, &length, header->error);
        if (status != TDC_OK || name == NULL)
            break;
        if (strcmp(name, "__metadata__") == 0) {
            status = tdc_json_skip(cursor, header->error);
            continue;
        }
        status = tdc_json_read(cursor, scratch, &value, header->error);
        if (status == TDC_OK)
            status = take_tensor(header, name, length, value);
    }
    return status == TDC_OK ? tdc_json_finish(cursor, header->error) : status;
}

tdc_status tdc_safetensors_list(const unsigned char *bytes, size_t size,
                                struct tdc_tensor_list *list, struct tdc_error *error)
{
    uint64_t length = size >= LENGTH_BYTES ? tdc_le64(bytes) : 0;
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES || length == 0 ||
        bytes[LENGTH_BYTES] != '{')
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: not a safetensors file: no header", list->path);
    if (length > HEADER_LIMIT)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: a safetensors header of more than 100 MiB",
                        list->path);
    struct header header = {.list = list,
                            .data = bytes + LENGTH_BYTES + length,
                            .data_size = size - LENGTH_BYTES - length,
                            .error = error};
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, list->path, (const char *)bytes + LENGTH_BYTES, (size_t)length);
    return walk(&header, &cursor);
}
