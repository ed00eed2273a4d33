/*
 * gather_boxes.c - elements of a view as dense elements, at the speed of the memory.
 *
 * A range of elements in C order is a few boxes: the rest of a row, whole rows, the rest of a
 * plane... and along an axis that lies in blocks the whole blocks and what is left of them. Within
 * a box source and target both have one stride an axis. Where the axis that is dense in the target
 * is not the one that is dense in the source, both are walked in tiles, so that every line of
 * memory that comes into the cache is used up while it is there.
 */
#include <stdlib.h>
#include <string.h>

#include "host/engine/source.h"

/* One axis of a box; the ways are in bytes. */
struct axis {
    uint64_t length;
    int64_t from, to;
};

struct box {
    unsigned axes; /* the target's order: the last is the innermost */
    struct axis axis[TDC_MAX_DIMENSIONS + 1];
};

/* ---- copying a box --------------------------------------------------------------------------- */

/* `bytes` at each of `length` places. */
static void copy_line(unsigned char *to, const unsigned char *from, const struct axis *axis,
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
static void copy_tiles(unsigned char *to, const unsigned char *from, const struct axis *inner,
                       const struct axis *other, size_t bytes)
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
static void simplify(struct box *box)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < box->axes; i++) {
        struct axis axis = box->axis[i];
        struct axis *outer = kept != 0 ? &box->axis[kept - 1] : NULL;
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
static unsigned nearest_axis(const struct box *box)
{
    unsigned inner = box->axes - 1, nearest = inner;
    for (unsigned i = 0; i < inner; i++)
        if (llabs(box->axis[i].from) < llabs(box->axis[nearest].from))
            nearest = i;
    return nearest;
}

static void copy_box(struct box *box, unsigned char *to, const unsigned char *from, size_t bytes)
{
    simplify(box);
    if (box->axes != 0 && box->axis[box->axes - 1].to == (int64_t)bytes &&
        box->axis[box->axes - 1].from == (int64_t)bytes)
        bytes *= (size_t)box->axis[--box->axes].length;
    if (box->axes == 0) {
        memcpy(to, from, bytes);
        return;
    }
    struct axis inner = box->axis[box->axes - 1];
    unsigned nearest = nearest_axis(box), outer = 0;
    struct axis other = box->axis[nearest];
    bool tiles = nearest != box->axes - 1;
    uint64_t index[TDC_MAX_DIMENSIONS + 1] = {0};
    struct axis rest[TDC_MAX_DIMENSIONS + 1];
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
            const struct axis *axis = &rest[left - 1];
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

/* ---- a range as boxes ------------------------------------------------------------------------ */

struct gathering {
    const struct tdc_tensor *tensor;
    int64_t bytes;                      /* of an element */
    uint64_t inner[TDC_MAX_DIMENSIONS]; /* elements behind one place of an axis */
    unsigned char *to;                  /* where the next element goes */
};

static int64_t place_of(const struct tdc_tensor *tensor, unsigned axis, uint64_t index)
{
    int64_t at = 0;
    if (tensor->block != 0 && axis == tensor->block_axis) {
        at = (int64_t)(index / tensor->block) * tensor->block_way;
        index %= tensor->block;
    }
    return at + (int64_t)index * tensor->strides[axis];
}

/* The box of so many places of an axis with all behind it, of which the blocked axis takes `blocks`
 * times `width`. */
static void add_axes(const struct gathering *gathering, unsigned first, uint64_t length,
                     uint64_t blocks, uint64_t width, struct box *box)
{
    const struct tdc_tensor *tensor = gathering->tensor;
    box->axes = 0;
    for (unsigned d = first; d < tensor->dimensions; d++) {
        int64_t to = (int64_t)gathering->inner[d] * gathering->bytes;
        struct axis axis = {d == first ? length : tensor->shape[d],
                            tensor->strides[d] * gathering->bytes, to};
        if (tensor->block != 0 && d == tensor->block_axis) {
            box->axis[box->axes++] = (struct axis){blocks, tensor->block_way * gathering->bytes,
                                                   to * (int64_t)tensor->block};
            axis.length = width;
        }
        box->axis[box->axes++] = axis;
    }
}

/* Whole places of an axis; `from` is the place of those before it. */
static void gather_places(struct gathering *gathering, unsigned first, int64_t from, uint64_t start,
                          uint64_t length)
{
    const struct tdc_tensor *tensor = gathering->tensor;
    struct box box;
    bool blocked = tensor->block != 0 && tensor->block_axis >= first;
    if (!blocked) {
        add_axes(gathering, first, length, 1, 1, &box);
        from += place_of(tensor, first, start);
        copy_box(&box, gathering->to, tensor->data + from * gathering->bytes,
                 (size_t)gathering->bytes);
    }
    unsigned axis = tensor->block_axis;
    uint64_t at = axis == first ? start : 0;
    uint64_t begin = at, end = axis == first ? start + length : tensor->shape[axis];
    if (blocked && axis != first)
        from += place_of(tensor, first, start);
    while (blocked && at < end) {
        uint64_t within = at % tensor->block, blocks = (end - at) / tensor->block;
        uint64_t width = least(tensor->block - within, end - at);
        if (within != 0 || blocks == 0)
            blocks = 1;
        else
            width = tensor->block;
        add_axes(gathering, first, length, blocks, width, &box);
        copy_box(&box,
                 gathering->to +
                     (int64_t)((at - begin) * gathering->inner[axis]) * gathering->bytes,
                 tensor->data + (from + place_of(tensor, axis, at)) * gathering->bytes,
                 (size_t)gathering->bytes);
        at += blocks * width;
    }
    gathering->to += (int64_t)(length * gathering->inner[first]) * gathering->bytes;
}

/* [start, start + count) of the elements behind the axes before `first`. */
static void gather_range(struct gathering *gathering, unsigned first, int64_t from, uint64_t start,
                         uint64_t count)
{
    const struct tdc_tensor *tensor = gathering->tensor;
    if (first == tensor->dimensions) {
        memcpy(gathering->to, tensor->data + from * gathering->bytes, (size_t)gathering->bytes);
        gathering->to += gathering->bytes;
        return;
    }
    uint64_t inner = gathering->inner[first], place = start / inner, within = start % inner;
    if (within != 0) {
        uint64_t part = least(inner - within, count);
        gather_range(gathering, first + 1, from + place_of(tensor, first, place), within, part);
        count -= part;
        place++;
    }
    uint64_t whole = count / inner;
    if (whole != 0)
        gather_places(gathering, first, from, place, whole);
    if (count % inner != 0)
        gather_range(gathering, first + 1, from + place_of(tensor, first, place + whole), 0,
                     count % inner);
}

void tdc_gather_boxes(const struct tdc_tensor *tensor, uint64_t first, size_t count, void *buffer)
{
    struct gathering gathering = {
        .tensor = tensor, .bytes = (int64_t)tdc_dtype_size(tensor->dtype), .to = buffer};
    uint64_t inner = 1;
    for (unsigned d = tensor->dimensions; d-- > 0;) {
        gathering.inner[d] = inner;
        inner *= tensor->shape[d];
    }
    if (count != 0)
        gather_range(&gathering, 0, 0, first, count);
}
