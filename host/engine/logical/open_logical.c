/* open_logical.c - the boxes of a logical tensor in order, and its parts opened. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/logical/logical.h"
#include "host/engine/source.h"
#include "io/base/arena.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/tensor/tensor_layout.h"
#include "kernels/dtype.h"

/* ---- the order of boxes ---------------------------------------------------------------------- */

struct sorted_box {
    struct tdc_logical_box box;
    uint64_t key;
};

static int by_term_and_key(const void *left, const void *right)
{
    const struct sorted_box *a = left, *b = right;
    if (a->box.term != b->box.term)
        return a->box.term < b->box.term ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return 0;
}

/* The axis along which boxes are shortest, by the sum of what they take of it: it tells them apart
 * best. */
static unsigned best_axis(const struct tdc_logical *logical)
{
    unsigned best = 0;
    double least = 2;
    for (unsigned d = 0; d < logical->dimensions; d++) {
        double share = 0;
        for (size_t i = 0; i < logical->box_count; i++)
            share += (double)logical->boxes[i].extent[d] / (double)logical->shape[d];
        share /= (double)logical->box_count;
        if (share < least) {
            least = share;
            best = d;
        }
    }
    return best;
}

bool tdc_logical_settle(struct tdc_logical *logical, struct tdc_arena *arena)
{
    logical->term_count = logical->group_starts[logical->group_count];
    logical->term_starts =
        tdc_arena_zeroed(arena, (size_t)logical->term_count + 1, sizeof *logical->term_starts);
    struct sorted_box *sorted = malloc((logical->box_count + 1) * sizeof *sorted);
    if (logical->term_starts == NULL || sorted == NULL) {
        free(sorted);
        return false;
    }
    logical->count = 1;
    for (unsigned d = 0; d < logical->dimensions; d++)
        logical->count *= logical->shape[d]; /* checked by who made the boxes */
    logical->index_axis = logical->box_count != 0 ? best_axis(logical) : 0;
    for (size_t i = 0; i < logical->box_count; i++) {
        const struct tdc_logical_box *box = &logical->boxes[i];
        bool scalar = logical->dimensions == 0;
        sorted[i] = (struct sorted_box){*box, scalar ? 0 : box->first[logical->index_axis]};
        if (!scalar && box->extent[logical->index_axis] > logical->longest)
            logical->longest = box->extent[logical->index_axis];
    }
    qsort(sorted, logical->box_count, sizeof *sorted, by_term_and_key);
    for (size_t i = 0; i < logical->box_count; i++) {
        logical->boxes[i] = sorted[i].box;
        logical->term_starts[sorted[i].box.term + 1] = (uint32_t)i + 1;
    }
    for (uint32_t term = 0; term < logical->term_count; term++)
        if (logical->term_starts[term + 1] < logical->term_starts[term])
            logical->term_starts[term + 1] = logical->term_starts[term];
    free(sorted);
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

void tdc_assembled_close(struct tdc_assembled *assembled)
{
    if (assembled == NULL)
        return;
    for (size_t i = 0; assembled->open != NULL && i < assembled->logical->part_count; i++)
        if (assembled->open[i])
            tdc_tensor_close(&assembled->parts[i]);
    free(assembled->parts);
    free(assembled->open);
    free(assembled);
}

/* Replicas are opened by who compares them. */
static void mark_in_use(const struct tdc_logical *logical, bool *in_use, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < logical->box_count; i++) {
        *count += !in_use[logical->boxes[i].part];
        in_use[logical->boxes[i].part] = true;
    }
}

/* Thousands of ranks would take as many descriptors; a map needs none. One that is borrowed is
 * closed by its owner: its number may be another file's by then. */
static void drop_descriptor(struct tdc_tensor *tensor)
{
    if (tensor->descriptor >= 0 && !tensor->borrowed)
        tdc_file_close(tensor->descriptor);
    tensor->descriptor = -1;
}

static tdc_status open_parts(struct tdc_assembled *assembled, size_t count, struct tdc_error *error)
{
    const struct tdc_logical *logical = assembled->logical;
    bool first = true;
    for (size_t i = 0; i < logical->part_count; i++) {
        const struct tdc_logical_part *part = &logical->parts[i];
        struct tdc_tensor *tensor = &assembled->parts[i];
        if (!assembled->open[i])
            continue;
        assembled->open[i] = false;
        tdc_status status = part->open(part, tensor, error);
        if (status != TDC_OK) {
            memset(assembled->open + i, 0, logical->part_count - i);
            return status;
        }
        assembled->open[i] = true;
        if (count > 1)
            drop_descriptor(tensor);
        tdc_dtype dtype = tdc_source_dtype(tensor);
        if (first)
            assembled->stored = dtype;
        first = false;
        assembled->mixed |= dtype != assembled->stored;
        bool adds = logical->term_count > 1 || logical->rounding != TDC_ROUND_NONE;
        if ((adds || assembled->mixed) && tdc_dtype_is_complex(dtype)) {
            memset(assembled->open + i + 1, 0, logical->part_count - i - 1);
            return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                            "%c: complex numbers of %s can be neither added nor rounded",
                            logical->letter, part->where);
        }
    }
    assembled->convert =
        assembled->mixed || logical->term_count > 1 || logical->rounding != TDC_ROUND_NONE;
    return TDC_OK;
}

