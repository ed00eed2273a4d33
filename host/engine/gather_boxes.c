/*
 * gather_boxes.c - elements of a view as dense elements, at the speed of the memory.
 *
 * A range of elements in C order is a few boxes: the rest of a row, whole rows, the rest of a
 * plane... and along an axis that lies in blocks the whole blocks and what is left of them. Within
 * a box source and target both have one stride an axis.
 */
#include <string.h>

#include "host/engine/copy_box.h"
#include "host/engine/source.h"

/* ---- a range as boxes ------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

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
                     uint64_t blocks, uint64_t width, struct tdc_copy_box *box)
{
    const struct tdc_tensor *tensor = gathering->tensor;
    box->axes = 0;
    for (unsigned d = first; d < tensor->dimensions; d++) {
        int64_t to = (int64_t)gathering->inner[d] * gathering->bytes;
        struct tdc_copy_axis axis = {d == first ? length : tensor->shape[d],
                                     tensor->strides[d] * gathering->bytes, to};
        if (tensor->block != 0 && d == tensor->block_axis) {
            box->axis[box->axes++] = (struct tdc_copy_axis){
                blocks, tensor->block_way * gathering->bytes, to * (int64_t)tensor->block};
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
    struct tdc_copy_box box;
    bool blocked = tensor->block != 0 && tensor->block_axis >= first;
    if (!blocked) {
        add_axes(gathering, first, length, 1, 1, &box);
        from += place_of(tensor, first, start);
        tdc_copy_box(&box, gathering->to, tensor->data + from * gathering->bytes,
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
        tdc_copy_box(&box,
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
