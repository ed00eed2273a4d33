/* The elementwise functions and their slopes, a block of at most TDC_BLOCK elements at a time. */

#include <math.h>

#include "reference/primitives/elementwise/special.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/vector/vector_math.h"

#define UNUSED                                                                                     \
    (void)x;                                                                                       \
    (void)p
#define FUNCTION(name) static void name(double *y, const double *x, size_t n, const double *p)
#define SLOPE(name)                                                                                \
    static void name##_slope(double *d, const double *x, const double *y, size_t n, const double *p)
#define EACH(expression)                                                                           \
    for (size_t i = 0; i < n; i++)                                                                 \
        y[i] = (expression);                                                                       \
    UNUSED
#define EACH_SLOPE(expression)                                                                     \
    for (size_t i = 0; i < n; i++)                                                                 \
        d[i] = (expression);                                                                       \
    (void)y;                                                                                       \
    UNUSED
/* y = f(x) by a plain expression, with its slope */
#define PLAIN(name, expression, slope)                                                             \
    FUNCTION(name)                                                                                 \
    {                                                                                              \
        EACH(expression);                                                                          \
    }                                                                                              \
    SLOPE(name)                                                                                    \
    {                                                                                              \
        EACH_SLOPE(slope);                                                                         \
    }
/* y = f(x) by SLEEF, with its slope by a plain expression */
#define VECTOR(name, function, slope)                                                              \
    FUNCTION(name)                                                                                 \
    {                                                                                              \
        function(y, x, n);                                                                         \
        UNUSED;                                                                                    \
    }                                                                                              \
    SLOPE(name)                                                                                    \
    {                                                                                              \
        EACH_SLOPE(slope);                                                                         \
    }

PLAIN(scale, p[0] * x[i], p[0])
PLAIN(shift, x[i] + p[0], 1.0)
PLAIN(absolute, fabs(x[i]), (double)((x[i] > 0) - (x[i] < 0)))
PLAIN(square_root, sqrt(x[i]), 0.5 / y[i])
PLAIN(inverse_root, 1 / sqrt(x[i]), -0.5 * (y[i] * y[i] * y[i]))
PLAIN(reciprocal, 1 / x[i], -(y[i] * y[i]))
PLAIN(square, x[i] * x[i], 2 * x[i])
PLAIN(relu, x[i] <= 0 ? 0.0 : x[i], x[i] <= 0 ? 0.0 : 1.0)
PLAIN(fraction, x[i] - trunc(x[i]), 1.0)
PLAIN(leaky_relu, x[i] > 0 ? x[i] : p[0] * x[i], x[i] > 0 ? 1.0 : p[0])
PLAIN(hardshrink, x[i] >= -p[0] && x[i] <= p[0] ? 0.0 : x[i], fabs(x[i]) > p[0] ? 1.0 : 0.0)
PLAIN(softshrink,
      x[i] > p[0]    ? x[i] - p[0]
      : x[i] < -p[0] ? x[i] + p[0]
                     : 0 * x[i],
      fabs(x[i]) > p[0] ? 1.0 : 0.0)
PLAIN(hardsigmoid, isnan(x[i]) ? x[i] : fmin(fmax(x[i] + 3, 0), 6) / 6,
      x[i] > -3 && x[i] < 3 ? 1.0 / 6 : 0.0)
PLAIN(hardswish, isnan(x[i]) ? x[i] : x[i] * fmin(fmax(x[i] + 3, 0), 6) / 6,
      x[i] <= -3 ? 0.0
      : x[i] < 3 ? x[i] / 3 + 0.5
                 : 1.0)
PLAIN(softsign, x[i] / (1 + fabs(x[i])), 1 / ((1 + fabs(x[i])) * (1 + fabs(x[i]))))
PLAIN(hardtanh, x[i]<p[0] ? p[0] : x[i]> p[1] ? p[1] : x[i], x[i] > p[0] && x[i] < p[1] ? 1.0 : 0.0)
PLAIN(clamp,
      p[0] > p[1] && !isnan(x[i]) ? p[1]
      : x[i] < p[0]               ? p[0]
      : x[i] > p[1]               ? p[1]
                                  : x[i],
      x[i] >= p[0] && x[i] <= p[1] ? 1.0 : 0.0)
