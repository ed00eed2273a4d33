/*
 * draw_pytorch.c - random inputs of PyTorch dumps: torch.rand and torch.randint after
 * manual_seed(1234), scaled to the recorded range, with its ends at the first and last element.
 *
 * msprobe draws all tensors of a run from one stream, so that a tensor depends on every one before
 * it. Here each starts the stream anew: the first tensor is msprobe's to the bit, the others are as
 * good, and no result depends on the order of the calls, on lanes or on where a run was resumed.
 */
#include <float.h>
#include <math.h>

#include "host/precheck/rebuild/rebuild.h"
#include "reference/twister.h"
#include "kernels/dtype.h"

#define SEED 1234u

static uint64_t two_words(struct tdc_twister *twister)
{
    uint64_t high = tdc_twister_word(twister);
    return high << 32 | tdc_twister_word(twister);
}

/* torch.rand of the dtype: short floats are drawn as float32. */
static double fraction(struct tdc_twister *twister, tdc_dtype dtype)
{
    if (dtype == TDC_F64)
        return (double)(two_words(twister) & 0x1fffffffffffffu) * 0x1p-53;
    return tdc_reference_round((double)(tdc_twister_word(twister) & 0xffffffu) * 0x1p-24, dtype);
}

static double inside(double bound, tdc_dtype dtype)
{
    return isinf(bound) ? copysign(tdc_dtype_largest(dtype), bound) : bound;
}

/* rand * range + low as torch computes it: short floats meet the factor as float32, the term in
 * their own dtype, and are rounded after each. */
static void fill_floating(struct tdc_reference_tensor *tensor, double low, double high)
{
    tdc_dtype dtype = tensor->dtype;
    struct tdc_twister twister;
    tdc_twister_seed(&twister, SEED);
    double bottom = inside(low, dtype), range = inside(high, dtype) - bottom;
    range = dtype == TDC_F64 ? range : (double)(float)range;
    bottom = tdc_reference_round(bottom, dtype);
    for (int64_t i = 0; i < tensor->count; i++) {
        double scaled = tdc_reference_round(fraction(&twister, dtype) * range, dtype);
        tensor->real[i] = tdc_reference_round(scaled + bottom, dtype);
    }
    tensor->real[0] = tdc_reference_round(low, dtype);
    tensor->real[tensor->count - 1] = tdc_reference_round(high, dtype);
}

/* All of one value that is not finite; the last slice takes the lowest one. */
static bool fill_infinite(struct tdc_rebuild *rebuild, struct tdc_reference_tensor *tensor,
                          double low, double high)
{
    for (int64_t i = 0; i < tensor->count; i++)
        tensor->real[i] = high;
    if (isnan(high))
        return true;
    if (tensor->rank == 0)
        return tdc_give_reason(rebuild->reason,
                               "index -1 is out of bounds for dimension 0 with size 0");
    int64_t slice = tensor->count / tensor->shape[0];
    for (int64_t i = tensor->count - slice; i < tensor->count; i++)
        tensor->real[i] = tdc_reference_round(low, tensor->dtype);
    return true;
}

static void fill_whole(struct tdc_reference_tensor *tensor, int64_t low, int64_t high)
{
    struct tdc_twister twister;
    tdc_twister_seed(&twister, SEED);
    bool truth = tensor->dtype == TDC_BOOL;
    if (truth && low > high) {
        int64_t other = low;
        low = high;
        high = other;
    }
    uint64_t range = (uint64_t)high - (uint64_t)low + 1;
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t word = range >> 32 != 0 ? two_words(&twister) : tdc_twister_word(&twister);
        int64_t drawn = (int64_t)((uint64_t)low + (range == 0 ? word : word % range));
        tensor->whole[i] = truth ? drawn > 0 : drawn;
    }
    if (!truth) {
        tensor->whole[0] = low;
        tensor->whole[tensor->count - 1] = high;
    }
}

static bool read_bound(const struct tdc_json *element, const char *name, double *bound)
{
    const struct tdc_json *json = tdc_json_get(element, name);
    if (json == NULL)
        return false;
    if (json->kind == TDC_JSON_TRUE || json->kind == TDC_JSON_FALSE)
        *bound = json->kind == TDC_JSON_TRUE;
    else
        *bound = json->number;
    return json->kind == TDC_JSON_INTEGER || json->kind == TDC_JSON_FLOAT ||
           json->kind == TDC_JSON_TRUE || json->kind == TDC_JSON_FALSE;
}

/* Whole bounds that every integer dtype's tensor can have. */
static bool whole_bounds(struct tdc_rebuild *rebuild, tdc_dtype dtype, double low, double high,
                         int64_t bounds[2])
{
    double least = dtype == TDC_BOOL ? -0x1p62 : -0x1p63;
    if (!(low >= least && low < 0x1p63 && high >= least && high < 0x1p63))
        return tdc_give_reason(rebuild->reason, "cannot convert float infinity to integer");
    bounds[0] = (int64_t)low;
    bounds[1] = (int64_t)high;
    if (dtype != TDC_BOOL && bounds[0] > bounds[1])
        return tdc_give_reason(rebuild->reason,
                               "random_ expects 'from' to be less than 'to', but got from=%lld >= "
                               "to=%lld",
                               (long long)bounds[0], (long long)bounds[1] + 1);
    return true;
}

bool tdc_draw_torch_tensor(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                           tdc_dtype dtype, struct tdc_reference_tensor **tensor)
{
    int64_t shape[TDC_REFERENCE_RANK], bounds[2] = {0, 0};
    unsigned rank;
    if (!tdc_drawn_shape(element, shape, &rank))
        return tdc_give_reason(rebuild->reason, "a tensor without a shape");
    *tensor = tdc_reference_tensor_new(rebuild->arena, dtype, rank, shape);
    if (*tensor == NULL)
        return tdc_give_reason(rebuild->reason, "the call needs more memory than a call may take");
    if ((*tensor)->count == 0)
        return true;
    double low = 0, high = 0;
    if (!read_bound(element, "Min", &low) || !read_bound(element, "Max", &high))
        return tdc_give_reason(rebuild->reason, "Min and Max must be int or float");
    if (element == rebuild->classes && low < 0)
        low = 0;
    if (!tdc_dtype_is_floating(dtype)) {
        if (!whole_bounds(rebuild, dtype, low, high, bounds))
            return false;
        fill_whole(*tensor, bounds[0], bounds[1]);
        return true;
    }
    if (isnan(high) || isinf(high))
        return fill_infinite(rebuild, *tensor, low, high);
    fill_floating(*tensor, low, high);
    return true;
}
