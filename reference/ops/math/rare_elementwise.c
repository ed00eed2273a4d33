/* Elementwise functions that are compositions of others. */
#include <math.h>
#include <stdlib.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* The larger or smaller, a number before NaN. */
static void extreme_number(tdc_evaluation *e)
{
    tdc_array *a = tdc_array_argument(e, "input"), *b = tdc_array_argument(e, "other");
    tdc_array *p = tdc_select(e, tdc_relate(e, TDC_NE, a, a), b, a);
    tdc_array *q = tdc_select(e, tdc_relate(e, TDC_NE, b, b), a, b);
    tdc_give(e, tdc_combine_any(e, e->definition->variant != 0 ? TDC_MAXIMUM : TDC_MINIMUM, p, q));
}

static void heaviside(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *at_zero = tdc_array_argument(e, "other");
    tdc_array *zero = tdc_number(e, 0);
    tdc_array *step = tdc_to_real(e, tdc_relate(e, TDC_GT, x, zero));
    tdc_array *y = tdc_select(e, tdc_relate(e, TDC_EQ, x, zero), tdc_to_real(e, at_zero), step);
    y = tdc_select(e, tdc_relate(e, TDC_NE, x, x), tdc_to_real(e, x), y);
    tdc_give(e, tdc_convert(e, y, tdc_promoted(x, at_zero)));
}

#define LOG_2 0.693147180559945309417

static void log_add_exp_2(tdc_evaluation *e)
{
    tdc_array *a = tdc_scale(e, tdc_array_argument(e, "input"), LOG_2);
    tdc_array *b = tdc_scale(e, tdc_array_argument(e, "other"), LOG_2);
    tdc_give(e, tdc_scale(e, tdc_combine(e, TDC_LOGADDEXP, a, b), 1 / LOG_2));
}

static void ldexp_of(tdc_evaluation *e)
{
    tdc_array *power = tdc_apply(e, TDC_EXP2, tdc_array_argument(e, "other"));
    tdc_give(e, tdc_mul(e, tdc_array_argument(e, "input"), power));
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* gcd, or with variant 1 the least common multiple */
static void common(tdc_evaluation *e)
{
    tdc_array *a = tdc_array_argument(e, "input"), *b = tdc_array_argument(e, "other");
    tdc_dtype dtype = tdc_promoted(a, b);
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    if (tdc_dtype_is_floating(dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "not defined for floating tensors");
    tdc_broadcast_shape(e, a, b, &rank, shape);
    a = tdc_expand(e, tdc_convert(e, a, dtype), rank, shape);
    b = tdc_expand(e, tdc_convert(e, b, dtype), rank, shape);
    tdc_array *y = tdc_new(e, dtype, rank, shape);
    for (int64_t i = 0; i < y->count; i++) {
        uint64_t p = magnitude(a->whole[i]), q = magnitude(b->whole[i]), d = divisor_of(p, q);
        uint64_t result = e->definition->variant == 0 ? d : d == 0 ? 0 : p / d * q;
        y->whole[i] = tdc_wrap((int64_t)result, dtype);
    }
    tdc_give(e, y);
}

/* Of a real number: 0, or pi when it is negative. */
static void angle(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    tdc_array *below = tdc_relate(e, TDC_LT, x, tdc_number(e, 0));
    tdc_array *y = tdc_scale(e, tdc_to_real(e, below), 3.141592653589793238463);
    tdc_array *strange = tdc_relate(e, TDC_NE, x, x);
    /* a gradient of zero reaches x */
    tdc_give(e, tdc_select(e, strange, x, tdc_add(e, y, tdc_scale(e, tdc_constant(e, x), 0))));
}

static void add_relu(tdc_evaluation *e)
{
    tdc_array *b =
        tdc_combine_any(e, TDC_MUL, tdc_array_argument(e, "other"), tdc_array_argument(e, "alpha"));
    tdc_array *y = tdc_combine_any(e, TDC_ADD, tdc_array_argument(e, "input"), b);
    tdc_give(e, tdc_apply(e, TDC_RELU, y));
}

/* Slices along dim whose norm is larger than maxnorm are shortened to it. */
static void renorm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    bool reduced[TDC_REFERENCE_RANK] = {false};
    int64_t shape[TDC_REFERENCE_RANK];
    for (unsigned d = 0; d < x->rank; d++) {
        reduced[d] = d != dim;
        shape[d] = d == dim ? x->shape[d] : 1;
    }
    double limit = tdc_real_argument(e, "maxnorm");
    tdc_array *norm = tdc_norm_rows(e, tdc_rows(e, x, reduced), tdc_real_argument(e, "p"));
    tdc_array *factor = tdc_div(e, tdc_number(e, limit), tdc_shift(e, norm, 1e-7));
    tdc_array *long_ones = tdc_relate(e, TDC_GT, norm, tdc_number(e, limit));
    factor = tdc_select(e, long_ones, factor, tdc_number(e, 1));
    tdc_give(e, tdc_mul(e, x, tdc_reshape(e, factor, x->rank, shape)));
}

#define METHODS TDC_IN_METHODS
#define TWO     "input, other"
static const struct tdc_operator rows[] = {
    {"fmax", METHODS, TWO, extreme_number, 1, 0},
    {"fmin", METHODS, TWO, extreme_number, 0, 0},
    {"heaviside", METHODS, "input, other", heaviside, 0, TDC_NO_GRADIENT},
    {"logaddexp2", METHODS, TWO, log_add_exp_2, 0, 0},
    {"ldexp", METHODS, TWO, ldexp_of, 0, 0},
    {"gcd", METHODS, TWO, common, 0, TDC_NO_GRADIENT},
    {"lcm", METHODS, TWO, common, 1, TDC_NO_GRADIENT},
    {"angle", METHODS, "input", angle, 0, 0},
    {"_add_relu", TDC_IN_TORCH, "input, other, *, alpha=1", add_relu, 0, 0},
    {"renorm", METHODS, "input, p, dim, maxnorm", renorm, 0, 0},
};
const struct tdc_operator_family tdc_rare_family = TDC_FAMILY("elementwise, rarer", rows);
