/* loss_reduction.h - what becomes of a loss's elements. */
#ifndef TDC_REFERENCE_LOSS_REDUCTION_H
#define TDC_REFERENCE_LOSS_REDUCTION_H

#include "reference/evaluation.h"

enum tdc_loss_reduction {
    TDC_LOSS_NONE,
    TDC_LOSS_MEAN,
    TDC_LOSS_SUM
};

/* The argument `reduction`: a word, or torch's number for it. */
enum tdc_loss_reduction tdc_loss_reduction(tdc_evaluation *e);
tdc_array *tdc_mean_all(tdc_evaluation *e, tdc_array *x);
void tdc_give_loss(tdc_evaluation *e, tdc_array *x);

#endif
