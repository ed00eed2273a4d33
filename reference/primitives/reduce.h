/* reduce.h - sums, products, extremes and norms along dimensions. */
#ifndef TDC_REFERENCE_REDUCE_H
#define TDC_REFERENCE_REDUCE_H

#include "reference/arithmetic.h"

/* x with the reduced dimensions last and merged into one: shape [kept ..., inner]. */
tdc_array *tdc_rows(tdc_evaluation *e, tdc_array *x, const bool *reduced);
/* A result with one element per row, given the shape that reducing x leaves. */
tdc_array *tdc_reduced_shape(tdc_evaluation *e, tdc_array *y, const tdc_array *x,
                             const bool *reduced, bool keepdim);
/* Sums of the last dimension: shape without it. Pairwise; integers exactly. */
tdc_array *tdc_sum_rows(tdc_evaluation *e, tdc_array *x);
/* Sums of one stretch of neighbouring dimensions that are not the last (column_sums.c). */
bool tdc_is_column_sum(const tdc_array *x, const bool *reduced);
tdc_array *tdc_column_sums(tdc_evaluation *e, tdc_array *x, const bool *reduced);
tdc_array *tdc_product_rows(tdc_evaluation *e, tdc_array *x);
tdc_array *tdc_sum(tdc_evaluation *e, tdc_array *x, const bool *reduced, bool keepdim);
tdc_array *tdc_mean(tdc_evaluation *e, tdc_array *x, const bool *reduced, bool keepdim);
tdc_array *tdc_sum_all(tdc_evaluation *e, tdc_array *x);
tdc_array *tdc_sum_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, bool keepdim);
tdc_array *tdc_mean_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, bool keepdim);
/* Index of the extreme of each row (int64 array, shape without the last dim); the first of equals,
 * NaN wins. */
tdc_array *tdc_extreme_index(tdc_evaluation *e, tdc_array *rows, bool largest);
/* rows[..., index]: index has one element per row, or `width` per row when its rank is equal. */
tdc_array *tdc_pick(tdc_evaluation *e, tdc_array *rows, tdc_array *index);
/* Extremes of rows with the gradient shared among equals. */
tdc_array *tdc_extreme_shared(tdc_evaluation *e, tdc_array *rows, bool largest);
/* p-norms of the last dimension, p also infinite or 0 (norm.c). */
tdc_array *tdc_norm_rows(tdc_evaluation *e, tdc_array *rows, double p);
double tdc_pairwise_sum(const double *x, int64_t n, int64_t stride);
double tdc_pairwise_dot(const double *x, const double *y, int64_t n);
/* Pairwise in float64. */
static inline double tdc_row_sum(const tdc_evaluation *e, const double *x, int64_t n)
{
    return tdc_is_narrow(e) ? tdc_narrow_sum(x, n) : tdc_pairwise_sum(x, n, 1);
}

#endif
