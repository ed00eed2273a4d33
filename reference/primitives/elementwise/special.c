#include "reference/primitives/elementwise/special.h"

#include <math.h>

#include "reference/primitives/vector/vector_math.h"

/* Winitzki's approximation, good to 2e-3: three Newton steps square that below one ULP. */
static double erfinv_start(double x)
{
    double l = tdc_log((1 - x) * (1 + x));
    double t = 2 / (3.141592653589793238463 * 0.147) + 0.5 * l;
    return sqrt(sqrt(t * t - l / 0.147) - t);
}

double tdc_erfinv(double x)
{
    double a = fabs(x);
    if (a == 1)
        return copysign((double)INFINITY, x);
    if (!(a < 1))
        return (double)NAN;
    if (a < 1e-9)
        return x * 0.886226925452758013649;
    double y = erfinv_start(a);
    for (int step = 0; step < 4; step++) {
        /* 1 - a is exact for a >= 1/2, and erfc then has the relative accuracy erf lacks */
        double error = a < 0.5 ? tdc_erf(y) - a : (1 - a) - tdc_erfc(y);
        double step_size = error * 0.886226925452758013649 * tdc_exp(y * y);
        y -= step_size / (1 + y * step_size); /* Halley's correction */
    }
    return copysign(y, x);
}

double tdc_digamma(double x)
{
    if (x == 0)
        return copysign((double)INFINITY, -x);
    if (x < 0) {
        if (x == floor(x))
            return (double)NAN;
        double t = x - rint(x); /* exact, and keeps a tiny x */
        return tdc_digamma(1 - x) - 3.141592653589793238463 * tdc_cospi(t) / tdc_sinpi(t);
    }
    double sum = 0;
    for (; x < 12; x += 1)
        sum -= 1 / x;
    double r = 1 / (x * x);
    static const double series[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                    1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
    double tail = 0;
    for (int i = 7; i >= 0; i--)
        tail = r * (series[i] + tail);
    return sum + (tdc_log(x) - 0.5 / x - tail);
}

double tdc_trigamma(double x)
{
    if (x <= 0) {
        if (x == floor(x))
            return (double)INFINITY;
        double s = 3.141592653589793238463 / tdc_sinpi(x - floor(x));
        return s * s - tdc_trigamma(1 - x);
    }
    double sum = 0;
    for (; x < 12; x += 1)
        sum += 1 / (x * x);
    double r = 1 / (x * x);
    static const double series[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                    5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
    double tail = 0;
    for (int i = 7; i >= 0; i--)
        tail = r * (series[i] + tail);
    return sum + 1 / x + 0.5 * r + tail / x;
}

static double bessel_series(double x, int order)
{
    if (isnan(x))
        return x;
    double q = 0.25 * x * x, term = order == 0 ? 1 : 0.5 * x, sum = term;
    if (!(fabs(x) < 713))
        return order == 0 || x > 0 ? (double)INFINITY : -(double)INFINITY;
    for (int k = 1; k < 2000 && fabs(term) > 1e-18 * fabs(sum); k++) {
        term *= q / ((double)k * (k + order));
        sum += term;
    }
    return sum;
}

double tdc_bessel_i0(double x)
{
    return bessel_series(x, 0);
}

double tdc_bessel_i1(double x)
{
    return bessel_series(x, 1);
}
