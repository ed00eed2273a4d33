/*
 * block_sums.h - the float64 sums of a chunk, over a fixed number of lanes.
 *
 * Element i of a chunk is added to lane i % SUM_LANES and lanes are joined in index order, so the
 * bits do not depend on the width of the registers. Lanes start at +0, hence padding with zeros
 * changes nothing. Error: a lane adds at most TDC_PAIR_CHUNK / SUM_LANES = 2^15 terms, each term
 * and each addition rounded once, so a sum is within (2^15 + SUM_LANES) * 2^-53 < 2^-37 of the sum
 * of magnitudes (a worst case; in practice near 2^-50).
 */
#ifndef TDC_KERNELS_CPU_BLOCK_SUMS_H
#define TDC_KERNELS_CPU_BLOCK_SUMS_H

#include "kernels/cpu/block_load.h"

/* Eight doubles: one register of AVX-512, two of AVX2, four of SSE2 or NEON. */
#define SUM_LANES 8

struct lane_sums {
    double nb[SUM_LANES], nn[SUM_LANES], bb[SUM_LANES], dd[SUM_LANES];
    double n[SUM_LANES], b[SUM_LANES], abs[SUM_LANES];
} __attribute__((aligned(64)));

ALWAYS_INLINE double add_product(double sum, double x, double y, bool exact)
{
#if defined(__FMA__) || defined(__aarch64__)
    /* An exact product (of two f32, say) rounds the same fused or not. */
    if (exact)
        return __builtin_fma(x, y, sum);
#endif
    (void)exact;
    return sum + x * y;
}

/* Adds one element to each lane. `distance` takes the place of n - b unless it is NULL. */
ALWAYS_INLINE void add_group(struct lane_sums *s, double *top, const f64_unaligned *n,
                             const f64_unaligned *b, const double *distance, bool exact_products)
{
#pragma omp simd
    for (size_t lane = 0; lane < SUM_LANES; lane++) {
        double x = n[lane], y = b[lane];
        double d = distance ? distance[lane] : x - y;
        double magnitude = fabs(d);
        s->nb[lane] = add_product(s->nb[lane], x, y, exact_products);
        s->nn[lane] = add_product(s->nn[lane], x, x, exact_products);
        s->bb[lane] = add_product(s->bb[lane], y, y, exact_products);
        s->dd[lane] += d * d;
        s->n[lane] += x;
        s->b[lane] += y;
        s->abs[lane] += magnitude;
        top[lane] = magnitude > top[lane] ? magnitude : top[lane];
    }
}

static inline double lanes_maximum(const double *top)
{
    double maximum = top[0];
    for (size_t lane = 1; lane < SUM_LANES; lane++)
        maximum = top[lane] > maximum ? top[lane] : maximum;
    return maximum;
}

/*
 * after = before + the sums of `count` elements, a multiple of PADDING; returns max |n-b|.
 * Widening PADDING elements at a time keeps whole registers of AVX-512 busy.
 */
static double add_block_f32(const struct lane_sums *before, struct lane_sums *after,
                            const f32_unaligned *n, const f32_unaligned *b, size_t count)
{
    struct lane_sums s = *before;
    double top[SUM_LANES] = {0};
    for (size_t i = 0; i < count; i += PADDING) {
        double x[PADDING], y[PADDING];
#pragma omp simd
        for (size_t j = 0; j < PADDING; j++)
            x[j] = (double)n[i + j];
#pragma omp simd
        for (size_t j = 0; j < PADDING; j++)
            y[j] = (double)b[i + j];
        for (size_t j = 0; j < PADDING; j += SUM_LANES)
            add_group(&s, top, x + j, y + j, NULL, true);
    }
    *after = s;
    return lanes_maximum(top);
}

/* The same for f64. `distance`, if not NULL, holds |n-b| where that is not simply n - b. */
ALWAYS_INLINE double add_block_f64(const struct lane_sums *before, struct lane_sums *after,
                                   const f64_unaligned *n, const f64_unaligned *b,
                                   const double *distance, size_t count)
{
    struct lane_sums s = *before;
    double top[SUM_LANES] = {0};
    for (size_t i = 0; i < count; i += SUM_LANES)
        add_group(&s, top, n + i, b + i, distance ? distance + i : NULL, false);
    *after = s;
    return lanes_maximum(top);
}

/* The parts of complex numbers; magnitude[i] is |n-b| of pair i. */
struct complex_block {
    double n[BLOCK], n_imaginary[BLOCK], b[BLOCK], b_imaginary[BLOCK];
    double distance[BLOCK], b_modulus[BLOCK];
} __attribute__((aligned(64)));

static double add_block_complex(const struct lane_sums *before, struct lane_sums *after,
                                const struct complex_block *block, size_t count)
{
    struct lane_sums s = *before;
    double top[SUM_LANES] = {0};
    for (size_t i = 0; i < count; i += SUM_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < SUM_LANES; lane++) {
            double n = block->n[i + lane], n_imaginary = block->n_imaginary[i + lane];
            double b = block->b[i + lane], b_imaginary = block->b_imaginary[i + lane];
            double d = n - b, d_imaginary = n_imaginary - b_imaginary;
            double magnitude = block->distance[i + lane];
            s.nb[lane] += n * b + n_imaginary * b_imaginary;
            s.nn[lane] += n * n + n_imaginary * n_imaginary;
            s.bb[lane] += b * b + b_imaginary * b_imaginary;
            s.dd[lane] += d * d + d_imaginary * d_imaginary;
            s.n[lane] += n;
            s.b[lane] += b;
            s.abs[lane] += magnitude;
            top[lane] = magnitude > top[lane] ? magnitude : top[lane];
        }
    }
    *after = s;
    return lanes_maximum(top);
}

/*
 * NaN and infinity stay in a sum, so this costs nothing per element. A finite f64 chunk whose sum
 * overflows fails the test as well: its blocks are then looked at closely, to the same result.
 */
static inline bool lanes_are_finite(const double *n, const double *b)
{
    double probe = 0;
    for (size_t lane = 0; lane < SUM_LANES; lane++)
        probe += (n[lane] - n[lane]) + (b[lane] - b[lane]);
    return probe == 0;
}

/* A NaN (from overflows of both signs) gets one fixed representation. */
static inline double join_lanes(const double *lanes)
{
    double sum = lanes[0];
    for (size_t lane = 1; lane < SUM_LANES; lane++)
        sum += lanes[lane];
    return sum == sum ? sum : (double)NAN;
}

static void join_sums(const struct lane_sums *lanes, struct tdc_pair_sums *sums)
{
    sums->nb = join_lanes(lanes->nb);
    sums->nn = join_lanes(lanes->nn);
    sums->bb = join_lanes(lanes->bb);
    sums->dd = join_lanes(lanes->dd);
    sums->n = join_lanes(lanes->n);
    sums->b = join_lanes(lanes->b);
    sums->abs = join_lanes(lanes->abs);
}

#endif
