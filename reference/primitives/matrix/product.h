/* product.h - matrix products and inverses with their derivatives. */
#ifndef TDC_REFERENCE_PRODUCT_H
#define TDC_REFERENCE_PRODUCT_H

#include "reference/evaluation.h"

/* [batch, m, k] x [batch, k, n]; a transposed operand has its last two dimensions swapped. Two
 * integer operands give integers, exact and wrapping. */
tdc_array *tdc_batch_product(tdc_evaluation *e, tdc_array *a, tdc_array *b, bool transpose_a,
                             bool transpose_b);
/* The frameworks' matmul on any ranks. */
tdc_array *tdc_matmul(tdc_evaluation *e, tdc_array *a, tdc_array *b);
tdc_array *tdc_inverse(tdc_evaluation *e, tdc_array *x);
/* x W^T + b */
tdc_array *tdc_linear(tdc_evaluation *e, tdc_array *x, tdc_array *weight, tdc_array *bias);

#endif
