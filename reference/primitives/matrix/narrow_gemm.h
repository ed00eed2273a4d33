/* narrow_gemm.h - matrix products in the arithmetic of an evaluation. */
#ifndef TDC_REFERENCE_NARROW_GEMM_H
#define TDC_REFERENCE_NARROW_GEMM_H

#include "reference/arithmetic.h"
#include "reference/primitives/matrix/gemm.h"

/* tdc_gemm, in a narrow arithmetic with float32 products and sums, k from first to last: the
 * result is what the accumulators hold, for the caller to round or to add to. */
typedef void tdc_multiply(int64_t m, int64_t n, int64_t k, struct tdc_matrix a, struct tdc_matrix b,
                          double *c, int64_t line, bool add);
tdc_multiply tdc_narrow_gemm;
static inline tdc_multiply *tdc_multiplication(const tdc_evaluation *e)
{
    return tdc_is_narrow(e) ? tdc_narrow_gemm : tdc_gemm;
}

#endif
