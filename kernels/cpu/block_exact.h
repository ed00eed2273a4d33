/*
 * block_exact.h - TDC_RELATIVE_F64 for a block of f32 numbers, without a division per element.
 *
 * Limits. Each limit L is 1/k rounded to f64, k an integer up to 1000. Claim: for b not 0, e >= L
 * exactly if k |n-b| >= |b|, with n - b computed in f32. Where b/2 <= n <= 2b, n - b is exact in
 * f32 (Sterbenz) and e is the quotient |n-b| / |b| rounded to f64. If the quotient is at least 1/k,
 * so are both after rounding. If it is smaller, then by more than 2^-34 relatively, since k |n-b|
 * and |b| are products of integers below 2^34 with powers of two; rounding to f64 cannot bridge
 * that. Anywhere else |n-b| >= |b|/2: e has reached every limit, and k |n-b| >= |b| whatever
 * rounding did to n - b. The sign of a fused k |n-b| - |b| is exact, and so is the product in f64.
 *
 * Maximum. e can exceed the largest one so far, r, only if |n-b| > r|b| up to some roundings. The
 * few pairs that pass this test with a margin are divided in f64.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_EXACT_H
#define TDC_KERNELS_CPU_BLOCK_EXACT_H

#include "kernels/cpu/block_relative.h"

/* tdc_pair_limits[i] = 1 / limit_inverse[i] */
static const float limit_inverse[TDC_PAIR_LIMITS] = {1000, 200, 100, 10};

ALWAYS_INLINE bool reaches(float inverse, float distance, float b)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(inverse, distance, -b) >= 0;
#else
    /*
     * Both products are exact, and so is the subtraction unless the sides are so far apart that the
     * lower digits do not matter. Written as "not below" for an infinite distance, where `lower` is
     * NaN.
     */
    float upper = bits_to_f32(f32_to_bits(distance) & ~0x3ffu), lower = distance - upper;
    return !(inverse * upper - b < -(inverse * lower));
#endif
}

/* Rises above the largest e so far, as far as f32 can tell. Never for n = b. */
ALWAYS_INLINE bool may_exceed(float bound, float distance, float b)
{
    /* The margin of `bound` covers normal numbers, the subtraction those that underflow. */
    float least = bound * b - 0x1p-125f;
    return distance > (least > 0 ? least : 0.0f);
}

/* A little less than the largest e so far, rounded to f32. */
static inline float exceeding_bound(double maximum)
{
    return maximum > 0x1p126 ? 0x1p126f : (float)(maximum * (1 - 0x1p-20));
}

/*
 * Counts pairs by limit; returns whether a pair may exceed `maximum`. out->maximum is not set.
 */
static bool relative_exact_f32(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                               double maximum, struct block_relative *out)
{
    float bound = exceeding_bound(maximum);
    struct single_range range = single_range_start(n[0], b[0]);
    int32_t reached[TDC_PAIR_LIMITS][SINGLE_LANES] = {{0}};
    int32_t zeros[SINGLE_LANES] = {0}, candidates[SINGLE_LANES] = {0};
    for (size_t i = 0; i < count; i += SINGLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
            float y = fabsf(b[i + lane]), d = fabsf(n[i + lane] - b[i + lane]);
            reached[0][lane] += reaches(limit_inverse[0], d, y);
            reached[1][lane] += reaches(limit_inverse[1], d, y);
            reached[2][lane] += reaches(limit_inverse[2], d, y);
            reached[3][lane] += reaches(limit_inverse[3], d, y);
            single_range_widen(&range, lane, n[i + lane], b[i + lane]);
            zeros[lane] += (f32_to_bits(d) | f32_to_bits(y)) == 0;
            candidates[lane] += may_exceed(bound, d, y);
        }
    }
    *out = (struct block_relative){0};
    single_range_join(&range, out);
    int32_t candidate = 0;
    for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
        candidate |= candidates[lane];
        for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
            out->reached[k] += (size_t)(reached[k][lane] - zeros[lane]);
    }
    return candidate != 0;
}

/*
 * The first of the largest e if it is above *maximum, which must not be negative. The block is
 * padded to `count`, a multiple of PADDING, with copies of its first pair.
 */
static void find_maximum_f32(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                             uint64_t start, double *maximum, uint64_t *at)
{
    for (size_t group = 0; group < count; group += PADDING) {
        float bound = exceeding_bound(*maximum);
        int candidates = 0;
        for (size_t i = group; i < group + PADDING; i++)
            candidates |= may_exceed(bound, fabsf(n[i] - b[i]), fabsf(b[i]));
        for (size_t i = group; candidates && i < group + PADDING; i++) {
            double e = exact_f64((double)n[i] - (double)b[i], (double)b[i]);
            if (e > *maximum) {
                *maximum = e;
                *at = start + i;
            }
        }
    }
}

#endif
