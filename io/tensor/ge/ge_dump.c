#include "io/tensor/ge/ge_dump.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/tensor/ge/proto_reader.h"

#define LENGTH_BYTES ((size_t)8)
/* Of a header; those of operators with thousands of tensors have some hundred kilobytes. */
#define HEADER_LIMIT ((uint64_t)64 << 20)
#define NANO_MAGIC   0x5a5a5a5au

/* Numbers of the fields: the lists in the header, and what an item has, which inputs and outputs
 * number differently. */
static const uint32_t list_fields[TDC_GE_LISTS] = {
    [TDC_GE_INPUT] = 4, [TDC_GE_OUTPUT] = 3, [TDC_GE_BUFFER] = 5, [TDC_GE_SPACE] = 8};

struct item_fields {
    uint32_t type, format, shape, size, original, address; /* 0: has none */
};

static const struct item_fields item_fields[TDC_GE_LISTS] = {
    [TDC_GE_INPUT] = {1, 2, 3, 5, 6, 8},
    [TDC_GE_OUTPUT] = {1, 2, 3, 6, 7, 9},
    [TDC_GE_BUFFER] = {.size = 3},
    [TDC_GE_SPACE] = {.size = 3},
};

static tdc_status malformed(struct tdc_error *error, const char *name, const char *what)
{
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: bad GE dump: %s", name, what);
}

/* The header within its file; empty where there is none. */
static tdc_status find_header(const unsigned char *bytes, size_t size, const char *name,
                              struct tdc_proto *header, struct tdc_error *error)
{
    *header = tdc_proto_over(bytes, 0);
    if (size == 0)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: the file is empty", name);
    if (size <= LENGTH_BYTES)
        return TDC_OK;
    uint64_t length = tdc_le64(bytes);
    if (length > size - LENGTH_BYTES)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "%s: bad GE dump: a header of %llu bytes in a file of %zu", name,
                        (unsigned long long)length, size);
    if (length > HEADER_LIMIT)
        return malformed(error, name, "the header is too long");
    if (length >= 4 && tdc_le32(bytes + LENGTH_BYTES) == NANO_MAGIC)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: GE dump of the nano kind", name);
    *header = tdc_proto_over(bytes + LENGTH_BYTES, (size_t)length);
    return TDC_OK;
}

/* Repeated fields add up, as protobuf's messages do. */
static bool read_shape(struct tdc_proto message, struct tdc_ge_shape *shape)
{
    struct tdc_proto_field field;
    while (tdc_proto_next(&message, &field)) {
        if (field.number != 1)
            continue;
        bool packed = field.form == TDC_PROTO_BYTES;
        uint64_t dim = field.value;
        while (!packed || tdc_proto_number(&field.inside, &dim)) {
            if (shape->dimensions == TDC_MAX_DIMENSIONS)
                return false;
            shape->dims[shape->dimensions++] = dim;
            if (!packed)
                break;
        }
        if (packed && field.inside.broken)
            return false;
    }
    return !message.broken;
}

static bool read_item(struct tdc_proto message, const struct item_fields *fields,
                      struct tdc_ge_item *item)
{
    struct tdc_proto_field field;
    while (tdc_proto_next(&message, &field)) {
        bool number = field.form == TDC_PROTO_NUMBER;
        if (number && field.number == fields->size)
            item->size = field.value;
        else if (number && field.number == fields->type)
            item->type = field.value;
        else if (number && field.number == fields->format)
            item->format = field.value;
        else if (number && field.number == fields->address)
            item->address = field.value;
        else if (!number && field.number == fields->shape && fields->shape != 0) {
            if (!read_shape(field.inside, &item->shape))
                return false;
        } else if (!number && field.number == fields->original && fields->original != 0) {
            if (!read_shape(field.inside, &item->original))
                return false;
        }
    }
    return !message.broken;
}

/* The size alone: what all items of a file are asked for. */
static bool read_size(struct tdc_proto message, uint32_t number, uint64_t *size)
{
    struct tdc_proto_field field;
    *size = 0;
    while (tdc_proto_next(&message, &field))
        if (field.form == TDC_PROTO_NUMBER && field.number == number)
            *size = field.value;
    return !message.broken;
}

static unsigned list_of(uint32_t number)
{
    unsigned list = 0;
    while (list < TDC_GE_LISTS && list_fields[list] != number)
        list++;
    return list;
}

/* What one reading of a header tells: numbers and bytes of all lists, and one item on request. */
struct reading {
    uint64_t counts[TDC_GE_LISTS], bytes[TDC_GE_LISTS];
    enum tdc_ge_list list; /* TDC_GE_LISTS: no item is wanted */
    uint64_t index;
    struct tdc_ge_item *item;
    uint64_t before; /* bytes of its list before it */
};

