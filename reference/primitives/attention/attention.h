/* attention.h - softmax(q k^T) v without the whole matrix of weights in memory. */
#ifndef TDC_REFERENCE_ATTENTION_H
#define TDC_REFERENCE_ATTENTION_H

#include "reference/evaluation.h"

/*
 * scores  = (q k^T + shift) * scale + bias, plus `hidden_term` where hidden or outside the band
 * weights = softmax(scores) * kept / keep
 *
 * q is [outer..., rows, depth]; k is [outer..., columns, depth] and v [outer..., columns, width],
 * except that their last outer dimension (heads) may be a divisor of q's: then successive heads of
 * q share one. shift, bias, hidden and kept broadcast to [outer..., rows, columns].
 */
struct tdc_attention {
    tdc_array *q, *k, *v;
    tdc_array *shift, *bias;  /* float64, NULL for none */
    tdc_array *hidden, *kept; /* bool, NULL for none */
    double scale, hidden_term, keep;
    bool banded; /* hidden where column > row + next or column < row - pre */
    double pre, next;
    bool safe; /* a row with nothing to see gives zeros, not NaN */
};

/* [outer..., rows, width]; *top and *total, when not NULL, get the rows' largest score and sum of
 * exponentials, [outer..., rows], without gradient. */
tdc_array *tdc_attend(tdc_evaluation *e, const struct tdc_attention *a, tdc_array **top,
                      tdc_array **total);

#endif
