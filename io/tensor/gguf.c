#include "io/tensor/gguf.h"

#include <stdio.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/tensor/tensor_layout.h"

#define USUAL_ALIGNMENT ((uint64_t)32)
/* Lists within lists of settings: one level is what there is. */
#define DEPTH_LIMIT 4u

/* By the numbers of the format; NULL: no type has it. */
static const struct {
    const char *name;
    tdc_dtype dtype;
} types[] = {
    {"F32", TDC_F32},   {"F16", TDC_F16}, {"Q4_0", 0},      {"Q4_1", 0},      {NULL, 0},
    {NULL, 0},          {"Q5_0", 0},      {"Q5_1", 0},      {"Q8_0", 0},      {"Q8_1", 0},
    {"Q2_K", 0},        {"Q3_K", 0},      {"Q4_K", 0},      {"Q5_K", 0},      {"Q6_K", 0},
    {"Q8_K", 0},        {"IQ2_XXS", 0},   {"IQ2_XS", 0},    {"IQ3_XXS", 0},   {"IQ1_S", 0},
    {"IQ4_NL", 0},      {"IQ3_S", 0},     {"IQ2_S", 0},     {"IQ4_XS", 0},    {"I8", TDC_I8},
    {"I16", TDC_I16},   {"I32", TDC_I32}, {"I64", TDC_I64}, {"F64", TDC_F64}, {"IQ1_M", 0},
    {"BF16", TDC_BF16},
};

/* Kinds of settings, by their numbers: bytes of one, 0 for texts and lists. */
static const uint8_t setting_bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
enum {
    SETTING_U32 = 4,
    SETTING_TEXT = 8,
    SETTING_LIST = 9
};

struct reader {
    struct tdc_tensor_list *list;
    const unsigned char *bytes;
    size_t size, at;
    struct tdc_error *error;
};

static tdc_status wrong(const struct reader *reader, const char *reason)
{
    return tdc_fail(reader->error, TDC_ERR_FORMAT, "%s: damaged GGUF file: %s", reader->list->path,
                    reason);
}

/* `count` bytes at the place, which moves behind them; NULL: the file ends before. */
static const unsigned char *take(struct reader *reader, uint64_t count)
{
    if (count > reader->size - reader->at)
        return NULL;
    const unsigned char *at = reader->bytes + reader->at;
    reader->at += (size_t)count;
    return at;
}

static bool take32(struct reader *reader, uint32_t *number)
{
    const unsigned char *at = take(reader, 4);
    if (at != NULL)
        *number = tdc_le32(at);
    return at != NULL;
}

static bool take64(struct reader *reader, uint64_t *number)
{
    const unsigned char *at = take(reader, 8);
    if (at != NULL)
        *number = tdc_le64(at);
    return at != NULL;
}

