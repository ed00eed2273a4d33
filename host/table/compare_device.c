/* compare_device.c - tensors that live on a device, by the relative errors of a rule set. */
#include "host/engine/device/tensors.h"
#include "host/judge/rules.h"
#include "io/base/sized.h"

tdc_status tdc_compare_device(tdc_device *device, const void *n, tdc_dtype n_dtype, const void *b,
                              tdc_dtype b_dtype, uint64_t count, tdc_rules_id rules, void *stream,
                              struct tdc_device_sums *sums, size_t size, struct tdc_error *error)
{
    struct tdc_device_sums whole;
    struct tdc_tensors_work work = {
        .device = device, .n = n, .b = b, .count = count, .stream = stream, .out = &whole};
    tdc_status status =
        tdc_tensors_compare(&work, n_dtype, b_dtype, tdc_rules_of(rules)->relative, error);
    if (status != TDC_OK)
        whole = (struct tdc_device_sums){0};
    tdc_sized_give(sums, size, &whole, sizeof whole);
    return status;
}