PLAIN(threshold, x[i] <= p[0] ? p[1] : x[i], x[i] <= p[0] ? 0.0 : 1.0)
PLAIN(nan_to_num,
      isnan(x[i])   ? p[0]
      : isinf(x[i]) ? (x[i] > 0 ? p[1] : p[2])
                    : x[i],
      isfinite(x[i]) ? 1.0 : 0.0)
PLAIN(inverse_erf, tdc_erfinv(x[i]), 0.886226925452758013649 * tdc_exp(y[i] * y[i]))
PLAIN(digamma, tdc_digamma(x[i]), tdc_trigamma(x[i]))
PLAIN(bessel_i0, tdc_bessel_i0(x[i]), tdc_bessel_i1(x[i]))

FUNCTION(ceiling)
{
    EACH(ceil(x[i]));
}
FUNCTION(floored)
{
    EACH(floor(x[i]));
}
FUNCTION(rounded)
{
    EACH(rint(x[i]));
}
FUNCTION(truncated)
{
    EACH(trunc(x[i]));
}
FUNCTION(signs)
{
    EACH((double)((x[i] > 0) - (x[i] < 0)));
}

VECTOR(tangent, tdc_vtan, 1 + y[i] * y[i])
VECTOR(arc_sine, tdc_vasin, 1 / sqrt(1 - x[i] * x[i]))
VECTOR(arc_cosine, tdc_vacos, -1 / sqrt(1 - x[i] * x[i]))
VECTOR(arc_tangent, tdc_vatan, 1 / (1 + x[i] * x[i]))
VECTOR(hyperbolic_tangent, tdc_vtanh, 1 - y[i] * y[i])

/* SLEEF's overflow from about 1e150 on; there log(2 |x|) differs from both by less than 1e-300. */
static void area_of_large(double *y, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i]) > 1e150 && (x[i] > 0 || y[i] < 0))
            y[i] = copysign(tdc_log(fabs(x[i])) + 0.693147180559945309417, x[i]);
}
FUNCTION(area_sine)
{
    tdc_vasinh(y, x, n);
    area_of_large(y, x, n);
    UNUSED;
}
SLOPE(area_sine)
{
    EACH_SLOPE(1 / sqrt(x[i] * x[i] + 1));
}
FUNCTION(area_cosine)
{
    tdc_vacosh(y, x, n);
    area_of_large(y, x, n);
    UNUSED;
}
SLOPE(area_cosine)
{
    EACH_SLOPE(1 / sqrt(x[i] * x[i] - 1));
}
VECTOR(area_tangent, tdc_vatanh, 1 / (1 - x[i] * x[i]))
VECTOR(exponential, tdc_vexp, y[i])
VECTOR(exponential_m1, tdc_vexpm1, y[i] + 1)
VECTOR(exponential_2, tdc_vexp2, y[i] * 0.693147180559945309417)
VECTOR(logarithm, tdc_vlog, 1 / x[i])
VECTOR(logarithm_1p, tdc_vlog1p, 1 / (1 + x[i]))
VECTOR(logarithm_2, tdc_vlog2, 1 / (x[i] * 0.693147180559945309417))
VECTOR(logarithm_10, tdc_vlog10, 1 / (x[i] * 2.302585092994045684018))
VECTOR(log_gamma, tdc_vlgamma, tdc_digamma(x[i]))

/* Slopes that are SLEEF's functions themselves. */
#define VECTOR_BOTH(name, function, slope, sign)                                                   \
    FUNCTION(name)                                                                                 \
    {                                                                                              \
        function(y, x, n);                                                                         \
        UNUSED;                                                                                    \
    }                                                                                              \
    SLOPE(name)                                                                                    \
    {                                                                                              \
        slope(d, x, n);                                                                            \
        EACH_SLOPE(sign d[i]);                                                                     \
    }
