/*
 * Functions of several operations and the slopes that take several, one operation at a time: each
 * call of a primitive rounds. Nothing here is noted, the caller does that for the whole.
 */
#include "reference/primitives/elementwise/steps.h"

#include <math.h>

#include "reference/primitives/elementwise/promote.h"

typedef tdc_array *steps(tdc_evaluation *e, tdc_array *x, tdc_array *y, const double p[3]);
#define STEPS(name)                                                                                \
    static tdc_array *name(tdc_evaluation *e, tdc_array *x, tdc_array *y, const double *p)
#define UNUSED                                                                                     \
    (void)x;                                                                                       \
    (void)y;                                                                                       \
    (void)p

static tdc_array *square(tdc_evaluation *e, tdc_array *x)
{
    return tdc_apply(e, TDC_SQUARE, x);
}

static tdc_array *inverse(tdc_evaluation *e, tdc_array *x)
{
    return tdc_apply(e, TDC_RECIPROCAL, x);
}

static tdc_array *negative(tdc_evaluation *e, tdc_array *x)
{
    return tdc_scale(e, x, -1);
}

static tdc_array *one_minus(tdc_evaluation *e, tdc_array *x)
{
    return tdc_shift(e, negative(e, x), 1);
}

static tdc_array *one_plus(tdc_evaluation *e, tdc_array *x)
{
    return tdc_shift(e, x, 1);
}

/* 1 / (1 + exp(-factor x)) */
static tdc_array *logistic(tdc_evaluation *e, tdc_array *x, double factor)
{
    return inverse(e, one_plus(e, tdc_apply(e, TDC_EXP, tdc_scale(e, x, -factor))));
}

/* log(1 + exp(x)) */
static tdc_array *soft_maximum(tdc_evaluation *e, tdc_array *x)
{
    return tdc_apply(e, TDC_LOG1P, tdc_apply(e, TDC_EXP, x));
}

/* x > bound ? above : below */
static tdc_array *where_above(tdc_evaluation *e, tdc_array *x, double bound, tdc_array *above,
                              tdc_array *below)
{
    return tdc_select(e, tdc_relate(e, TDC_GT, x, tdc_number(e, bound)), above, below);
}

/* ---- values ---------------------------------------------------------------------------------- */

STEPS(sigmoid)
{
    UNUSED;
    return logistic(e, x, 1);
}

STEPS(silu)
{
    UNUSED;
    return tdc_mul(e, x, logistic(e, x, 1));
}

STEPS(fast_gelu)
{
    UNUSED;
    return tdc_mul(e, x, logistic(e, x, 1.702));
}

STEPS(sinc)
{
    UNUSED;
    tdc_array *angle = tdc_scale(e, x, 3.141592653589793238463);
    tdc_array *zero = tdc_relate(e, TDC_EQ, x, tdc_number(e, 0));
    return tdc_select(e, zero, tdc_number(e, 1), tdc_div(e, tdc_apply(e, TDC_SIN, angle), angle));
}

/* (1 + erf(x / sqrt(2))) / 2 */
static tdc_array *normal_share(tdc_evaluation *e, tdc_array *x)
{
    tdc_array *error = tdc_apply(e, TDC_ERF, tdc_scale(e, x, 0.707106781186547524401));
    return tdc_scale(e, one_plus(e, error), 0.5);
}

STEPS(gelu)
{
    UNUSED;
    return tdc_mul(e, x, normal_share(e, x));
}

/* tanh(k (x + 0.044715 x^3)) */
static tdc_array *gelu_angle(tdc_evaluation *e, tdc_array *x)
{
    tdc_array *cube = tdc_scale(e, tdc_mul(e, square(e, x), x), 0.044715);
    return tdc_apply(e, TDC_TANH, tdc_scale(e, tdc_add(e, x, cube), 0.797884560802865355880));
}

STEPS(gelu_tanh)
{
    UNUSED;
    return tdc_mul(e, tdc_scale(e, x, 0.5), one_plus(e, gelu_angle(e, x)));
}

