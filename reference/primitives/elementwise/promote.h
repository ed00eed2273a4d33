/* promote.h - operands of any dtype: promotion, conversion, exact integers, comparisons. */
#ifndef TDC_REFERENCE_PROMOTE_H
#define TDC_REFERENCE_PROMOTE_H

#include "reference/primitives/elementwise/binary.h"

/* Promotes by the frameworks' rules and computes exactly on integers. */
tdc_array *tdc_combine_any(tdc_evaluation *e, enum tdc_binary function, tdc_array *a, tdc_array *b);
tdc_array *tdc_combine_whole(tdc_evaluation *e, enum tdc_binary function, tdc_array *a,
                             tdc_array *b, tdc_dtype dtype);
tdc_dtype tdc_promoted(const tdc_array *a, const tdc_array *b);
int64_t tdc_wrap(int64_t v, tdc_dtype dtype);
/* Converts by value, with gradient between floating dtypes (rounded back to x's). */
tdc_array *tdc_convert(tdc_evaluation *e, tdc_array *x, tdc_dtype dtype);

enum tdc_comparison {
    TDC_EQ,
    TDC_NE,
    TDC_LT,
    TDC_LE,
    TDC_GT,
    TDC_GE
};
tdc_array *tdc_relate(tdc_evaluation *e, enum tdc_comparison how, tdc_array *a, tdc_array *b);
/* x != 0, as bool; NaN is true. */
tdc_array *tdc_truth(tdc_evaluation *e, tdc_array *x);

#endif
