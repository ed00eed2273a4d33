/* binary.h - elementwise functions of two float64 operands, which broadcast. */
#ifndef TDC_REFERENCE_BINARY_H
#define TDC_REFERENCE_BINARY_H

#include "reference/evaluation.h"

enum tdc_binary {
    TDC_ADD,
    TDC_SUB,
    TDC_MUL,
    TDC_DIV,
    TDC_MAXIMUM,
    TDC_MINIMUM,
    TDC_ATAN2,
    TDC_POW,
    TDC_LOGADDEXP,
    TDC_XLOGY,
    TDC_REMAINDER,
    TDC_FMOD,
    TDC_FLOOR_DIV,
    TDC_TRUNC_DIV,
    TDC_HYPOT,
    TDC_COPYSIGN,
    TDC_PRELU, /* x > 0 ? x : w * x */
    TDC_BINARY_COUNT,
    /* integers only */
    TDC_AND = TDC_BINARY_COUNT,
    TDC_OR,
    TDC_XOR,
    TDC_SHIFT_LEFT,
    TDC_SHIFT_RIGHT
};
tdc_array *tdc_combine(tdc_evaluation *e, enum tdc_binary function, tdc_array *a, tdc_array *b);
tdc_array *tdc_add(tdc_evaluation *e, tdc_array *a, tdc_array *b);
tdc_array *tdc_sub(tdc_evaluation *e, tdc_array *a, tdc_array *b);
tdc_array *tdc_mul(tdc_evaluation *e, tdc_array *a, tdc_array *b);
tdc_array *tdc_div(tdc_evaluation *e, tdc_array *a, tdc_array *b);
/* condition (bool, integer) ? a : b */
tdc_array *tdc_select(tdc_evaluation *e, tdc_array *condition, tdc_array *a, tdc_array *b);

#endif
