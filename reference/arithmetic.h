/*
 * arithmetic.h - the same definitions in a narrower arithmetic: float32, float16 or bfloat16.
 *
 * A call says in which arithmetic it is computed (tdc_reference_call.arithmetic). Float64 is the
 * reference. In any other, every operation's result is rounded to that dtype before the next one
 * reads it, forward and backward:
 *
 *   - an operation is one of the four basic ones, a square root, or an elementary function (exp,
 *     log, tanh, erf, pow ...), which counts as correctly rounded. Functions made of several
 *     (sigmoid, gelu, softmax ...) and slopes of several operations are computed step by step.
 *   - a sum, mean, norm, running sum, matrix product, convolution or interpolation accumulates in
 *     float32, as devices do, and is rounded once at its end. A scattered sum rounds at each
 *     addition: it has no accumulator.
 *   - Python numbers take part as float32.
 *
 * The hook is tape.c: each primitive hands its result to tdc_note and its gradients to tdc_collect,
 * which round them. Only what accumulates, or does several operations at once, asks for more.
 */
#ifndef TDC_REFERENCE_ARITHMETIC_H
#define TDC_REFERENCE_ARITHMETIC_H

#include "reference/evaluation.h"

static inline bool tdc_is_narrow(const tdc_evaluation *e)
{
    return e->arithmetic != TDC_F64;
}

/* The result of one operation. */
static inline double tdc_step(const tdc_evaluation *e, double result)
{
    return tdc_is_narrow(e) ? tdc_reference_round(result, e->arithmetic) : result;
}

/* A partial result that stays in an accumulator. */
static inline double tdc_partial(const tdc_evaluation *e, double result)
{
    return tdc_is_narrow(e) ? (double)(float)result : result;
}

/* In place; elements that are exact already are not written. */
void tdc_round_array(const tdc_array *a, tdc_dtype dtype);
void tdc_round_elements(double *x, int64_t n, tdc_dtype dtype);

/* The results of one operation on n elements: after it, so that the operation's own loop is the
 * same in float64. */
static inline void tdc_steps(const tdc_evaluation *e, double *results, int64_t n)
{
    if (tdc_is_narrow(e))
        tdc_round_elements(results, n, e->arithmetic);
}

/* `a` itself when it is exact in the evaluation's dtype, else a rounded copy. */
tdc_array *tdc_rounded(tdc_evaluation *e, tdc_array *a);
/* slope * gradient with the slope rounded first; 0 where the slope is 0, whatever the gradient. */
tdc_array *tdc_slope_times(tdc_evaluation *e, tdc_array *slope, const tdc_array *gradient);
/* Sums of the last dimension over the divisor, with eight running float32 sums for each: a mean is
 * one operation, its sum stays in the accumulator. */
tdc_array *tdc_narrow_sums(tdc_evaluation *e, tdc_array *x, double divisor);
/* In the same way the sum of elements, of squares, and of products rounded to the dtype. */
double tdc_narrow_sum(const double *x, int64_t n);
double tdc_narrow_squares(const double *x, int64_t n);
double tdc_narrow_dot(const double *x, const double *y, int64_t n, tdc_dtype dtype);
#endif
