/* twins.c - whether replicas hold the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/logical/logical.h"
#include "host/engine/source.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* Elements that are compared at a time. */
#define COMPARED ((size_t)1 << 16)

struct comparing {
    const struct tdc_logical *logical;
    const struct tdc_logical_part *part, *twin_part;
    const struct tdc_tensor *tensor, *twin;
    unsigned char *first, *second; /* COMPARED elements each */
    bool widen;                    /* of two types */
    bool numbers;
    uint32_t index;      /* of the part, among those of the logical tensor */
    double worst;        /* -1: none so far; NaN counts as infinite */
    uint64_t worst_flat; /* first occurrence in the order of the logical axes */
    bool worst_nan;
};

static void note(struct comparing *comparing, double a, double b, uint64_t flat)
{
    bool nan = isnan(a) != isnan(b);
    double apart = a == b || (isnan(a) && isnan(b)) ? 0 : nan ? (double)INFINITY : fabs(a - b);
    if (apart > comparing->worst ||
        (apart == comparing->worst && apart > 0 && flat < comparing->worst_flat)) {
        comparing->worst = apart;
        comparing->worst_nan = nan;
        comparing->worst_flat = flat;
    }
}

/* Elements of a sub-box that lie dense in both buffers. */
static void compare_dense(struct comparing *comparing, const uint64_t *lo, const uint64_t *extent,
                          size_t count)
{
    const struct tdc_logical *logical = comparing->logical;
    tdc_dtype dtype = comparing->widen ? TDC_F64 : tdc_source_dtype(comparing->tensor);
    size_t size = tdc_dtype_size(dtype);
    if (memcmp(comparing->first, comparing->second, count * size) == 0) {
        comparing->worst = comparing->worst < 0 ? 0 : comparing->worst;
        return;
    }
    uint64_t index[TDC_LOGICAL_AXES] = {0};
    for (size_t i = 0; i < count; i++) {
        const unsigned char *a = comparing->first + i * size, *b = comparing->second + i * size;
        if (memcmp(a, b, size) != 0) {
            uint64_t flat = 0;
            double values[2];
            tdc_widen(dtype, a, 1, &values[0]);
            tdc_widen(dtype, b, 1, &values[1]);
            for (unsigned d = 0; d < logical->dimensions; d++)
                flat = flat * logical->shape[d] + lo[d] + index[d];
            note(comparing, values[0], values[1], flat);
        }
        for (unsigned d = logical->dimensions; d > 0 && ++index[d - 1] == extent[d - 1]; d--)
            index[d - 1] = 0;
    }
}

static void compare_sub_box(struct comparing *comparing, const struct tdc_logical_box *box,
                            const uint64_t *lo, const uint64_t *extent)
{
    const struct tdc_logical *logical = comparing->logical;
    int64_t ways[TDC_LOGICAL_AXES];
    size_t size =
        comparing->widen ? sizeof(double) : tdc_dtype_size(tdc_source_dtype(comparing->tensor));
    uint64_t count = 1;
    for (unsigned d = logical->dimensions; d-- > 0;) {
        ways[d] = (int64_t)(count * size);
        count *= extent[d];
    }
    comparing->numbers &= tdc_box_copy(logical, box, comparing->part, comparing->tensor, lo, extent,
                                       ways, comparing->widen, comparing->first) &&
                          tdc_box_copy(logical, box, comparing->twin_part, comparing->twin, lo,
                                       extent, ways, comparing->widen, comparing->second);
    if (comparing->numbers)
        compare_dense(comparing, lo, extent, (size_t)count);
}