VECTOR_BOTH(sine, tdc_vsin, tdc_vcos, +)
VECTOR_BOTH(cosine, tdc_vcos, tdc_vsin, -)
VECTOR_BOTH(hyperbolic_sine, tdc_vsinh, tdc_vcosh, +)
VECTOR_BOTH(hyperbolic_cosine, tdc_vcosh, tdc_vsinh, +)

/* 2 / sqrt(pi) * exp(-x*x) */
static void erf_density(double *d, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        d[i] = -(x[i] * x[i]);
    tdc_vexp(d, d, n);
    for (size_t i = 0; i < n; i++)
        d[i] *= 1.128379167095512573896;
}
VECTOR_BOTH(error_function, tdc_verf, erf_density, +)
VECTOR_BOTH(error_complement, tdc_verfc, erf_density, -)

/* 1 / (1 + exp(-factor * x)) */
static void logistic(double *y, const double *x, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        y[i] = -factor * x[i];
    tdc_vexp(y, y, n);
    for (size_t i = 0; i < n; i++)
        y[i] = 1 / (1 + y[i]);
}

FUNCTION(sigmoid)
{
    logistic(y, x, n, 1);
    (void)p;
}
SLOPE(sigmoid)
{
    EACH_SLOPE(y[i] * (1 - y[i]));
}
FUNCTION(silu)
{
    logistic(y, x, n, 1);
    EACH(x[i] * y[i]);
}
SLOPE(silu)
{
    logistic(d, x, n, 1);
    EACH_SLOPE(d[i] * (1 + x[i] * (1 - d[i])));
}
FUNCTION(fast_gelu)
{
    logistic(y, x, n, 1.702);
    EACH(x[i] * y[i]);
}
SLOPE(fast_gelu)
{
    logistic(d, x, n, 1.702);
    EACH_SLOPE(d[i] + 1.702 * x[i] * d[i] * (1 - d[i]));
}

FUNCTION(sinc)
{
    tdc_vsinpi(y, x, n);
    EACH(x[i] == 0 ? 1.0 : y[i] / (x[i] * 3.141592653589793238463));
}
/* cos(pi x) - sinc(x) cancels near 0: there a series in (pi x)^2, its first left-out term is below
 * 2^-60 of the sum for |x| < 1/4. */
static double sinc_slope_near_zero(double x)
{
    double q = -9.869604401089358618834 * x * x, sum = 0;
    for (int k = 9; k >= 1; k--) { /* 2 k / (2 k + 1)! from the smallest on */
        double term = 2.0 * k;
        for (int j = 2; j <= 2 * k + 1; j++)
            term /= j;
        sum = sum * q + term;
    }
    return -9.869604401089358618834 * x * sum;
}
SLOPE(sinc)
{
    tdc_vcospi(d, x, n);
    EACH_SLOPE(fabs(x[i]) < 0.25 ? sinc_slope_near_zero(x[i]) : (d[i] - y[i]) / x[i]);
}

FUNCTION(gelu)
{
    for (size_t i = 0; i < n; i++)
        y[i] = -x[i] * 0.707106781186547524401;
    tdc_verfc(y, y, n); /* erfc keeps the small values of the left tail */
    EACH(0.5 * x[i] * y[i]);
}
SLOPE(gelu)
{
    double density[TDC_BLOCK] = {0};
    for (size_t i = 0; i < n; i++) {
        density[i] = -0.5 * x[i] * x[i];
        d[i] = -x[i] * 0.707106781186547524401;
    }
    tdc_vexp(density, density, n);
    tdc_verfc(d, d, n);
    EACH_SLOPE(0.5 * d[i] + x[i] * density[i] * 0.398942280401432677940);
}
FUNCTION(gelu_tanh)
{
    EACH(0.797884560802865355880 * (x[i] + 0.044715 * x[i] * x[i] * x[i]));
    tdc_vtanh(y, y, n);
    EACH(0.5 * x[i] * (1 + y[i]));
}
SLOPE(gelu_tanh)
{
    for (size_t i = 0; i < n; i++)
        d[i] = 0.797884560802865355880 * (x[i] + 0.044715 * x[i] * x[i] * x[i]);
    tdc_vtanh(d, d, n);
    EACH_SLOPE(0.5 * (1 + d[i]) + 0.5 * x[i] * (1 - d[i] * d[i]) * 0.797884560802865355880 *
                                      (1 + 0.134145 * x[i] * x[i]));
}

