/* factor_bounds.h - bounds (bounds.h) of decompositions and transforms, by norms. */
#ifndef TDC_REFERENCE_FACTOR_BOUNDS_H
#define TDC_REFERENCE_FACTOR_BOUNDS_H

#include "reference/evaluation.h"

/* Singular values or eigenvalues of x, by its norm; and their vectors [.., rows, columns], by the
 * norm over the distance to the next value. vectors may be NULL. */
void tdc_bound_values(tdc_evaluation *e, const tdc_array *x, tdc_array *values, tdc_array *vectors,
                      int64_t rows);
/* An orthogonal or triangular factor of x, by x's condition. */
void tdc_bound_factor(tdc_evaluation *e, const tdc_array *x, tdc_array *factor);
void tdc_bound_transform(tdc_evaluation *e, const tdc_array *x, tdc_array *y);

#endif
