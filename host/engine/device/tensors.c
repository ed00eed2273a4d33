/* tensors.c - see tensors.h. */
#include "host/engine/device/tensors.h"

#include <string.h>

#include "io/base/error.h"

tdc_status tdc_device_new(tdc_device **device, struct tdc_error *error)
{
    return tdc_ascend_tensors_new(device, error);
}

tdc_status tdc_device_of(const char *family, tdc_device **device, struct tdc_error *error)
{
    *device = NULL;
    if (strcmp(family, "ascend") == 0)
        return tdc_ascend_tensors_new(device, error);
    if (strcmp(family, "cuda") == 0)
        return tdc_cuda_tensors_new(device, error);
    return tdc_fail(error, TDC_ERR_ARGUMENT, "no tensors are compared on devices of %.40s", family);
}

void tdc_device_free(tdc_device *device)
{
    if (device != NULL)
        device->free(device);
}

tdc_status tdc_tensors_plan(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule,
                            uint64_t count, struct tdc_pair_plan *plan, struct tdc_error *error)
{
    if (!tdc_pair_plan_make(n_dtype, b_dtype, rule, tdc_cpu_variant_chosen(), plan))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "no arithmetic for %s and %s",
                        tdc_dtype_name(n_dtype), tdc_dtype_name(b_dtype));
    plan->extremes = true;
    if (count > UINT64_MAX / 16)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%llu elements are too many",
                        (unsigned long long)count);
    return TDC_OK;
}

void tdc_tensors_publish(const struct tdc_pair_sums *sums, struct tdc_device_sums *out)
{
    uint64_t tiles = out->tiles, rescued = out->rescued;
    *out = (struct tdc_device_sums){
        .count = sums->count,
        .finite = sums->finite,
        .nb = sums->nb,
        .nn = sums->nn,
        .bb = sums->bb,
        .dd = sums->dd,
        .n = sums->n,
        .b = sums->b,
        .abs = sums->abs,
        .n_min = sums->n_min,
        .n_max = sums->n_max,
        .b_min = sums->b_min,
        .b_max = sums->b_max,
        .abs_max = sums->abs_max,
        .rel_max = sums->rel_max,
        .abs_at = sums->abs_at,
        .rel_at = sums->rel_at,
        .below_thousandth = sums->below[0],
        .below_five_thousandths = sums->below[1],
        .n_nan = sums->n_nan,
        .b_nan = sums->b_nan,
        .n_inf = sums->n_inf,
        .b_inf = sums->b_inf,
        .tiles = tiles,
        .rescued = rescued,
    };
}
