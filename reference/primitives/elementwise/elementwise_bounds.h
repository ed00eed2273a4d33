/* elementwise_bounds.h - errors (reference/bounds.h) of elementwise functions and their slopes. */
#ifndef TDC_REFERENCE_ELEMENTWISE_BOUNDS_H
#define TDC_REFERENCE_ELEMENTWISE_BOUNDS_H

#include "reference/bounds.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"

/* The error of slope * by: what those of the two become, and the product's own. */
static inline double tdc_pulled_error(const tdc_evaluation *e, double slope, double slope_error,
                                      double by, double by_error)
{
    double error = tdc_error_times(slope, by_error) + tdc_error_times(by, slope_error);
    return slope != 0 && fabs(slope) != 1 ? error + tdc_own_error(e, TDC_BASIC, slope * by) : error;
}

void tdc_bound_unary(tdc_evaluation *e, enum tdc_unary function, const tdc_array *x, tdc_array *y,
                     const double p[3]);
/* g = slope * gradient */
void tdc_bound_unary_pull(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, tdc_array *y,
                          const double p[3], const tdc_array *gradient, tdc_array *g);

/* A block of a function of two operands: which is 0 for y, 1 for dy/da, 2 for dy/db. */
typedef void tdc_binary_block(double *out, const double *a, const double *b, size_t n, int which);
void tdc_bound_binary(tdc_evaluation *e, enum tdc_binary function, tdc_binary_block *block,
                      tdc_array *a, tdc_array *b, tdc_array *y);
void tdc_bound_binary_pull(tdc_evaluation *e, enum tdc_binary function, tdc_binary_block *block,
                           const tdc_array *a, const tdc_array *b, int side,
                           const tdc_array *gradient, tdc_array *g);

#endif
