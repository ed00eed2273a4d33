/* steps.h - functions of several operations in a narrow arithmetic, step by step. */
#ifndef TDC_REFERENCE_STEPS_H
#define TDC_REFERENCE_STEPS_H

#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"

/* f(x), or NULL when the function is one operation. No gradient is noted. */
tdc_array *tdc_unary_steps(tdc_evaluation *e, enum tdc_unary function, tdc_array *x,
                           const double p[3]);
/* dy/dx, or NULL when the slope takes one operation at most. */
tdc_array *tdc_slope_steps(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, tdc_array *y,
                           const double p[3]);
tdc_array *tdc_binary_steps(tdc_evaluation *e, enum tdc_binary function, tdc_array *a,
                            tdc_array *b);

#endif
