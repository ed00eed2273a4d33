/*
 * pair_squares.c - the sums of squares of a pair once more, of numbers scaled by powers of two: for
 * pairs whose squares leave the range of float64 although they themselves do not. One pair at a
 * time, in 128 bits until the scaled number is rounded; built once, so every CPU variant has
 * these bits.
 */
#include <limits.h>

#include "kernels/cpu/pair_kernel.h"
#include "kernels/cpu/wide_value.h"

/* Below this a sum may have lost terms, or their digits, to the end of float64. */
#define SMALLEST_SURE 0x1p-900

static bool has_range(tdc_dtype dtype)
{
    return dtype == TDC_F64 || dtype == TDC_F80 || dtype == TDC_C128;
}

static bool is_sure(double squares)
{
    return squares >= SMALLEST_SURE && squares < HUGE_VAL;
}

bool tdc_pair_squares_hold(const struct tdc_pair_plan *plan, const struct tdc_pair_sums *sums)
{
    if (!has_range(plan->n_dtype) && !has_range(plan->b_dtype))
        return true;
    if (sums->finite == 0 || sums->abs_max <= 0)
        return true; /* equal: whatever the sums are, there is no distance and one direction */
    return is_sure(sums->nn) && is_sure(sums->bb) && is_sure(sums->dd) && sums->abs < HUGE_VAL;
}

/* A pair of elements with all their digits. */
struct wide_pair {
    wide n, n_imaginary, b, b_imaginary;
};

static bool take(const struct tdc_pair_plan *plan, const void *n, const void *b, size_t at,
                 struct wide_pair *pair)
{
    const char *n_element = (const char *)n + at * tdc_dtype_size(plan->n_dtype);
    const char *b_element = (const char *)b + at * tdc_dtype_size(plan->b_dtype);
    pair->n = wide_value(plan->n_dtype, n_element, &pair->n_imaginary);
    pair->b = wide_value(plan->b_dtype, b_element, &pair->b_imaginary);
    return wide_is_finite(pair->n) && wide_is_finite(pair->n_imaginary) &&
           wide_is_finite(pair->b) && wide_is_finite(pair->b_imaginary);
}

static void raise_exponent(int *exponent, wide value)
{
    int own = wide_exponent(value);
    if (value != 0 && own > *exponent)
        *exponent = own;
}

void tdc_pair_peaks_clear(struct tdc_pair_peaks *peaks)
{
    *peaks = (struct tdc_pair_peaks){INT_MIN, INT_MIN, INT_MIN};
}

void tdc_pair_peaks(const struct tdc_pair_plan *plan, const void *n, const void *b, size_t count,
                    struct tdc_pair_peaks *peaks)
{
    struct wide_pair pair;
    for (size_t i = 0; i < count; i++) {
        if (!take(plan, n, b, i, &pair))
            continue;
        raise_exponent(&peaks->n, pair.n);
        raise_exponent(&peaks->n, pair.n_imaginary);
        raise_exponent(&peaks->b, pair.b);
        raise_exponent(&peaks->b, pair.b_imaginary);
        raise_exponent(&peaks->d, pair.n - pair.b);
        raise_exponent(&peaks->d, pair.n_imaginary - pair.b_imaginary);
    }
}

/* The exponent that is taken out: what is all 0 has none, and the ends of 128 bits are near enough.
 */
static int taken_out(int exponent)
{
    const int bound = WIDE_BIAS - 3;
    if (exponent == INT_MIN)
        return 0;
    return exponent > bound ? bound : exponent < -bound ? -bound : exponent;
}

void tdc_pair_squares(const struct tdc_pair_plan *plan, const struct tdc_pair_peaks *peaks,
                      const void *n, const void *b, size_t count, struct tdc_pair_squares *squares)
{
    wide n_scale = wide_power(-taken_out(peaks->n)), b_scale = wide_power(-taken_out(peaks->b));
    wide d_scale = wide_power(-taken_out(peaks->d));
    struct wide_pair pair;
    for (size_t i = 0; i < count; i++) {
        if (!take(plan, n, b, i, &pair))
            continue;
        double x = (double)(pair.n * n_scale), x_imaginary = (double)(pair.n_imaginary * n_scale);
        double y = (double)(pair.b * b_scale), y_imaginary = (double)(pair.b_imaginary * b_scale);
        double d = (double)((pair.n - pair.b) * d_scale);
        double d_imaginary = (double)((pair.n_imaginary - pair.b_imaginary) * d_scale);
        double dd = d * d + d_imaginary * d_imaginary;
        squares->nb += x * y + x_imaginary * y_imaginary;
        squares->nn += x * x + x_imaginary * x_imaginary;
        squares->bb += y * y + y_imaginary * y_imaginary;
        squares->dd += dd;
        squares->abs += sqrt(dd);
    }
}

/* In the range of float64: finite, and 0 only for 0. */
static double unscaled(double value, int exponent)
{
    return nearest_f64((wide)value * wide_power(taken_out(exponent)));
}

void tdc_pair_scaled_norms(const struct tdc_pair_squares *squares,
                           const struct tdc_pair_peaks *peaks, uint64_t finite,
                           struct tdc_pair_norms *norms)
{
    double root = sqrt((double)finite);
    double n = sqrt(squares->nn), b = sqrt(squares->bb), d = sqrt(squares->dd);
    *norms = (struct tdc_pair_norms){
        .n = unscaled(n, peaks->n),
        .b = unscaled(b, peaks->b),
        .d = unscaled(d, peaks->d),
        .n_rms = unscaled(n / root, peaks->n),
        .b_rms = unscaled(b / root, peaks->b),
        .d_rms = unscaled(d / root, peaks->d),
        .mean_abs = unscaled(squares->abs / (double)finite, peaks->d),
        .cosine = squares->nb / (n * b),
    };
}

void tdc_pair_plain_norms(const struct tdc_pair_sums *sums, struct tdc_pair_norms *norms)
{
    double finite = sums->finite != 0 ? (double)sums->finite : 1;
    *norms = (struct tdc_pair_norms){
        .n = sqrt(sums->nn),
        .b = sqrt(sums->bb),
        .d = sqrt(sums->dd),
        .n_rms = sqrt(sums->nn / finite),
        .b_rms = sqrt(sums->bb / finite),
        .d_rms = sqrt(sums->dd / finite),
        .mean_abs = sums->abs / finite,
        .cosine = sums->nb / (sqrt(sums->nn) * sqrt(sums->bb)),
    };
}