STEPS(softplus)
{
    UNUSED;
    tdc_array *scaled = tdc_scale(e, x, p[0]);
    tdc_array *soft = tdc_scale(e, soft_maximum(e, scaled), 1 / p[0]);
    return where_above(e, scaled, p[1], x, soft);
}

STEPS(elu)
{
    UNUSED;
    tdc_array *low = tdc_apply(e, TDC_EXPM1, tdc_scale(e, x, p[2]));
    return tdc_scale(e, where_above(e, x, 0, x, tdc_scale(e, low, p[0])), p[1]);
}

/* tanh(log(1 + exp(x))); the exponential of a narrow dtype overflows early */
static tdc_array *mish_factor(tdc_evaluation *e, tdc_array *x)
{
    return tdc_apply(e, TDC_TANH, where_above(e, x, 20, x, soft_maximum(e, x)));
}

STEPS(mish)
{
    UNUSED;
    return tdc_mul(e, x, mish_factor(e, x));
}

STEPS(hardsigmoid)
{
    UNUSED;
    return tdc_scale(e, tdc_apply_with(e, TDC_CLAMP, tdc_shift(e, x, 3), 0, 6, 0), 1.0 / 6);
}

STEPS(hardswish)
{
    return tdc_mul(e, x, hardsigmoid(e, x, y, p));
}

STEPS(logsigmoid)
{
    UNUSED;
    tdc_array *soft = soft_maximum(e, negative(e, tdc_apply(e, TDC_ABS, x)));
    return tdc_sub(e, where_above(e, x, 0, tdc_number(e, 0), x), soft);
}

STEPS(softsign)
{
    UNUSED;
    return tdc_div(e, x, one_plus(e, tdc_apply(e, TDC_ABS, x)));
}

STEPS(tanhshrink)
{
    UNUSED;
    return tdc_sub(e, x, tdc_apply(e, TDC_TANH, x));
}

STEPS(logit)
{
    UNUSED;
    return tdc_apply(e, TDC_LOG, tdc_div(e, x, one_minus(e, x)));
}

/* ---- slopes ---------------------------------------------------------------------------------- */

STEPS(tan_slope)
{
    UNUSED;
    return one_plus(e, square(e, y));
}

STEPS(asin_slope)
{
    UNUSED;
    return tdc_apply(e, TDC_RSQRT, one_minus(e, square(e, x)));
}

STEPS(acos_slope)
{
    return negative(e, asin_slope(e, x, y, p));
}

STEPS(atan_slope)
{
    UNUSED;
    return inverse(e, one_plus(e, square(e, x)));
}

STEPS(tanh_slope)
{
    UNUSED;
    return one_minus(e, square(e, y));
}

STEPS(asinh_slope)
{
    UNUSED;
    return tdc_apply(e, TDC_RSQRT, one_plus(e, square(e, x)));
}

STEPS(acosh_slope)
{
    UNUSED;
    return tdc_apply(e, TDC_RSQRT, tdc_shift(e, square(e, x), -1));
}

STEPS(atanh_slope)
{
    UNUSED;
    return inverse(e, one_minus(e, square(e, x)));
}

STEPS(log1p_slope)
{
    UNUSED;
    return inverse(e, one_plus(e, x));
}

STEPS(log2_slope)
{
    UNUSED;
    return inverse(e, tdc_scale(e, x, 0.693147180559945309417));
}

STEPS(log10_slope)
{
    UNUSED;
    return inverse(e, tdc_scale(e, x, 2.302585092994045684018));
}

STEPS(rsqrt_slope)
{
    UNUSED;
    return tdc_scale(e, tdc_mul(e, square(e, y), y), -0.5);
}

STEPS(erf_slope)
{
    UNUSED;
    return tdc_scale(e, tdc_apply(e, TDC_EXP, negative(e, square(e, x))), 1.128379167095512573896);
}

