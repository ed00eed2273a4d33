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

/* Beside the square roots of complex numbers a look at all parts costs little. */
static bool complex_is_finite(const struct complex_block *block, size_t count)
{
    f64v probe = f64_splat(0);
    for (size_t i = 0; i < padded_count(count); i += F64_LANES) {
        f64v n = f64_load(block->n + i), n_imaginary = f64_load(block->n_imaginary + i);
        f64v b = f64_load(block->b + i), b_imaginary = f64_load(block->b_imaginary + i);
        probe += ((n - n) + (n_imaginary - n_imaginary)) + ((b - b) + (b_imaginary - b_imaginary));
    }
    return lanes_are_zero(probe);
}

/* The parts of one number: bit 0 when it is NaN, bit 1 when it is infinite. */
ALWAYS_INLINE uint64_t complex_class(double re, double im)
{
    const uint64_t infinity = 0x7ff0000000000000u, sign = 0x8000000000000000u;
    uint64_t x = f64_to_bits(re) & ~sign, y = f64_to_bits(im) & ~sign;
    uint64_t larger = x > y ? x : y;
    return (uint64_t)(larger > infinity) | (uint64_t)(larger == infinity) << 1;
}

static struct participants clean_complex(struct complex_block *block, size_t count,
                                         struct tdc_pair_sums *sums)
{
    uint64_t n_nan = 0, b_nan = 0, n_inf = 0, b_inf = 0, finite = 0;
    uint64_t nan_apart = 0, inf_apart = 0, equal = 0;
    size_t first = 0;
    while (first < count && (complex_class(block->n[first], block->n_imaginary[first]) |
                             complex_class(block->b[first], block->b_imaginary[first])))
        first++;
#pragma omp simd reduction(+ : n_nan, b_nan, n_inf, b_inf, finite, nan_apart, inf_apart, equal)
    for (size_t i = 0; i < count; i++) {
        double n = block->n[i], n_imaginary = block->n_imaginary[i];
        double b = block->b[i], b_imaginary = block->b_imaginary[i];
        uint64_t x = complex_class(n, n_imaginary), y = complex_class(b, b_imaginary);
        uint64_t same = (uint64_t)(n == b) & (uint64_t)(n_imaginary == b_imaginary);
        n_nan += x & 1;
        b_nan += y & 1;
        n_inf += x >> 1;
        b_inf += y >> 1;
        nan_apart += (x ^ y) & 1;
        inf_apart += (x ^ y) >> 1;
        equal += (x & y & 1) | ((x >> 1) & same);
        bool keep = (x | y) == 0;
        finite += keep;
        block->n[i] = keep ? n : 0;
        block->b[i] = keep ? b : 0;
        block->n_imaginary[i] = keep ? n_imaginary : 0;
        block->b_imaginary[i] = keep ? b_imaginary : 0;
    }
    sums->n_nan += n_nan;
    sums->b_nan += b_nan;
    sums->n_inf += n_inf;
    sums->b_inf += b_inf;
    sums->nan_apart += nan_apart;
    sums->inf_apart += inf_apart;
    sums->nonfinite_equal += equal;
    sums->finite += finite;
    return (struct participants){first, (size_t)finite};
}

#endif
