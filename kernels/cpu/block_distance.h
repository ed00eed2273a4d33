/*
 * block_distance.h - |n-b| of 64-bit integers and of complex numbers, in float64.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_DISTANCE_H
#define TDC_KERNELS_CPU_BLOCK_DISTANCE_H

#include "kernels/cpu/block_sums.h"
#include "kernels/cpu/pair_kernel.h"

/* upper - lower, where the result may need 65 bits; rounded once. */
static inline double distance_below_zero(uint64_t upper, int64_t lower)
{
    uint64_t sum = upper + (0 - (uint64_t)lower);
    /* One bit too many: drop the last but remember it, which is all that rounding asks for. */
    uint64_t halved = (sum >> 1) | (sum & 1) | 0x8000000000000000u;
    return sum < upper ? 2 * decode_u64(halved) : decode_u64(sum);
}

static inline double distance_u64(uint64_t n, uint64_t b)
{
    return decode_u64(n > b ? n - b : b - n);
}

/* Distances of U64 from I64, in either order. */
static void distance_mixed(const uint64_t *without_sign, const uint64_t *with_sign, size_t count,
                           double *restrict distance)
{
    for (size_t i = 0; i < count; i++) {
        int64_t other = (int64_t)with_sign[i];
        distance[i] = other < 0 ? distance_below_zero(without_sign[i], other)
                                : distance_u64(without_sign[i], with_sign[i]);
    }
}

/* Exact differences, rounded once; padded with zeros. */
static void integer_distance(tdc_dtype n_dtype, const void *n, tdc_dtype b_dtype, const void *b,
                             size_t count, double *restrict distance)
{
    uint64_t x[BLOCK] __attribute__((aligned(64))), y[BLOCK] __attribute__((aligned(64)));
    convert_integer(n_dtype, n, count, x);
    convert_integer(b_dtype, b, count, y);
    bool n_signed = n_dtype != TDC_U64, b_signed = b_dtype != TDC_U64;
    if (n_signed && b_signed) {
        /* Flipping the sign bits moves both by 2^63 into the unsigned range. */
        const uint64_t shift = 0x8000000000000000u;
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            distance[i] = distance_u64(x[i] ^ shift, y[i] ^ shift);
    } else if (n_signed) {
        distance_mixed(y, x, count, distance);
    } else if (b_signed) {
        distance_mixed(x, y, count, distance);
    } else {
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            distance[i] = distance_u64(x[i], y[i]);
    }
    pad_f64(distance, count, 0);
}

/*
 * sqrt(re^2 + im^2), the parts scaled by a power of two where their squares could overflow or
 * vanish. Within 2^-52 relatively, and the same bits everywhere. A modulus beyond float64 becomes
 * its largest number, except for infinite parts.
 */
ALWAYS_INLINE double complex_modulus(double re, double im)
{
    double x = fabs(re), y = fabs(im), larger = x > y ? x : y;
    double scale = larger > 0x1p500 ? 0x1p-600 : 1.0;
    double back = larger > 0x1p500 ? 0x1p600 : 1.0;
    scale = larger < 0x1p-400 ? 0x1p600 : scale;
    back = larger < 0x1p-400 ? 0x1p-600 : back;
    x *= scale;
    y *= scale;
    double modulus = sqrt(x * x + y * y) * back;
    double limit = larger <= 0x1.fffffffffffffp1023 ? 0x1.fffffffffffffp1023 : larger;
    return modulus > limit ? limit : modulus;
}

static void complex_moduli(struct complex_block *block, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        block->distance[i] = complex_modulus(block->n[i] - block->b[i],
                                             block->n_imaginary[i] - block->b_imaginary[i]);
        block->b_modulus[i] = complex_modulus(block->b[i], block->b_imaginary[i]);
    }
}

static void load_complex(tdc_dtype dtype, const void *source, size_t count, double *re, double *im)
{
    convert_f64(dtype, source, count, re);
    convert_imaginary(dtype, source, count, im);
    pad_f64(re, count, 0);
    pad_f64(im, count, 0);
}

#endif