static bool take_text(struct reader *reader, const char **text, size_t *length)
{
    uint64_t count = 0;
    const unsigned char *at = take64(reader, &count) ? take(reader, count) : NULL;
    *text = (const char *)at;
    *length = (size_t)count;
    return at != NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static bool skip_setting(struct reader *reader, uint32_t kind, unsigned depth)
{
    const char *text;
    size_t length;
    uint32_t inner;
    uint64_t count;
    if (kind >= sizeof setting_bytes || depth > DEPTH_LIMIT)
        return false;
    if (kind == SETTING_TEXT)
        return take_text(reader, &text, &length);
    if (kind != SETTING_LIST)
        return take(reader, setting_bytes[kind]) != NULL;
    if (!take32(reader, &inner) || !take64(reader, &count) || inner >= sizeof setting_bytes)
        return false;
    if (setting_bytes[inner] != 0)
        return count <= reader->size && take(reader, count * setting_bytes[inner]) != NULL;
    for (uint64_t i = 0; i < count; i++) /* each takes some bytes of the file */
        if (!skip_setting(reader, inner, depth + 1))
            return false;
    return true;
}

static tdc_status skip_settings(struct reader *reader, uint64_t count, uint64_t *alignment)
{
    static const char key[] = "general.alignment";
    for (uint64_t i = 0; i < count; i++) {
        const char *name;
        size_t length;
        uint32_t kind, number;
        if (!take_text(reader, &name, &length) || !take32(reader, &kind))
            return wrong(reader, "its settings leave the file");
        bool aligns =
            kind == SETTING_U32 && length == strlen(key) && memcmp(name, key, length) == 0;
        if (!(aligns ? take32(reader, &number) : skip_setting(reader, kind, 0)))
            return wrong(reader, "a setting of no known kind, or one that leaves the file");
        if (aligns && (number == 0 || number > (1u << 20) || (number & (number - 1)) != 0))
            return wrong(reader, "an alignment that is no power of two");
        if (aligns)
            *alignment = number;
    }
    return TDC_OK;
}

/* The description of one tensor, and where its data begins behind the descriptions. */
static tdc_status take_tensor(struct reader *reader, uint64_t *offset)
{
    const char *name;
    size_t length;
    uint32_t dimensions, type;
    if (!take_text(reader, &name, &length) || !take32(reader, &dimensions))
        return wrong(reader, "its descriptions leave the file");
    if (dimensions > TDC_MAX_DIMENSIONS)
        return wrong(reader, "more than 64 dimensions");
    struct tdc_listed_tensor *item = tdc_tensor_list_add(reader->list, name, length, reader->error);
    if (item == NULL)
        return reader->error->status;
    struct tdc_tensor *tensor = &item->tensor;
    tensor->dimensions = dimensions;
    for (uint32_t i = 0; i < dimensions; i++)
        if (!take64(reader, &tensor->shape[dimensions - 1 - i]))
            return wrong(reader, "its descriptions leave the file");
    if (!take32(reader, &type) || !take64(reader, offset))
        return wrong(reader, "its descriptions leave the file");
    if (!tdc_layout_count(tensor) || tensor->count > INT64_MAX)
        return wrong(reader, "too many elements");
    tdc_layout_contiguous(tensor, false);
    tensor->dense = true;
    bool known = type < sizeof types / sizeof *types && types[type].name != NULL;
    tensor->dtype = known ? types[type].dtype : TDC_DTYPE_NONE;
    if (tensor->dtype != TDC_DTYPE_NONE)
        return TDC_OK;
    char text[64];
    int shown = known ? snprintf(text, sizeof text, "dtype %s is not supported", types[type].name)
                      : snprintf(text, sizeof text, "dtype %u is not known", type);
    item->refusal = tdc_arena_text(&reader->list->arena, text, (size_t)shown);
    return item->refusal != NULL
               ? TDC_OK
               : tdc_fail(reader->error, TDC_ERR_MEMORY, "%s: out of memory", reader->list->path);
}

/* All but quantised tensors must lie in the file. */
static tdc_status place(const struct reader *reader, struct tdc_listed_tensor *item, uint64_t start,
                        uint64_t offset)
{
    uint64_t bytes, end;
    struct tdc_tensor *tensor = &item->tensor;
    if (item->refusal != NULL)
        return TDC_OK;
    if (__builtin_mul_overflow(tensor->count, (uint64_t)tdc_dtype_size(tensor->dtype), &bytes) ||
        __builtin_add_overflow(start, offset, &offset) ||
        __builtin_add_overflow(offset, bytes, &end) || end > reader->size)
        return wrong(reader, "the data of a tensor leaves the file");
    tensor->data = reader->bytes + offset;
    tensor->swapped = tdc_layout_swapped(tensor, false);
    return TDC_OK;
}

tdc_status tdc_gguf_list(const unsigned char *bytes, size_t size, struct tdc_tensor_list *list,
                         struct tdc_error *error)
{
    struct reader reader = {.list = list, .bytes = bytes, .size = size, .at = 4, .error = error};
    uint32_t version = 0;
    uint64_t count = 0, settings = 0, alignment = USUAL_ALIGNMENT;
    if (size < 24 || memcmp(bytes, "GGUF", 4) != 0)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: not a GGUF file", list->path);
    take32(&reader, &version);
    if (version != 2 && version != 3)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: GGUF of version %u", list->path, version);
    take64(&reader, &count);
    take64(&reader, &settings);
    tdc_status status = skip_settings(&reader, settings, &alignment);
    if (status != TDC_OK)
        return status;
    if (count > TDC_LISTED_TENSORS || count > size / 24) /* bytes of the shortest description */
        return wrong(&reader, "more tensors than it has room for");
    uint64_t *offsets = tdc_arena_zeroed(&list->scratch, (size_t)count + 1, sizeof *offsets);
    if (offsets == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", list->path);
    for (uint64_t i = 0; i < count && status == TDC_OK; i++)
        status = take_tensor(&reader, &offsets[i]);
    uint64_t start = (reader.at + alignment - 1) / alignment * alignment;
    for (uint64_t i = 0; i < count && status == TDC_OK; i++)
        status = place(&reader, list->items[i], start, offsets[i]);
    return status;
}
