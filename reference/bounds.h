/*
 * bounds.h - how far a correct implementation may be from the reference, element by element.
 *
 * A call that asks for it (tdc_reference_call.bounds_for, the dtype of the tested result) carries
 * along with every floating array an array of errors: `error[i] * unit` is what a correct
 * implementation may be off there, to first order, before its last rounding to the result's dtype.
 * The unit is 2^-24, since float32, float16 and bfloat16 are all taken to accumulate in float32;
 * 2^-53 for float64. NULL is no error at all: copies, comparisons, extremes, relu. Their result is
 * the reference rounded, or wrong.
 *
 * Each primitive adds two things: what the errors of its inputs become, times the magnitude of its
 * derivative, and its own error:
 *
 *   basic operations (+ - * / sqrt)         2 |y|          one correct rounding and some room
 *   elementary functions (exp, tanh, ...)   8 |y|          and more where they lose more:
 *                                                          unary_bounds.c has the table
 *   sums of n terms, products, convolutions (4 + sqrt(n)) * sum of the terms' magnitudes
 *   functions of several operations         those of their steps (steps.c)
 *
 * Where a framework rounds results between the operations to the tested 16-bit dtype, each
 * operation adds `step` |y| as well, one rounding to that dtype; tdc_bound_rules (bound_rules.c)
 * says which operators do that, forward and backward. What is rounded at each addition, whoever
 * does it (scattered sums), says so itself by `narrow`, the size of one such rounding.
 *
 * A new primitive: after its value is there, and if tdc_is_bounded(e), set y->error and y->bounded
 * before tdc_note; or nothing, when it is made of other primitives. A pull does the same for what
 * it gives to tdc_collect. What sets nothing gets a crude bound by the largest element.
 * tdc_quietly makes errors with the primitives themselves: within it nothing is tracked or bounded.
 */
#ifndef TDC_REFERENCE_BOUNDS_H
#define TDC_REFERENCE_BOUNDS_H

#include <math.h>

#include "reference/evaluation.h"

#define TDC_BASIC      2.0
#define TDC_ELEMENTARY 8.0
#define TDC_SUM_BASE   4.0

static inline bool tdc_is_bounded(const tdc_evaluation *e)
{
    return e->bounds.on;
}

/* Of n terms that are accumulated, times the sum of their magnitudes. */
static inline double tdc_sum_weight(double n)
{
    return n <= 1 ? 0 : TDC_SUM_BASE + sqrt(n);
}

/* On top of it, times the magnitude of the result, for products: equal terms added one after the
 * other are rounded the same way each time, by an eighth of a unit on average in the worst runs. */
static inline double tdc_chain_weight(double n)
{
    return n <= 1 ? 0 : n / 4;
}

/* On top of it where sums are kept in the tested dtype. */
static inline double tdc_narrow_sum_weight(const tdc_evaluation *e, double n)
{
    return n <= 1 || e->bounds.sums == 0 ? 0 : e->bounds.sums * (2 + sqrt(n));
}

/* Where terms are added one after the other and are alike, as those of a mean's gradient are, the
 * roundings go the same way. `passed` is the sum of the magnitudes of the partial sums; never more
 * is lost than all the terms, where bfloat16 stops growing. */
static inline double tdc_drift(const tdc_evaluation *e, double passed, double magnitude)
{
    double lost = e->bounds.sums * passed, all = magnitude / e->bounds.unit;
    return lost < all ? lost : all;
}

/* coefficient * error, where an infinite one does not spoil a zero. */
static inline double tdc_error_times(double coefficient, double error)
{
    return coefficient == 0 || error == 0 ? 0 : fabs(coefficient) * error;
}

static inline double tdc_error_at(const tdc_array *a, int64_t i)
{
    return a->error == NULL ? 0 : a->error[i];
}

/* An operation's own error at a result y: its weight, and one more rounding to the tested dtype
 * where the framework rounds. The smallest float16 have few bits. */
static inline double tdc_own_error(const tdc_evaluation *e, double weight, double y)
{
    return y == 0 ? 0 : (weight + e->bounds.step) * fabs(y) + e->bounds.quantum;
}

void tdc_bounds_start(tdc_evaluation *e, const struct tdc_reference_call *call, bool backward);

/* y is exact, or all that can be said of its errors was said. */
static inline void tdc_bound_exactly(tdc_array *y)
{
    y->bounded = true;
}
/* An array of errors for y, not set yet. */
double *tdc_new_errors(tdc_evaluation *e, tdc_array *y);
/* y's elements are x's in the same order. */
static inline void tdc_bound_as(tdc_array *y, const tdc_array *x)
{
    y->error = x->error;
    y->bounded = true;
}
/* y was a Python number or whole: it may be rounded to the tested dtype before it is used. */
void tdc_bound_given(tdc_evaluation *e, tdc_array *y);
/* For what has no bound of its own: relative to the largest element, and to what the inputs'
 * errors are relative to theirs. */
void tdc_bound_crudely(tdc_evaluation *e, tdc_array *y, size_t input_count,
                       tdc_array *const *inputs);

/* x's errors as an array without any of its own, of x's shape; NULL when there are none. */
tdc_array *tdc_error_array(tdc_evaluation *e, const tdc_array *x);
/* Arrays without errors of their own: |x|, and factor * |x| + x's errors. */
tdc_array *tdc_absolute(tdc_evaluation *e, const tdc_array *x);
tdc_array *tdc_magnitudes(tdc_evaluation *e, const tdc_array *x, double factor);
/* y's errors are that array's elements; NULL: none. */
void tdc_bound_by(tdc_array *y, const tdc_array *errors);

/* Nothing between the two is tracked or bounded. */
struct tdc_quiet {
    bool recording, bounding;
};
static inline struct tdc_quiet tdc_quietly(tdc_evaluation *e)
{
    struct tdc_quiet before = {e->recording, e->bounds.on};
    e->recording = false;
    e->bounds.on = false;
    return before;
}
static inline void tdc_as_before(tdc_evaluation *e, struct tdc_quiet before)
{
    e->recording = before.recording;
    e->bounds.on = before.bounding;
}

/* Scattered sums: to's errors get what `from` brings to the places of map (negative: nowhere),
 * on top of what is there. Before the values are added. */
void tdc_bound_scattered(tdc_evaluation *e, tdc_array *to, const tdc_array *from,
                         const int64_t *map);

/* ---- the rules of the frameworks (bound_rules.c) --------------------------------------------- */

/* How many roundings to a 16-bit dtype each operation counts for: 0 where the kernel keeps float32
 * until its end. */
double tdc_bound_rules(const struct tdc_operator *definition, bool backward);
/* The gradients of weight and bias are summed one by one: in what units, of float32 or `narrow`
 * ones; 0: they are not. */
double tdc_chained_sums(const struct tdc_operator *definition, double narrow);

#endif
