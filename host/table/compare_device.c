/* compare_device.c - tensors on a device, by the rules of a table. */
#include "host/engine/ascend/compare_device.h"
#include "host/judge/rules.h"
#include "io/base/error.h"
#include "io/base/sized.h"

tdc_status tdc_compare_device(tdc_device *device, const void *n, tdc_dtype n_dtype, const void *b,
                              tdc_dtype b_dtype, uint64_t count, tdc_rules_id rules, void *stream,
                              struct tdc_device_sums *sums, size_t size, struct tdc_error *error)
{
    struct tdc_device_sums whole = {0};
    tdc_sized_give(sums, size, &whole, sizeof whole);
    if (rules == TDC_RULES_NONE)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "a comparison without rules");
    tdc_status status = tdc_ascend_compare(device, n, n_dtype, b, b_dtype, count,
                                           tdc_rules_of(rules)->relative, stream, &whole, error);
    if (status == TDC_OK)
        tdc_sized_give(sums, size, &whole, sizeof whole);
    return status;
}
