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
};

/*
 * A block with a NaN or infinity is taken twice, unless one of the last few had one: then blocks
 * are cleaned first, which keeps such data within twice the time of other.
 */
#define WARY_BLOCKS 4

/*
 * Counts a block and copies it (onto itself, perhaps), pairs that are not both finite as 0 against
 * 0. Returns the finite pairs. A magnitude is the bits of a number without its sign: that of an
 * infinity is above those of numbers and below those of NaN.
 */
#define DEFINE_CLEAN(name, real, number, bits_of, unsigned_type, infinity)                         \
    static struct participants name(const real *n, const real *b, size_t count, number *n_clean,   \
                                    number *b_clean, struct tdc_pair_sums *sums)                   \
    {                                                                                              \
        const unsigned_type sign = (unsigned_type)1 << (8 * sizeof(unsigned_type) - 1);            \
        unsigned_type n_nan = 0, b_nan = 0, n_inf = 0, b_inf = 0, finite = 0;                      \
        unsigned_type nan_apart = 0, inf_apart = 0, equal = 0;                                     \
        size_t first = 0;                                                                          \
        while (first < count && !(isfinite(n[first]) && isfinite(b[first])))                       \
            first++;                                                                               \
        _Pragma(                                                                                   \
            "omp simd reduction(+ : n_nan, b_nan, n_inf, b_inf, finite, nan_apart, inf_apart, \
                equal)") for (size_t i = 0; i < count; i++)                                        \
        {                                                                                          \
            unsigned_type x = bits_of(n[i]), y = bits_of(b[i]);                                    \
            unsigned_type n_magnitude = x & ~sign, b_magnitude = y & ~sign;                        \
            unsigned_type n_is_nan = n_magnitude > (infinity),                                     \
                          b_is_nan = b_magnitude > (infinity);                                     \
            unsigned_type n_is_inf = n_magnitude == (infinity);                                    \
            unsigned_type b_is_inf = b_magnitude == (infinity);                                    \
            unsigned_type both_finite = (n_magnitude < (infinity)) & (b_magnitude < (infinity));   \
            n_nan += n_is_nan;                                                                     \
            b_nan += b_is_nan;                                                                     \
            n_inf += n_is_inf;                                                                     \
            b_inf += b_is_inf;                                                                     \
            nan_apart += n_is_nan ^ b_is_nan;                                                      \
            inf_apart += n_is_inf ^ b_is_inf;                                                      \
            equal += (n_is_nan & b_is_nan) | (n_is_inf & (x == y));                                \
            finite += both_finite;                                                                 \
            n_clean[i] = both_finite ? n[i] : 0;                                                   \
            b_clean[i] = both_finite ? b[i] : 0;                                                   \
        }                                                                                          \
        sums->n_nan += n_nan;                                                                      \
        sums->b_nan += b_nan;                                                                      \
        sums->n_inf += n_inf;                                                                      \
        sums->b_inf += b_inf;                                                                      \
        sums->nan_apart += nan_apart;                                                              \
        sums->inf_apart += inf_apart;                                                              \
        sums->nonfinite_equal += equal;                                                            \
        sums->finite += finite;                                                                    \
        return (struct participants){first, finite};                                               \
    }

DEFINE_CLEAN(clean_f32, f32_unaligned, float, f32_to_bits, uint32_t, 0x7f800000u)
DEFINE_CLEAN(clean_f64, f64_unaligned, double, f64_to_bits, uint64_t, 0x7ff0000000000000u)

static struct participants clean_complex(struct complex_block *block, size_t count,
                                         struct tdc_pair_sums *sums)
{
    struct participants finite = {0, 0};
    for (size_t i = 0; i < count; i++) {
        double n = block->n[i], n_imaginary = block->n_imaginary[i];
        double b = block->b[i], b_imaginary = block->b_imaginary[i];
        bool n_nan = isnan(n) || isnan(n_imaginary), b_nan = isnan(b) || isnan(b_imaginary);
        bool n_inf = !n_nan && (isinf(n) || isinf(n_imaginary));
        bool b_inf = !b_nan && (isinf(b) || isinf(b_imaginary));
        if (!(n_nan || b_nan || n_inf || b_inf)) {
            if (finite.count++ == 0)
                finite.first = i;
            continue;
        }
        sums->n_nan += n_nan;
        sums->b_nan += b_nan;
        sums->n_inf += n_inf;
        sums->b_inf += b_inf;
        sums->nan_apart += n_nan != b_nan;
        sums->inf_apart += n_inf != b_inf;
        sums->nonfinite_equal += (n_nan && b_nan) || (n == b && n_imaginary == b_imaginary);
        block->n[i] = block->n_imaginary[i] = 0;
        block->b[i] = block->b_imaginary[i] = 0;
    }
    sums->finite += finite.count;
    return finite;
}

#endif