static tdc_status read_one(struct reading *reading, unsigned list, struct tdc_proto message,
                           const char *name, struct tdc_error *error)
{
    uint64_t size, *bytes = &reading->bytes[list];
    if (!read_size(message, item_fields[list].size, &size))
        return malformed(error, name, "an item of the header is broken");
    if (list == reading->list && reading->counts[list] == reading->index) {
        *reading->item = (struct tdc_ge_item){0};
        if (!read_item(message, &item_fields[list], reading->item))
            return malformed(error, name, "an item of the header is broken");
        reading->before = *bytes;
    }
    if (__builtin_add_overflow(*bytes, size, bytes))
        return malformed(error, name, "sizes that no file has");
    if (++reading->counts[list] > TDC_GE_MOST_ITEMS)
        return malformed(error, name, "too many tensors");
    return TDC_OK;
}

static tdc_status read_header(const unsigned char *bytes, size_t size, const char *name,
                              struct reading *reading, struct tdc_error *error)
{
    struct tdc_proto header;
    struct tdc_proto_field field;
    tdc_status status = find_header(bytes, size, name, &header, error);
    if (status != TDC_OK)
        return status;
    uint64_t left = header.at == header.end ? 0 : size - (uint64_t)(header.end - bytes);
    while (tdc_proto_next(&header, &field)) {
        unsigned list = list_of(field.number);
        if (list == TDC_GE_LISTS || field.form != TDC_PROTO_BYTES)
            continue;
        status = read_one(reading, list, field.inside, name, error);
        if (status != TDC_OK)
            return status;
    }
    if (header.broken)
        return malformed(error, name, "the header is broken");
    for (unsigned list = 0; list < TDC_GE_LISTS; list++) {
        if (reading->bytes[list] > left)
            return malformed(error, name, "the data of its tensors ends early");
        left -= reading->bytes[list];
    }
    return TDC_OK;
}

tdc_status tdc_ge_count(const unsigned char *bytes, size_t size, const char *name,
                        uint64_t counts[TDC_GE_LISTS], struct tdc_error *error)
{
    struct reading reading = {.list = TDC_GE_LISTS};
    tdc_status status = read_header(bytes, size, name, &reading, error);
    memcpy(counts, reading.counts, sizeof reading.counts);
    return status;
}

tdc_status tdc_ge_item(const unsigned char *bytes, size_t size, const char *name,
                       enum tdc_ge_list list, uint64_t index, struct tdc_ge_item *item,
                       struct tdc_error *error)
{
    struct reading reading = {.list = list, .index = index, .item = item};
    tdc_status status = read_header(bytes, size, name, &reading, error);
    if (status != TDC_OK)
        return status;
    if (index >= reading.counts[list])
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: the dump has no such tensor", name);
    /* an item means that there is a header, and so 8 bytes */
    item->offset = LENGTH_BYTES + tdc_le64(bytes) + reading.before;
    for (unsigned i = 0; i < (unsigned)list; i++)
        item->offset += reading.bytes[i];
    return TDC_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool has_ending(const char *text, size_t length, const char *ending)
{
    size_t tail = strlen(ending);
    return length >= tail && memcmp(text + length - tail, ending, tail) == 0;
}

bool tdc_ge_name(const char *text, size_t *length, enum tdc_ge_list *list, uint64_t *index)
{
    enum {
        MOST_DIGITS = 9
    };
    size_t end = strlen(text), start = end;
    while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9')
        start--;
    if (start == end || end - start > MOST_DIGITS)
        return false;
    if (has_ending(text, start, ",inputs,"))
        *list = TDC_GE_INPUT;
    else if (has_ending(text, start, ",outputs,"))
        *list = TDC_GE_OUTPUT;
    else
        return false;
    *index = 0;
    for (size_t i = start; i < end; i++)
        *index = *index * 10 + (uint64_t)(text[i] - '0');
    *length = start - strlen(*list == TDC_GE_INPUT ? ",inputs," : ",outputs,");
    return true;
}

tdc_status tdc_ge_parse(const unsigned char *bytes, size_t size, const char *name,
                        struct tdc_tensor *tensor, struct tdc_error *error)
{
    enum tdc_ge_list list;
    uint64_t index;
    size_t length;
    struct tdc_ge_item item;
    if (!tdc_ge_name(name, &length, &list, &index))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: which tensor of the dump?", name);
    tdc_status status = tdc_ge_item(bytes, size, name, list, index, &item, error);
    return status == TDC_OK ? tdc_ge_tensor(bytes, name, &item, false, tensor, error) : status;
}
