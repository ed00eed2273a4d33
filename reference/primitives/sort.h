/* sort.h - the order of elements. */
#ifndef TDC_REFERENCE_SORT_H
#define TDC_REFERENCE_SORT_H

#include "reference/evaluation.h"

/* Stable order of each row: int64 indices of the same shape; NaN last ascending, first
 * descending. */
tdc_array *tdc_order_rows(tdc_evaluation *e, tdc_array *rows, bool descending);

/* Compares two elements as numbers: NaN above everything. */
int tdc_compare_reals(double a, double b);

#endif
