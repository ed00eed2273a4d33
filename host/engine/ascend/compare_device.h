/* compare_device.h - tensors that live on the device, by one of the rules for relative errors. */
#ifndef TDC_ASCEND_COMPARE_DEVICE_H
#define TDC_ASCEND_COMPARE_DEVICE_H

#include "kernels/pair.h"

/* tdc_compare_device; *sums is 0 at first. */
tdc_status tdc_ascend_compare(tdc_device *device, const void *n, tdc_dtype n_dtype, const void *b,
                              tdc_dtype b_dtype, uint64_t count, enum tdc_relative_rule rule,
                              void *stream, struct tdc_device_sums *sums, struct tdc_error *error);

#endif
