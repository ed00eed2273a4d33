/*
 * block_quotient.h - TDC_RELATIVE_F64 for a block of f32 numbers, without dividing in f64.
 *
 * q is |n-b| / |b| in f32. Where e < 1/2, b/2 <= n <= 2b and n - b is exact in f32 (Sterbenz), so q
 * and e are the same quotient x rounded to f32 and to f64. Let F be a limit L rounded to f32. If
 * q < F then x lies below the midpoint of F and the float before it, which is a double not above
 * L; a quotient of two f32 is never such a midpoint, so e < L. If q > F then e > L likewise. Only
 * where q = F must e be computed. Where e >= 1/2, q is above every limit too.
 *
 * q is within 2^-22 of e, relatively, or within 2^-148 (gradual underflow), unless it overflowed:
 * pairs whose q lies clearly below the largest cannot be the maximum.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_QUOTIENT_H
#define TDC_KERNELS_CPU_BLOCK_QUOTIENT_H

#include "kernels/cpu/block_relative.h"

struct quotient_block {
    float q[BLOCK]; /* NaN where n and b are 0 */
    float maximum;
} __attribute__((aligned(64)));

static void divide_block(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                         struct quotient_block *out)
{
    float top[SINGLE_LANES] = {0};
    for (size_t i = 0; i < count; i += SINGLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
            float y = b[i + lane], d = n[i + lane] - y;
            float q = fabsf(d / (y + (y == 0 ? d : 0.0f)));
            out->q[i + lane] = q;
            top[lane] = q > top[lane] ? q : top[lane];
        }
    }
    out->maximum = 0;
    for (size_t lane = 0; lane < SINGLE_LANES; lane++)
        out->maximum = top[lane] > out->maximum ? top[lane] : out->maximum;
}

/* Exactly the e of the contract, but NaN for 0 against 0. */
static inline double exact_of_f32(float n, float b)
{
    return exact_f64((double)n - (double)b, (double)b);
}

/* Elements with e >= limit. */
static size_t count_reached(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                            const struct quotient_block *block, double limit)
{
    float single_limit = (float)limit;
    if (block->maximum < single_limit)
        return 0;
    int32_t reached[SINGLE_LANES] = {0}, passed[SINGLE_LANES] = {0};
    for (size_t i = 0; i < count; i += SINGLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
            reached[lane] += block->q[i + lane] >= single_limit;
            passed[lane] += block->q[i + lane] > single_limit;
        }
    }
    size_t certain = 0, possible = 0;
    for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
        possible += (size_t)reached[lane];
        certain += (size_t)passed[lane];
    }
    size_t open = possible - certain;
    for (size_t i = 0; open > 0 && i < count; i++) {
        if (block->q[i] == single_limit) {
            open--;
            certain += exact_of_f32(n[i], b[i]) >= limit;
        }
    }
    return certain;
}

/* True when a pair of the block can have an e above `maximum`. */
static inline bool may_exceed(const struct quotient_block *block, double maximum)
{
    return (double)block->maximum * (1 + 0x1p-21) + 0x1p-147 > maximum;
}

/* The first of the largest e from `first` on, if it is above *maximum. */
static void find_maximum(const f32_unaligned *n, const f32_unaligned *b, size_t first, size_t count,
                         const struct quotient_block *block, uint64_t start, double *maximum,
                         uint64_t *at)
{
    /* An overflow hides which quotient is the largest. */
    float least = isinf(block->maximum) ? 0 : block->maximum * (1 - 0x1p-20f) - 0x1p-147f;
    for (size_t i = first; i < count; i++) {
        if (block->q[i] < least)
            continue;
        double e = exact_of_f32(n[i], b[i]);
        e = e == e ? e : 0;
        if (e > *maximum) {
            *maximum = e;
            *at = start + i;
        }
    }
}

#endif
