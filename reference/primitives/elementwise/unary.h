/*
 * unary.h - elementwise functions of one operand; the table is in unary_functions.c. Each computes
 * a new array and notes its derivative.
 */
#ifndef TDC_REFERENCE_UNARY_H
#define TDC_REFERENCE_UNARY_H

#include "reference/evaluation.h"

enum tdc_unary {
    TDC_SCALE, /* p0 * x */
    TDC_SHIFT, /* x + p0 */
    TDC_ABS,
    TDC_SIN,
    TDC_COS,
    TDC_TAN,
    TDC_ASIN,
    TDC_ACOS,
    TDC_ATAN,
    TDC_SINH,
    TDC_COSH,
    TDC_TANH,
    TDC_ASINH,
    TDC_ACOSH,
    TDC_ATANH,
    TDC_EXP,
    TDC_EXPM1,
    TDC_EXP2,
    TDC_LOG,
    TDC_LOG1P,
    TDC_LOG2,
    TDC_LOG10,
    TDC_SQRT,
    TDC_RSQRT,
    TDC_RECIPROCAL,
    TDC_SQUARE,
    TDC_ERF,
    TDC_ERFC,
    TDC_ERFINV,
    TDC_SINC,
    TDC_SIGMOID,
    TDC_RELU,
    TDC_CEIL,
    TDC_FLOOR,
    TDC_ROUND,
    TDC_TRUNC,
    TDC_SIGN,
    TDC_FRAC,
    TDC_GELU,
    TDC_GELU_TANH,
    TDC_FAST_GELU,
    TDC_SILU,
    TDC_LEAKY_RELU, /* p0 slope */
    TDC_SOFTPLUS,   /* p0 beta, p1 threshold */
    TDC_ELU,        /* p0 alpha, p1 scale, p2 factor inside the exponential */
    TDC_MISH,
    TDC_HARDSHRINK,
    TDC_SOFTSHRINK, /* p0 lambda */
    TDC_HARDSIGMOID,
    TDC_HARDSWISH,
    TDC_LOGSIGMOID,
    TDC_SOFTSIGN,
    TDC_TANHSHRINK,
    TDC_HARDTANH,  /* p0 lowest, p1 highest; no gradient at the bounds */
    TDC_CLAMP,     /* p0 lowest, p1 highest; gradient at the bounds */
    TDC_THRESHOLD, /* p0 threshold, p1 value */
    TDC_POWER,     /* x to the p0 */
    TDC_LOGIT,
    TDC_LGAMMA,
    TDC_DIGAMMA,
    TDC_I0,
    TDC_NAN_TO_NUM, /* p0 nan, p1 +inf, p2 -inf */
    TDC_UNARY_COUNT
};
struct tdc_unary_function {
    void (*apply)(double *y, const double *x, size_t n, const double *p);
    /* dy/dx; NULL: zero everywhere */
    void (*slope)(double *d, const double *x, const double *y, size_t n, const double *p);
};
extern const struct tdc_unary_function tdc_unary_functions[TDC_UNARY_COUNT];

tdc_array *tdc_apply(tdc_evaluation *e, enum tdc_unary function, tdc_array *x);
tdc_array *tdc_apply_with(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, double p0,
                          double p1, double p2);
tdc_array *tdc_scale(tdc_evaluation *e, tdc_array *x, double factor);
tdc_array *tdc_shift(tdc_evaluation *e, tdc_array *x, double term);

#endif
