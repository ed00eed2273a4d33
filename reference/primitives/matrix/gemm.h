/* gemm.h - dense matrix products. */
#ifndef TDC_REFERENCE_GEMM_H
#define TDC_REFERENCE_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/primitives/matrix/panels.h"

/*
 * c = a b, or c += a b when `add`; a is [m, k], b [k, n], c's rows are `line` apart. Each element
 * is summed over k in blocks of 256, in an order that depends on nothing but k: the same bits on
 * every machine and with any number of threads. From 20,000 multiplications on products and sums
 * are fused, below each is rounded. Uses all threads for large products, none inside a parallel
 * region.
 */
void tdc_gemm(int64_t m, int64_t n, int64_t k, struct tdc_matrix a, struct tdc_matrix b, double *c,
              int64_t line, bool add);

/* `count` products of dense row-major matrices one after the other in memory, c = a b; transposed
 * operands are stored as [k, m] and [n, k]. */
void tdc_gemm_batch(int64_t count, int64_t m, int64_t n, int64_t k, const double *a,
                    bool transposed_a, const double *b, bool transposed_b, double *c);

/* What the products are made with: "avx512", "avx2", "neon" or "plain". */
const char *tdc_gemm_variant(void);

#endif