STEPS(erfc_slope)
{
    return negative(e, erf_slope(e, x, y, p));
}

STEPS(erfinv_slope)
{
    UNUSED;
    return tdc_scale(e, tdc_apply(e, TDC_EXP, square(e, y)), 0.886226925452758013649);
}

STEPS(sinc_slope)
{
    UNUSED;
    tdc_array *wave = tdc_apply(e, TDC_COS, tdc_scale(e, x, 3.141592653589793238463));
    tdc_array *zero = tdc_relate(e, TDC_EQ, x, tdc_number(e, 0));
    return tdc_select(e, zero, tdc_number(e, 0), tdc_div(e, tdc_sub(e, wave, y), x));
}

STEPS(sigmoid_slope)
{
    UNUSED;
    return tdc_mul(e, y, one_minus(e, y));
}

/* s (1 + factor x (1 - s)) */
static tdc_array *swish_slope(tdc_evaluation *e, tdc_array *x, double factor)
{
    tdc_array *s = logistic(e, x, factor);
    return tdc_mul(e, s, one_plus(e, tdc_mul(e, tdc_scale(e, x, factor), one_minus(e, s))));
}

STEPS(silu_slope)
{
    UNUSED;
    return swish_slope(e, x, 1);
}

STEPS(fast_gelu_slope)
{
    UNUSED;
    return swish_slope(e, x, 1.702);
}

STEPS(gelu_slope)
{
    UNUSED;
    tdc_array *density = tdc_apply(e, TDC_EXP, tdc_scale(e, square(e, x), -0.5));
    density = tdc_scale(e, density, 0.398942280401432677940);
    return tdc_add(e, normal_share(e, x), tdc_mul(e, x, density));
}

STEPS(gelu_tanh_slope)
{
    UNUSED;
    tdc_array *t = gelu_angle(e, x);
    tdc_array *inner =
        tdc_scale(e, one_plus(e, tdc_scale(e, square(e, x), 0.134145)), 0.797884560802865355880);
    tdc_array *rise = tdc_mul(e, tdc_scale(e, x, 0.5), one_minus(e, square(e, t)));
    return tdc_add(e, tdc_scale(e, one_plus(e, t), 0.5), tdc_mul(e, rise, inner));
}

STEPS(softplus_slope)
{
    UNUSED;
    tdc_array *scaled = tdc_scale(e, x, p[0]);
    return where_above(e, scaled, p[1], tdc_number(e, 1), logistic(e, scaled, 1));
}

STEPS(elu_slope)
{
    UNUSED;
    tdc_array *low = tdc_scale(e, tdc_apply(e, TDC_EXP, tdc_scale(e, x, p[2])), p[0] * p[2]);
    return tdc_scale(e, where_above(e, x, 0, tdc_number(e, 1), low), p[1]);
}

STEPS(mish_slope)
{
    UNUSED;
    tdc_array *t = mish_factor(e, x);
    tdc_array *rise = tdc_mul(e, one_minus(e, square(e, t)), logistic(e, x, 1));
    return tdc_add(e, t, tdc_mul(e, x, rise));
}

STEPS(hardswish_slope)
{
    UNUSED;
    tdc_array *slope = tdc_shift(e, tdc_scale(e, x, 1.0 / 3), 0.5);
    tdc_array *inside = where_above(e, x, -3, slope, tdc_number(e, 0));
    tdc_array *rises = tdc_relate(e, TDC_GE, x, tdc_number(e, 3));
    return tdc_select(e, rises, tdc_number(e, 1), inside);
}

STEPS(logsigmoid_slope)
{
    UNUSED;
    return logistic(e, x, -1);
}

STEPS(softsign_slope)
{
    UNUSED;
    return inverse(e, square(e, one_plus(e, tdc_apply(e, TDC_ABS, x))));
}

STEPS(tanhshrink_slope)
{
    UNUSED;
    return square(e, tdc_apply(e, TDC_TANH, x));
}

