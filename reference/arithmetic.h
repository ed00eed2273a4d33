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
 *   - a sum, mean, norm, running sum or matrix product accumulates in float32, as devices do, and
 * is rounded once at its end. A scattered sum rounds at each addition: it has no accumulator.
 *   - Python numbers take part as float32.
 *
 * The hook is tape.c: each primitive hands its result to tdc_note and its gradients to tdc_collect,
 * which round them. Only what accumulates, or does several operations at once, asks for more.
 */
#ifndef TDC_REFERENCE_ARITHMETIC_H
#define TDC_REFERENCE_ARITHMETIC_H

#include "reference/primitives/attention.h"
#include "reference/primitives/primitives.h"
#include "reference/primitives/windows.h"

static inline bool tdc_is_narrow(const evaluation *e)
{
    return e->arithmetic != TDC_F64;
}

/* The result of one operation. */
static inline double tdc_step(const evaluation *e, double result)
{
    return tdc_is_narrow(e) ? tdc_reference_round(result, e->arithmetic) : result;
}

/* A partial result that stays in an accumulator. */
static inline double tdc_partial(const evaluation *e, double result)
{
    return tdc_is_narrow(e) ? (double)(float)result : result;
}

/* In place; elements that are exact already are not written. */
void tdc_round_array(const array *a, tdc_dtype dtype);
/* `a` itself when it is exact in the evaluation's dtype, else a rounded copy. */
array *tdc_rounded(evaluation *e, array *a);
/* slope * gradient with the slope rounded first; 0 where the slope is 0, whatever the gradient. */
array *tdc_slope_times(evaluation *e, array *slope, const array *gradient);
/* Sums of the last dimension over the divisor, with eight running float32 sums for each: a mean is
 * one operation, its sum stays in the accumulator. */
array *tdc_narrow_sums(evaluation *e, array *x, double divisor);
/* The sum of the squares, in the same way. */
double tdc_narrow_squares(const double *x, int64_t n);
/* y = op(a) op(b), batches of matrices, with float32 products and sums, first to last. */
void tdc_narrow_product(evaluation *e, const array *a, bool transpose_a, const array *b,
                        bool transpose_b, array *y);

/* ---- functions of several operations, step by step (steps.c) --------------------------------- */

/* f(x), or NULL when the function is one operation. No gradient is noted. */
array *tdc_unary_steps(evaluation *e, enum tdc_unary function, array *x, const double p[3]);
/* dy/dx, or NULL when the slope takes one operation at most. */
array *tdc_slope_steps(evaluation *e, enum tdc_unary function, array *x, array *y,
                       const double p[3]);
array *tdc_binary_steps(evaluation *e, enum tdc_binary function, array *a, array *b);

/* ---- fused primitives out of smaller ones (fused_steps.c) -------------------------------------
 */

array *tdc_convolve_steps(evaluation *e, array *x, array *weight, const struct tdc_windows *w,
                          int64_t groups);
array *tdc_convolve_back_steps(evaluation *e, array *x, array *weight, const struct tdc_windows *w,
                               int64_t groups);
array *tdc_attend_steps(evaluation *e, const struct tdc_attention *a, array **top, array **total);

#endif
