/* scan.h - running sums and products, softmax: rows whose elements depend on each other. */
#ifndef TDC_REFERENCE_SCAN_H
#define TDC_REFERENCE_SCAN_H

#include "reference/evaluation.h"

/* y = exp(x - max), y may be x; gives their sum. *top is the maximum, NaN when there is one. */
double tdc_exponentials(const tdc_evaluation *e, double *y, const double *x, int64_t n,
                        double *top);

tdc_array *tdc_cumulative_sum(tdc_evaluation *e, tdc_array *rows);
tdc_array *tdc_cumulative_product(tdc_evaluation *e, tdc_array *rows);
tdc_array *tdc_softmax_rows(tdc_evaluation *e, tdc_array *rows);
tdc_array *tdc_log_softmax_rows(tdc_evaluation *e, tdc_array *rows);

#endif
