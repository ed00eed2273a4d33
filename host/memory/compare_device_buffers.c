/* compare_device_buffers.c - two tensors that lie on a device as a table of one row. */
#include <string.h>

#include "host/api/options.h"
#include "host/engine/device/tensors.h"
#include "host/memory/buffer.h"
#include "io/base/error.h"
#include "io/base/sized.h"

static bool same_shape(const struct tdc_tensor *n, const struct tdc_tensor *b)
{
    return n->dimensions == b->dimensions &&
           memcmp(n->shape, b->shape, n->dimensions * sizeof *n->shape) == 0;
}

static tdc_status take(const struct tdc_buffer *n, const struct tdc_buffer *b,
                       struct tdc_memory_pair *pair, struct tdc_error *error)
{
    tdc_status status = tdc_buffer_take(n, "n", &pair->n, error);
    if (status == TDC_OK)
        status = tdc_buffer_take(b, "b", &pair->b, error);
    if (status != TDC_OK)
        return status;
    if (!pair->n.dense || !pair->b.dense || !same_shape(&pair->n, &pair->b) || pair->n.count < 2)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                        "on a device only dense tensors of one shape are compared");
    return TDC_OK;
}

/* The elements at a place that the pass found. */
static bool fetch(struct tdc_tensors_work *work, uint64_t at, struct tdc_element *n,
                  struct tdc_element *b)
{
    unsigned char *const *staged_n = work->device->n, *const *staged_b = work->device->b;
    bool sent = work->device->calls->copy(work, staged_n[0], staged_b[0], at, 1);
    if (!work->device->calls->copied(work) || !sent)
        return false;
    memcpy(n->bytes, staged_n[0], work->n_size);
    memcpy(b->bytes, staged_b[0], work->b_size);
    return true;
}

static tdc_status fill_outcome(struct tdc_tensors_work *work, struct tdc_memory_pair *pair,
                               struct tdc_error *error)
{
    struct tdc_outcome *outcome = &pair->outcome;
    const struct tdc_pair_sums *sums = &work->total;
    if (sums->finite != sums->count || !tdc_pair_squares_hold(&work->plan, sums))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                        "the tensors hold NaN, infinity or numbers near the ends of float64");
    *outcome = (struct tdc_outcome){
        .code = TDC_OUTCOME_COMPARED,
        .n_dtype = pair->n.dtype,
        .b_dtype = pair->b.dtype,
        .n_dimensions = pair->n.dimensions,
        .b_dimensions = pair->b.dimensions,
        .count = pair->n.count,
        .b_count = pair->b.count,
        .bytes = pair->n.count * (work->n_size + work->b_size),
        .sums = *sums,
    };
    tdc_pair_plain_norms(sums, &outcome->norms);
    if (fetch(work, sums->abs_at, &outcome->abs_n, &outcome->abs_b) &&
        fetch(work, sums->rel_at, &outcome->rel_n, &outcome->rel_b))
        return TDC_OK;
    char text[600];
    work->device->calls->describe(work->failure, text, sizeof text);
    return tdc_fail(error, TDC_ERR_DEVICE, "%s", text);
}

static tdc_status compare(tdc_device *device, struct tdc_memory_pair *pair, void *stream,
                          struct tdc_difference *whole, struct tdc_error *error)
{
    struct tdc_device_sums sums;
    struct tdc_tensors_work work = {.device = device,
                                    .n = pair->n.data,
                                    .b = pair->b.data,
                                    .count = pair->n.count,
                                    .stream = stream,
                                    .out = &sums};
    tdc_status status =
        tdc_tensors_compare(&work, pair->n.dtype, pair->b.dtype, pair->rules->relative, error);
    if (status == TDC_OK)
        status = fill_outcome(&work, pair, error);
    if (status != TDC_OK)
        return status;
    return tdc_memory_judge(pair, whole) ? TDC_OK
                                         : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

tdc_status tdc_compare_device_buffers(tdc_device *device, const struct tdc_buffer *n,
                                      const struct tdc_buffer *b, const struct tdc_options *options,
                                      void *stream, struct tdc_difference *difference, size_t size,
                                      struct tdc_error *error)
{
    struct tdc_difference whole = {0};
    struct tdc_memory_pair pair = {0};
    struct tdc_options read;
    tdc_sized_give(difference, size, &whole, sizeof whole);
    tdc_status status = tdc_options_read(options, &read, error);
    if (status == TDC_OK)
        status = take(n, b, &pair, error);
    if (status != TDC_OK)
        return status;
    pair.rules = tdc_rules_of(read.rules);
    status = compare(device, &pair, stream, &whole, error);
    if (status == TDC_OK)
        tdc_sized_give(difference, size, &whole, sizeof whole);
    return status;
}