FUNCTION(softplus)
{
    EACH(p[0] * x[i]);
    tdc_vexp(y, y, n);
    tdc_vlog1p(y, y, n);
    EACH(p[0] * x[i] > p[1] ? x[i] : y[i] / p[0]);
}
SLOPE(softplus)
{
    logistic(d, x, n, p[0]);
    EACH_SLOPE(p[0] * x[i] > p[1] ? 1.0 : d[i]);
}
FUNCTION(elu)
{
    EACH(p[2] * x[i]);
    tdc_vexpm1(y, y, n);
    EACH(p[1] * (x[i] > 0 ? x[i] : p[0] * y[i]));
}
SLOPE(elu)
{
    for (size_t i = 0; i < n; i++)
        d[i] = p[2] * x[i];
    tdc_vexp(d, d, n);
    EACH_SLOPE(p[1] * (x[i] > 0 ? 1.0 : p[0] * p[2] * d[i]));
}
/* tanh(log(1 + exp(x))) */
static void mish_factor(double *t, const double *x, size_t n)
{
    tdc_vexp(t, x, n);
    tdc_vlog1p(t, t, n);
    tdc_vtanh(t, t, n);
    for (size_t i = 0; i < n; i++)
        t[i] = x[i] > 30 ? 1.0 : t[i];
}
FUNCTION(mish)
{
    mish_factor(y, x, n);
    EACH(x[i] * y[i]);
}
SLOPE(mish)
{
    double s[TDC_BLOCK];
    mish_factor(d, x, n);
    logistic(s, x, n, 1);
    EACH_SLOPE(d[i] + x[i] * (1 - d[i] * d[i]) * s[i]);
}
FUNCTION(logsigmoid)
{
    EACH(-fabs(x[i]));
    tdc_vexp(y, y, n);
    tdc_vlog1p(y, y, n);
    EACH((x[i] > 0 ? 0.0 : x[i]) - y[i]);
}
SLOPE(logsigmoid)
{
    logistic(d, x, n, -1);
    EACH_SLOPE(d[i]);
}
FUNCTION(tanhshrink)
{
    tdc_vtanh(y, x, n);
    EACH(x[i] - y[i]);
}
SLOPE(tanhshrink)
{
    tdc_vtanh(d, x, n);
    EACH_SLOPE(d[i] * d[i]);
}
FUNCTION(power)
{
    double exponent[TDC_BLOCK] = {0};
    for (size_t i = 0; i < n; i++)
        exponent[i] = p[0];
    if (p[0] == 2) {
        EACH(x[i] * x[i]);
        return;
    }
    if (p[0] == 0.5) { /* as the frameworks: -inf has no root, while pow(-inf, 0.5) is inf */
        EACH(sqrt(x[i]));
        return;
    }
    tdc_vpow(y, x, exponent, n);
}
SLOPE(power)
{
    double exponent[TDC_BLOCK] = {0};
    for (size_t i = 0; i < n; i++)
        exponent[i] = p[0] - 1;
    tdc_vpow(d, x, exponent, n);
    EACH_SLOPE(p[0] == 0 ? 0.0 : p[0] * d[i]);
}
FUNCTION(logit)
{
    EACH(x[i] / (1 - x[i]));
    tdc_vlog(y, y, n);
}
SLOPE(logit)
{
    EACH_SLOPE(x[i] < 0 || x[i] > 1 ? (double)NAN : 1 / (x[i] * (1 - x[i])));
}

