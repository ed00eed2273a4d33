/*
 * vector_libm.c - the functions of vector_math.h by the C library, for a program that is linked
 * statically where the distribution has no archive of SLEEF.
 *
 * The bounds of the names hold: what glibc computes with more error in double is computed in long
 * double and rounded. One element at a time, so 2 to 50 times as slow; the last bits are not
 * SLEEF's and may depend on the CPU, whose instructions the C library chooses by.
 */
#include <math.h>

#include "reference/primitives/vector/vector_math.h"

#define PI_L 3.14159265358979323846264338327950288L

/* x - 2 k in [-1, 1]: exact. */
static long double half_turns(double x)
{
    return (long double)remainder(x, 2);
}

static double sinpi_of(double x)
{
    long double turns = half_turns(x);
    /* near a whole number sin(pi t) is sin(pi (1 - t)), whose argument is exact */
    long double near = fabsl(turns) > 0.5L ? copysignl(1 - fabsl(turns), turns) : turns;
    return isfinite(x) ? (double)sinl(PI_L * near) : (double)NAN;
}

static double cospi_of(double x)
{
    return isfinite(x) ? (double)sinl(PI_L * (0.5L - fabsl(half_turns(x)))) : (double)NAN;
}

/* lgamma writes to a variable of the process. */
static double lgamma_of(double x)
{
    int sign;
    return (double)lgammal_r(x, &sign);
}

#define LONG(name)                                                                                 \
    static double name##_of(double x)                                                              \
    {                                                                                              \
        return (double)name##l(x);                                                                 \
    }
LONG(expm1)
LONG(log1p)
LONG(log10)
LONG(sinh)
LONG(cosh)
LONG(tanh)
LONG(asinh)
LONG(acosh)
LONG(atanh)
LONG(erf)
LONG(erfc)
LONG(tan)

/* In double these are within the bounds. */
#define exp_of(x)      exp(x)
#define exp2_of(x)     exp2(x)
#define log_of(x)      log(x)
#define log2_of(x)     log2(x)
#define asin_of(x)     asin(x)
#define acos_of(x)     acos(x)
#define atan_of(x)     atan(x)
#define sin_of(x)      sin(x)
#define cos_of(x)      cos(x)
#define pow_of(a, b)   pow(a, b)
#define atan2_of(a, b) atan2(a, b)
#define hypot_of(a, b) ((double)hypotl(a, b))

#define X(name, bound)                                                                             \
    double tdc_##name(double x)                                                                    \
    {                                                                                              \
        return name##_of(x);                                                                       \
    }                                                                                              \
    void tdc_v##name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = name##_of(x[i]);                                                                \
    }
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *a, const double *b, size_t n)                        \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = name##_of(a[i], b[i]);                                                          \
    }
TDC_VECTOR_BINARY(X)
#undef X
