/*
 * torch_sums.h - sums of float32 numbers in the order in which torch adds them on a CPU.
 *
 * Sums in another order differ in their last digit, which the tables show. The order is that of
 * eight lanes (AVX2) and one thread: up to TDC_TORCH_ONE_THREAD elements torch uses no more.
 */
#ifndef TDC_HOST_TORCH_SUMS_H
#define TDC_HOST_TORCH_SUMS_H

#include "tdcmp.h"

#define TDC_TORCH_ONE_THREAD ((size_t)32768)

/* The sum, still to be rounded to the type. dtype is that of the tensor: 16-bit types are loaded
 * two registers at a time, all others count as float32. */
float tdc_torch_sum(const float *values, size_t count, tdc_dtype dtype);
/* The Euclidean norm. float16 is squared and added in float16, one after the other. */
float tdc_torch_norm(const float *values, size_t count, tdc_dtype dtype);

#endif
