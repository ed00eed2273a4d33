/*
 * block_finite.h - what happens to a block that has a NaN or an infinity.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_FINITE_H
#define TDC_KERNELS_CPU_BLOCK_FINITE_H

#include "kernels/cpu/block_sums.h"

/* The pairs of a block that take part in maxima; pairs that do not are 0 against 0. */
struct participants {
    size_t first; /* meaningless when count is 0 */
    size_t count;
    bool clean; /* every value of the block is finite */
};

static inline void widen_range(double low, double high, double *minimum, double *maximum)
{
    *minimum = low < *minimum ? low : *minimum;
    *maximum = high > *maximum ? high : *maximum;
}

/* Enters one pair in the counts of NaN and infinity; true when both sides are finite. */
static bool count_pair(bool n_nan, bool b_nan, bool n_inf, bool b_inf, bool equal,
                       struct tdc_pair_sums *sums)
{
    sums->n_nan += n_nan;
    sums->b_nan += b_nan;
    sums->n_inf += n_inf;
    sums->b_inf += b_inf;
    sums->nan_apart += n_nan != b_nan;
    sums->inf_apart += n_inf != b_inf;
    bool finite = !(n_nan || b_nan || n_inf || b_inf);
    sums->nonfinite_equal += !finite && ((n_nan && b_nan) || equal);
    return finite;
}

static void enter_finite(double n, double b, size_t at, struct tdc_pair_sums *sums,
                         struct participants *finite)
{
    widen_range(n, n, &sums->n_min, &sums->n_max);
    widen_range(b, b, &sums->b_min, &sums->b_max);
    if (finite->count++ == 0)
        finite->first = at;
}

/* Counts a block pair by pair and copies it, pairs that are not both finite as 0 against 0. */
#define DEFINE_CLEAN(name, real, number)                                                           \
    static struct participants name(const real *n, const real *b, size_t count, number *n_clean,   \
                                    number *b_clean, struct tdc_pair_sums *sums)                   \
    {                                                                                              \
        struct participants finite = {0, 0, false};                                                \
        for (size_t i = 0; i < count; i++) {                                                       \
            number x = n[i], y = b[i];                                                             \
            if (count_pair(isnan(x), isnan(y), isinf(x), isinf(y), x == y, sums)) {                \
                enter_finite((double)x, (double)y, i, sums, &finite);                              \
            } else {                                                                               \
                x = 0;                                                                             \
                y = 0;                                                                             \
            }                                                                                      \
            n_clean[i] = x;                                                                        \
            b_clean[i] = y;                                                                        \
        }                                                                                          \
        sums->finite += finite.count;                                                              \
        return finite;                                                                             \
    }

DEFINE_CLEAN(clean_f32, f32_unaligned, float)
DEFINE_CLEAN(clean_f64, f64_unaligned, double)

static struct participants clean_complex(struct complex_block *block, size_t count,
                                         struct tdc_pair_sums *sums)
{
    struct participants finite = {0, 0, false};
    for (size_t i = 0; i < count; i++) {
        double n = block->n[i], n_imaginary = block->n_imaginary[i];
        double b = block->b[i], b_imaginary = block->b_imaginary[i];
        bool n_nan = isnan(n) || isnan(n_imaginary), b_nan = isnan(b) || isnan(b_imaginary);
        bool n_inf = !n_nan && (isinf(n) || isinf(n_imaginary));
        bool b_inf = !b_nan && (isinf(b) || isinf(b_imaginary));
        bool equal = n == b && n_imaginary == b_imaginary;
        if (count_pair(n_nan, b_nan, n_inf, b_inf, equal, sums)) {
            enter_finite(n, b, i, sums, &finite);
        } else {
            block->n[i] = block->n_imaginary[i] = 0;
            block->b[i] = block->b_imaginary[i] = 0;
        }
    }
    sums->finite += finite.count;
    return finite;
}

#endif
