/* tensors.h - tensors that live on a device: what a family gives for tdc_compare_device. */
#ifndef TDC_DEVICE_TENSORS_H
#define TDC_DEVICE_TENSORS_H

#include "kernels/pair.h"

/* The first member of a family's own object. */
struct tdc_device {
    void (*free)(struct tdc_device *device);
    /* As tdc_compare_device, with the rule for relative errors. */
    tdc_status (*compare)(struct tdc_device *device, const void *n, tdc_dtype n_dtype,
                          const void *b, tdc_dtype b_dtype, uint64_t count,
                          enum tdc_relative_rule rule, void *stream, struct tdc_device_sums *sums,
                          struct tdc_error *error);
};

/* In the current context of the thread; see tdc_device_of. */
tdc_status tdc_ascend_tensors_new(tdc_device **device, struct tdc_error *error);
tdc_status tdc_cuda_tensors_new(tdc_device **device, struct tdc_error *error);

/* A plan with the extremes for `count` elements, or an error. */
tdc_status tdc_tensors_plan(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule,
                            uint64_t count, struct tdc_pair_plan *plan, struct tdc_error *error);

/* All of *out but tiles and rescued, which stay. */
void tdc_tensors_publish(const struct tdc_pair_sums *sums, struct tdc_device_sums *out);

#endif
