/* made_ge.h - GE dump files in memory: a header of protobuf fields and the bytes behind it. */
#ifndef TDC_TESTS_MADE_GE_H
#define TDC_TESTS_MADE_GE_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

struct made_bytes {
    unsigned char bytes[65536];
    size_t size;
};

struct made_ge_tensor {
    bool output;
    uint64_t type, format, size;
    unsigned dimensions, original_dimensions;
    uint64_t shape[8], original[8];
};

static inline void made_byte(struct made_bytes *made, unsigned char byte)
{
    assert(made->size < sizeof made->bytes);
    made->bytes[made->size++] = byte;
}

static inline void made_varint(struct made_bytes *made, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        made_byte(made, (unsigned char)(value | 0x80));
    made_byte(made, (unsigned char)value);
}

static inline void made_number(struct made_bytes *made, unsigned field, uint64_t value)
{
    made_varint(made, field << 3);
    made_varint(made, value);
}

static inline void made_message(struct made_bytes *made, unsigned field,
                                const struct made_bytes *inside)
{
    made_varint(made, field << 3 | 2);
    made_varint(made, inside->size);
    for (size_t i = 0; i < inside->size; i++)
        made_byte(made, inside->bytes[i]);
}

/* A shape in packed form, as GE writes it, or number by number, as older writers do. */
static inline void made_shape(struct made_bytes *made, unsigned field, const uint64_t *dims,
                              unsigned count, bool packed)
{
    static struct made_bytes shape, numbers;
    shape.size = numbers.size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (packed)
            made_varint(&numbers, dims[i]);
        else
            made_number(&shape, 1, dims[i]);
    }
    if (packed)
        made_message(&shape, 1, &numbers);
    made_message(made, field, &shape);
}

/* The item of a tensor; inputs and outputs number their fields differently. */
static inline void made_tensor(struct made_bytes *header, const struct made_ge_tensor *tensor,
                               bool packed)
{
    static struct made_bytes item;
    item.size = 0;
    if (tensor->type != 0)
        made_number(&item, 1, tensor->type);
    if (tensor->format != 0)
        made_number(&item, 2, tensor->format);
    made_shape(&item, 3, tensor->shape, tensor->dimensions, packed);
    made_number(&item, tensor->output ? 6 : 5, tensor->size);
    made_shape(&item, tensor->output ? 7 : 6, tensor->original, tensor->original_dimensions,
               packed);
    made_number(&item, tensor->output ? 9 : 8, 0x12c0c0000000u); /* address: of no interest */
    made_message(header, tensor->output ? 3 : 4, &item);
}

/* Length, header, data. */
static inline void made_file(struct made_bytes *file, const struct made_bytes *header,
                             const void *data, size_t size)
{
    file->size = 0;
    for (unsigned i = 0; i < 8; i++)
        made_byte(file, (unsigned char)((uint64_t)header->size >> (8 * i)));
    for (size_t i = 0; i < header->size; i++)
        made_byte(file, header->bytes[i]);
    for (size_t i = 0; i < size; i++)
        made_byte(file, ((const unsigned char *)data)[i]);
}

#endif