/* ---- one box --------------------------------------------------------------------------------- */

static bool is_whole(const struct tdc_logical *logical, const struct tdc_logical_box *box)
{
    for (unsigned d = 0; d < logical->dimensions; d++)
        if (box->first[d] != 0 || box->extent[d] != logical->shape[d])
            return false;
    return true;
}

/* The tensor as it is stored. */
static bool is_identity(const struct tdc_logical *logical, const struct tdc_logical_part *part,
                        const struct tdc_tensor *tensor)
{
    if (logical->dimensions != tensor->dimensions)
        return false;
    for (unsigned d = 0; d < logical->dimensions; d++)
        if (part->stored[d] != (int8_t)d || part->steps[d] != 1 ||
            logical->shape[d] != tensor->shape[d])
            return false;
    return true;
}

/* A single box that is all of the tensor is a view of its part. */
static bool make_view(const struct tdc_logical *logical, const struct tdc_logical_part *map,
                      const struct tdc_tensor *part, struct tdc_tensor *view)
{
    if (logical->box_count != 1 || !is_whole(logical, &logical->boxes[0]))
        return false;
    *view = *part;
    if (is_identity(logical, map, part))
        return true;
    if (!tdc_part_is_plain(part) || logical->dimensions > TDC_MAX_DIMENSIONS)
        return false;
    view->dimensions = logical->dimensions;
    view->count = logical->count;
    for (unsigned d = 0; d < logical->dimensions; d++) {
        view->shape[d] = logical->shape[d];
        view->strides[d] =
            map->stored[d] >= 0 ? (int64_t)map->steps[d] * part->strides[map->stored[d]] : 0;
    }
    view->data +=
        tdc_part_offset(part, logical->boxes[0].base) * (int64_t)tdc_dtype_size(part->dtype);
    tdc_layout_dense(view);
    return true;
}

/* A tensor without elements. */
static void describe_empty(const struct tdc_logical *logical, struct tdc_tensor *tensor)
{
    *tensor = (struct tdc_tensor){.dtype = TDC_F32,
                                  .dense = true,
                                  .dimensions = logical->dimensions,
                                  .descriptor = -1,
                                  .map_size = SIZE_MAX};
    memcpy(tensor->shape, logical->shape, logical->dimensions * sizeof *logical->shape);
}

tdc_status tdc_logical_open(const struct tdc_logical *logical, struct tdc_tensor *tensor,
                            struct tdc_assembled **assembled, struct tdc_error *error)
{
    size_t count = 0;
    *assembled = NULL;
    if (logical->count == 0) {
        describe_empty(logical, tensor);
        return TDC_OK;
    }
    struct tdc_assembled *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->logical = logical;
        made->parts = calloc(logical->part_count + 1, sizeof *made->parts);
        made->open = calloc(logical->part_count + 1, sizeof *made->open);
    }
    if (made == NULL || made->parts == NULL || made->open == NULL) {
        if (made != NULL)
            tdc_assembled_close(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "%c: out of memory for %zu parts", logical->letter,
                        logical->part_count);
    }
    mark_in_use(logical, made->open, &count);
    tdc_status status = open_parts(made, count, error);
    if (status != TDC_OK) {
        tdc_assembled_close(made);
        return status;
    }
    const uint32_t only = logical->boxes[0].part;
    if (!made->convert && count == 1 &&
        make_view(logical, &logical->parts[only], &made->parts[only], tensor)) {
        made->open[only] = false; /* the view is closed in its place */
        tdc_assembled_close(made);
        return TDC_OK;
    }
    *tensor = (struct tdc_tensor){
        .dtype = made->convert ? TDC_F64 : made->stored,
        .dimensions = logical->dimensions,
        .count = logical->count,
        .descriptor = -1,
        .map_size = SIZE_MAX, /* parts were checked, each by itself */
        .assembled = made,
    };
    memcpy(tensor->shape, logical->shape, logical->dimensions * sizeof *logical->shape);
    *assembled = made;
    return TDC_OK;
}
