/* kernel_list.h - the kernels there are, and which one serves a pair. */
#ifndef TDC_ASCEND_KERNEL_LIST_H
#define TDC_ASCEND_KERNEL_LIST_H

#include "kernels/ascend/tile_record.h"

#define TDC_ASCEND_KERNELS 10
/* The one that probes the arithmetic: behind those that serve pairs. */
#define TDC_ASCEND_PROBE TDC_ASCEND_KERNELS

extern const struct tdc_ascend_kernel_spec {
    const char *name; /* of the function and of its file */
    tdc_dtype n_dtype, b_dtype;
    enum tdc_relative_rule rule;
    size_t pairs; /* of a tile */
} tdc_ascend_kernels[TDC_ASCEND_KERNELS + 1];

/* The number of the kernel for a pair; -1: such pairs stay on the CPU. */
int tdc_ascend_kernel_for(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule);

#endif
