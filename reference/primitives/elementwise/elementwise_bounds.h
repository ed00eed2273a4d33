/* elementwise_bounds.h - errors (reference/bounds.h) of elementwise functions and their slopes. */
#ifndef TDC_REFERENCE_ELEMENTWISE_BOUNDS_H
#define TDC_REFERENCE_ELEMENTWISE_BOUNDS_H

#include "reference/bounds.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"

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
