/* gemm.h - dense matrix products. */
#ifndef TDC_REFERENCE_GEMM_H
#define TDC_REFERENCE_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * c = op(a) op(b), c is [m, n], all dense and row-major; op(a) is [m, k], stored as [k, m] when
 * transpose_a, likewise b. Each element is summed over k in blocks of 256, in an order that depends
 * on nothing but k. Uses fused multiply-add where the CPU has it.
 */
void tdc_gemm(int64_t m, int64_t n, int64_t k, const double *a, bool transpose_a, const double *b,
              bool transpose_b, double *c);

#endif