const struct tdc_unary_function tdc_unary_functions[TDC_UNARY_COUNT] = {
    [TDC_SCALE] = {scale, scale_slope},
    [TDC_SHIFT] = {shift, shift_slope},
    [TDC_ABS] = {absolute, absolute_slope},
    [TDC_SIN] = {sine, sine_slope},
    [TDC_COS] = {cosine, cosine_slope},
    [TDC_TAN] = {tangent, tangent_slope},
    [TDC_ASIN] = {arc_sine, arc_sine_slope},
    [TDC_ACOS] = {arc_cosine, arc_cosine_slope},
    [TDC_ATAN] = {arc_tangent, arc_tangent_slope},
    [TDC_SINH] = {hyperbolic_sine, hyperbolic_sine_slope},
    [TDC_COSH] = {hyperbolic_cosine, hyperbolic_cosine_slope},
    [TDC_TANH] = {hyperbolic_tangent, hyperbolic_tangent_slope},
    [TDC_ASINH] = {area_sine, area_sine_slope},
    [TDC_ACOSH] = {area_cosine, area_cosine_slope},
    [TDC_ATANH] = {area_tangent, area_tangent_slope},
    [TDC_EXP] = {exponential, exponential_slope},
    [TDC_EXPM1] = {exponential_m1, exponential_m1_slope},
    [TDC_EXP2] = {exponential_2, exponential_2_slope},
    [TDC_LOG] = {logarithm, logarithm_slope},
    [TDC_LOG1P] = {logarithm_1p, logarithm_1p_slope},
    [TDC_LOG2] = {logarithm_2, logarithm_2_slope},
    [TDC_LOG10] = {logarithm_10, logarithm_10_slope},
    [TDC_SQRT] = {square_root, square_root_slope},
    [TDC_RSQRT] = {inverse_root, inverse_root_slope},
    [TDC_RECIPROCAL] = {reciprocal, reciprocal_slope},
    [TDC_SQUARE] = {square, square_slope},
    [TDC_ERF] = {error_function, error_function_slope},
    [TDC_ERFC] = {error_complement, error_complement_slope},
    [TDC_ERFINV] = {inverse_erf, inverse_erf_slope},
    [TDC_SINC] = {sinc, sinc_slope},
    [TDC_SIGMOID] = {sigmoid, sigmoid_slope},
    [TDC_RELU] = {relu, relu_slope},
    [TDC_CEIL] = {ceiling, NULL},
    [TDC_FLOOR] = {floored, NULL},
    [TDC_ROUND] = {rounded, NULL},
    [TDC_TRUNC] = {truncated, NULL},
    [TDC_SIGN] = {signs, NULL},
    [TDC_FRAC] = {fraction, fraction_slope},
    [TDC_GELU] = {gelu, gelu_slope},
    [TDC_GELU_TANH] = {gelu_tanh, gelu_tanh_slope},
    [TDC_FAST_GELU] = {fast_gelu, fast_gelu_slope},
    [TDC_SILU] = {silu, silu_slope},
    [TDC_LEAKY_RELU] = {leaky_relu, leaky_relu_slope},
    [TDC_SOFTPLUS] = {softplus, softplus_slope},
    [TDC_ELU] = {elu, elu_slope},
    [TDC_MISH] = {mish, mish_slope},
    [TDC_HARDSHRINK] = {hardshrink, hardshrink_slope},
    [TDC_SOFTSHRINK] = {softshrink, softshrink_slope},
    [TDC_HARDSIGMOID] = {hardsigmoid, hardsigmoid_slope},
    [TDC_HARDSWISH] = {hardswish, hardswish_slope},
    [TDC_LOGSIGMOID] = {logsigmoid, logsigmoid_slope},
    [TDC_SOFTSIGN] = {softsign, softsign_slope},
    [TDC_TANHSHRINK] = {tanhshrink, tanhshrink_slope},
    [TDC_HARDTANH] = {hardtanh, hardtanh_slope},
    [TDC_CLAMP] = {clamp, clamp_slope},
    [TDC_THRESHOLD] = {threshold, threshold_slope},
    [TDC_POWER] = {power, power_slope},
    [TDC_LOGIT] = {logit, logit_slope},
    [TDC_LGAMMA] = {log_gamma, log_gamma_slope},
    [TDC_DIGAMMA] = {digamma, digamma_slope},
    [TDC_I0] = {bessel_i0, bessel_i0_slope},
    [TDC_NAN_TO_NUM] = {nan_to_num, nan_to_num_slope},
};