/* A box in pieces that fit the buffers: halves of its longest axis until they do. */
static void compare_box(struct comparing *comparing, const struct tdc_logical_box *box,
                        const uint64_t *lo, const uint64_t *extent)
{
    const struct tdc_logical *logical = comparing->logical;
    uint64_t count = 1;
    unsigned longest = 0;
    for (unsigned d = 0; d < logical->dimensions; d++) {
        count *= extent[d];
        if (extent[d] > 1 && (extent[longest] <= 1 || longest == d))
            longest = d; /* the outermost: pieces stay in order */
    }
    if (count <= COMPARED) {
        compare_sub_box(comparing, box, lo, extent);
        return;
    }
    uint64_t part_lo[TDC_LOGICAL_AXES], part_extent[TDC_LOGICAL_AXES];
    memcpy(part_lo, lo, sizeof part_lo);
    memcpy(part_extent, extent, sizeof part_extent);
    part_extent[longest] = extent[longest] / 2;
    compare_box(comparing, box, part_lo, part_extent);
    part_lo[longest] += part_extent[longest];
    part_extent[longest] = extent[longest] - part_extent[longest];
    compare_box(comparing, box, part_lo, part_extent);
}

static void compare_parts(void *argument)
{
    struct comparing *comparing = argument;
    const struct tdc_logical *logical = comparing->logical;
    for (size_t i = 0; i < logical->box_count; i++) {
        const struct tdc_logical_box *box = &logical->boxes[i];
        uint64_t lo[TDC_LOGICAL_AXES] = {0}, extent[TDC_LOGICAL_AXES] = {0};
        if (box->part != comparing->index)
            continue;
        memcpy(lo, box->first, logical->dimensions * sizeof *lo);
        memcpy(extent, box->extent, logical->dimensions * sizeof *extent);
        compare_box(comparing, box, lo, extent);
    }
}

static void tell(const struct comparing *comparing, struct tdc_twin_finding *finding)
{
    const struct tdc_logical *logical = comparing->logical;
    uint64_t flat = comparing->worst_flat;
    finding->apart = true;
    finding->where = comparing->part->where;
    finding->twin = comparing->twin_part->where;
    finding->worst = comparing->worst_nan ? (double)NAN : comparing->worst;
    for (unsigned d = logical->dimensions; d-- > 0;) {
        finding->at[d] = flat % logical->shape[d];
        flat /= logical->shape[d];
    }
}

static tdc_status compare_twin(struct comparing *comparing, struct tdc_twin_finding *finding,
                               struct tdc_error *error)
{
    struct tdc_tensor tensor, twin;
    tdc_status status = comparing->part->open(comparing->part, &tensor, error);
    if (status != TDC_OK)
        return status;
    status = comparing->twin_part->open(comparing->twin_part, &twin, error);
    if (status == TDC_OK) {
        comparing->tensor = &tensor;
        comparing->twin = &twin;
        comparing->widen = tdc_source_dtype(&tensor) != tdc_source_dtype(&twin);
        comparing->numbers = true;
        comparing->worst = -1;
        if (!tdc_guarded_read(compare_parts, comparing))
            status = tdc_fail(error, TDC_ERR_CHANGED, "%s or %s: changed while being read",
                              comparing->part->where, comparing->twin_part->where);
        tdc_tensor_close(&twin);
    }
    tdc_tensor_close(&tensor);
    if (status == TDC_OK && (comparing->worst > comparing->logical->agree || comparing->worst_nan))
        tell(comparing, finding);
    return status;
}

tdc_status tdc_logical_check_twins(const struct tdc_logical *logical,
                                   struct tdc_twin_finding *finding, struct tdc_error *error)
{
    *finding = (struct tdc_twin_finding){0};
    if (logical->twin_count == 0)
        return TDC_OK;
    struct comparing comparing = {.logical = logical};
    comparing.first = malloc(2 * COMPARED * 16);
    if (comparing.first == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for replicas");
    comparing.second = comparing.first + COMPARED * 16;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < logical->twin_count && status == TDC_OK && !finding->apart; i++) {
        comparing.index = logical->twins[i].part;
        comparing.part = &logical->parts[logical->twins[i].part];
        comparing.twin_part = &logical->parts[logical->twins[i].twin];
        status = compare_twin(&comparing, finding, error);
    }
    free(comparing.first);
    return status;
}
