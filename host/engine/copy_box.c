#include "host/engine/copy_box.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a run up to which it is copied here. */
#define SHORT_RUN ((size_t)2048)

/* At least 64 bytes; a call of memcpy costs as much as some hundred of them. */
static inline void copy_run(unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t at = 0;
    for (; at + 64 <= bytes; at += 64)
        memcpy(to + at, from + at, 64);
    if (at < bytes)
        memcpy(to + bytes - 64, from + bytes - 64, 64);
}

void tdc_copy_line(unsigned char *to, const unsigned char *from, const struct tdc_copy_axis *axis,
                   uint64_t length, size_t bytes)
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
        for (uint64_t i = 0; i < length && bytes >= 64 && bytes <= SHORT_RUN; i++)
            copy_run(to + (int64_t)i * axis->to, from + (int64_t)i * axis->from, bytes);
        for (uint64_t i = 0; i < length && (bytes < 64 || bytes > SHORT_RUN); i++)
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
                tdc_copy_line(to + (int64_t)k * other->to + (int64_t)i * inner->to,
                              from + (int64_t)k * other->from + (int64_t)i * inner->from, inner,
                              length, bytes);
        }
    }
}

size_t tdc_copy_box_simplify(struct tdc_copy_box *box, size_t bytes)
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
    if (kept != 0 && box->axis[kept - 1].to == (int64_t)bytes &&
        box->axis[kept - 1].from == (int64_t)bytes)
        bytes *= (size_t)box->axis[--box->axes].length;
    return bytes;
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

bool tdc_copy_box_turned(const struct tdc_copy_box *box)
{
    return box->axes != 0 && nearest_axis(box) != box->axes - 1;
}

void tdc_copy_box(struct tdc_copy_box *box, unsigned char *to, const unsigned char *from,
                  size_t bytes)
{
    bytes = tdc_copy_box_simplify(box, bytes);
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
            tdc_copy_line(to, from, &inner, inner.length, bytes);
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
