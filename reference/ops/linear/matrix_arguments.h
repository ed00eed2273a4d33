/* matrix_arguments.h - arguments that must be batches of matrices. */
#ifndef TDC_REFERENCE_MATRIX_ARGUMENTS_H
#define TDC_REFERENCE_MATRIX_ARGUMENTS_H

#include "reference/arguments.h"

/* As float64; refused when it has less than two dimensions. */
tdc_array *tdc_matrix_argument(tdc_evaluation *e, const char *name);
/* The same for square matrices. */
tdc_array *tdc_square_argument(tdc_evaluation *e, const char *name);

#endif
