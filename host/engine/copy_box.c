#include "host/engine/copy_box.h"

#include <stdlib.h>
#include <string.h>

/* `bytes` at each of `length` places. */
static void copy_line(unsigned char *to, const unsigned char *from,
                      const struct tdc_copy_axis *axis, uint64_t length, size_t bytes)
{
    switch (bytes) {
#define COPY(size)                                                                                 \
    case size:                                                                                     \
        for (uint64_t i = 0; i < length; i++)                                                      \
            memcpy(to + (int64_t)i * axis->to, from + (int64_t)i * axis->from, size);              \
        break;
        COPY(1)
        COPY(2)
        COPY(4)
        COPY(8)
        COPY(16)
        COPY(32)
        COPY(64)
#undef COPY
    default:
        for (uint64_t i = 0; i < length; i++)
            memcpy(to + (int64_t)i * axis->to, from + (int64_t)i * axis->from, bytes);
    }
}

/* Places a side of a tile: some hundred bytes in each direction. */
static uint64_t tile_side(size_t bytes)
{
    return bytes <= 4 ? 64 : bytes <= 16 ? 32 : 16;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* `inner` is dense in the target, `other` in the source. */
static void copy_tiles(unsigned char *to, const unsigned char *from,
                       const struct tdc_copy_axis *inner, const struct tdc_copy_axis *other,
                       size_t bytes)
{
    uint64_t side = tile_side(bytes);
    for (uint64_t o = 0; o < other->length; o += side) {
        uint64_t o_end = least(o + side, other->length);
        for (uint64_t i = 0; i < inner->length; i += side) {
            uint64_t length = least(side, inner->length - i);
            for (uint64_t k = o; k < o_end; k++)
                copy_line(to + (int64_t)k * other->to + (int64_t)i * inner->to,
                          from + (int64_t)k * other->from + (int64_t)i * inner->from, inner, length,
                          bytes);
        }
    }
}

/* Without axes of length 1, and with those joined that one way walks through on both sides. */
static void simplify(struct tdc_copy_box *box)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < box->axes; i++) {
        struct tdc_copy_axis axis = box->axis[i];
        struct tdc_copy_axis *outer = kept != 0 ? &box->axis[kept - 1] : NULL;
        if (axis.length == 1)
            continue;
        if (outer != NULL && outer->to == axis.to * (int64_t)axis.length &&
            outer->from == axis.from * (int64_t)axis.length) {
            axis.length *= outer->length;
            *outer = axis;
        } else {
            box->axis[kept++] = axis;
        }
    }
    box->axes = kept;
}

/* The axis along which the source moves least, but for the innermost. */
static unsigned nearest_axis(const struct tdc_copy_box *box)
{
    unsigned inner = box->axes - 1, nearest = inner;
    for (unsigned i = 0; i < inner; i++)
        if (llabs(box->axis[i].from) < llabs(box->axis[nearest].from))
            nearest = i;
    return nearest;
}

void tdc_copy_box(struct tdc_copy_box *box, unsigned char *to, const unsigned char *from,
                  size_t bytes)
{
    simplify(box);
    if (box->axes != 0 && box->axis[box->axes - 1].to == (int64_t)bytes &&
        box->axis[box->axes - 1].from == (int64_t)bytes)
        bytes *= (size_t)box->axis[--box->axes].length;
    if (box->axes == 0) {
        memcpy(to, from, bytes);
        return;
    }
    struct tdc_copy_axis inner = box->axis[box->axes - 1];
    unsigned nearest = nearest_axis(box), outer = 0;
    struct tdc_copy_axis other = box->axis[nearest];
    bool tiles = nearest != box->axes - 1;
    uint64_t index[TDC_MAX_DIMENSIONS + 1] = {0};
    struct tdc_copy_axis rest[TDC_MAX_DIMENSIONS + 1];
    for (unsigned i = 0; i + 1 < box->axes; i++)
        if (!tiles || i != nearest)
            rest[outer++] = box->axis[i];
    for (;;) {
        if (tiles)
            copy_tiles(to, from, &inner, &other, bytes);
        else
            copy_line(to, from, &inner, inner.length, bytes);
        unsigned left = outer;
        for (; left > 0; left--) {
            const struct tdc_copy_axis *axis = &rest[left - 1];
            to += axis->to;
            from += axis->from;
            if (++index[left - 1] < axis->length)
                break;
            to -= (int64_t)axis->length * axis->to;
            from -= (int64_t)axis->length * axis->from;
            index[left - 1] = 0;
        }
        if (left == 0)
            return;
    }
}