STEPS(logit_slope)
{
    UNUSED;
    tdc_array *slope = inverse(e, tdc_mul(e, x, one_minus(e, x))),
              *none = tdc_number(e, (double)NAN);
    tdc_array *below = tdc_relate(e, TDC_LT, x, tdc_number(e, 0));
    return where_above(e, x, 1, none, tdc_select(e, below, none, slope));
}

static const struct {
    steps *value, *slope;
} functions[TDC_UNARY_COUNT] = {
    [TDC_TAN] = {NULL, tan_slope},
    [TDC_ASIN] = {NULL, asin_slope},
    [TDC_ACOS] = {NULL, acos_slope},
    [TDC_ATAN] = {NULL, atan_slope},
    [TDC_TANH] = {NULL, tanh_slope},
    [TDC_ASINH] = {NULL, asinh_slope},
    [TDC_ACOSH] = {NULL, acosh_slope},
    [TDC_ATANH] = {NULL, atanh_slope},
    [TDC_LOG1P] = {NULL, log1p_slope},
    [TDC_LOG2] = {NULL, log2_slope},
    [TDC_LOG10] = {NULL, log10_slope},
    [TDC_RSQRT] = {NULL, rsqrt_slope},
    [TDC_ERF] = {NULL, erf_slope},
    [TDC_ERFC] = {NULL, erfc_slope},
    [TDC_ERFINV] = {NULL, erfinv_slope},
    [TDC_SINC] = {sinc, sinc_slope},
    [TDC_SIGMOID] = {sigmoid, sigmoid_slope},
    [TDC_GELU] = {gelu, gelu_slope},
    [TDC_GELU_TANH] = {gelu_tanh, gelu_tanh_slope},
    [TDC_FAST_GELU] = {fast_gelu, fast_gelu_slope},
    [TDC_SILU] = {silu, silu_slope},
    [TDC_SOFTPLUS] = {softplus, softplus_slope},
    [TDC_ELU] = {elu, elu_slope},
    [TDC_MISH] = {mish, mish_slope},
    [TDC_HARDSIGMOID] = {hardsigmoid, NULL},
    [TDC_HARDSWISH] = {hardswish, hardswish_slope},
    [TDC_LOGSIGMOID] = {logsigmoid, logsigmoid_slope},
    [TDC_SOFTSIGN] = {softsign, softsign_slope},
    [TDC_TANHSHRINK] = {tanhshrink, tanhshrink_slope},
    [TDC_LOGIT] = {logit, logit_slope},
};

tdc_array *tdc_unary_steps(tdc_evaluation *e, enum tdc_unary function, tdc_array *x,
                           const double p[3])
{
    steps *result = functions[function].value;
    return result == NULL ? NULL : result(e, tdc_constant(e, x), NULL, p);
}

tdc_array *tdc_slope_steps(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, tdc_array *y,
                           const double p[3])
{
    steps *slope = functions[function].slope;
    return slope == NULL ? NULL : slope(e, tdc_constant(e, x), tdc_constant(e, y), p);
}

tdc_array *tdc_binary_steps(tdc_evaluation *e, enum tdc_binary function, tdc_array *a, tdc_array *b)
{
    a = tdc_constant(e, a);
    b = tdc_constant(e, b);
    if (function == TDC_LOGADDEXP) {
        tdc_array *apart = negative(e, tdc_apply(e, TDC_ABS, tdc_sub(e, a, b)));
        return tdc_add(e, tdc_combine(e, TDC_MAXIMUM, a, b), soft_maximum(e, apart));
    }
    if (function == TDC_XLOGY) {
        tdc_array *zero = tdc_relate(e, TDC_EQ, a, tdc_number(e, 0));
        tdc_array *nothing = tdc_select(e, tdc_relate(e, TDC_EQ, b, b), tdc_number(e, 0), b);
        return tdc_select(e, zero, nothing, tdc_mul(e, a, tdc_apply(e, TDC_LOG, b)));
    }
    return NULL;
}
