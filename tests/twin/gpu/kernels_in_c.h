/* kernels_in_c.h - the kernels of kernels/gpu run by this processor, from the same text. */
#ifndef TDC_TESTS_KERNELS_IN_C_H
#define TDC_TESTS_KERNELS_IN_C_H

#include "kernels/gpu/pair_gpu.h"

/* All work items of one launch; `arguments` as clSetKernelArg and cuLaunchKernel take them: the
 * address of each. `kernel` counts as tdc_gpu_kernel_names does. */
void gpu_run_in_c(unsigned kernel, uint64_t items, void *const *arguments);

#endif
