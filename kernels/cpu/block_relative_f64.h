/*
 * block_relative_f64.h - block_relative.h for f64 numbers: both rules divide every pair.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_RELATIVE_F64_H
#define TDC_KERNELS_CPU_BLOCK_RELATIVE_F64_H

#include "kernels/cpu/block_relative.h"

#define DOUBLE_LANES 8

/* Counts fit a double, and SSE2 has few operations on 64-bit integers. */
#if defined(__AVX2__)
typedef int64_t lane_count;
#else
typedef double lane_count;
#endif

struct double_range {
    double n_low[DOUBLE_LANES], n_high[DOUBLE_LANES], b_low[DOUBLE_LANES], b_high[DOUBLE_LANES];
};

ALWAYS_INLINE struct double_range double_range_start(double n, double b)
{
    struct double_range range;
    for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
        range.n_low[lane] = range.n_high[lane] = n;
        range.b_low[lane] = range.b_high[lane] = b;
    }
    return range;
}

ALWAYS_INLINE void double_range_widen(struct double_range *range, size_t lane, double n, double b)
{
    range->n_low[lane] = n < range->n_low[lane] ? n : range->n_low[lane];
    range->n_high[lane] = n > range->n_high[lane] ? n : range->n_high[lane];
    range->b_low[lane] = b < range->b_low[lane] ? b : range->b_low[lane];
    range->b_high[lane] = b > range->b_high[lane] ? b : range->b_high[lane];
}

static void double_range_join(const struct double_range *range, struct block_relative *out)
{
    out->n_min = out->b_min = INFINITY;
    out->n_max = out->b_max = -INFINITY;
    for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
        widen_range(range->n_low[lane], range->n_high[lane], &out->n_min, &out->n_max);
        widen_range(range->b_low[lane], range->b_high[lane], &out->b_min, &out->b_max);
    }
}

ALWAYS_INLINE void relative_double(const f64_unaligned *n, const f64_unaligned *b, size_t count,
                                   struct native_rule r, struct block_relative *out)
{
    const double first_limit = tdc_pair_limits[0], second_limit = tdc_pair_limits[1];
    struct double_range range = double_range_start(n[0], b[0]);
    double top[DOUBLE_LANES];
    lane_count first[DOUBLE_LANES] = {0}, second[DOUBLE_LANES] = {0}, nan[DOUBLE_LANES] = {0};
    for (size_t lane = 0; lane < DOUBLE_LANES; lane++)
        top[lane] = -1;
    for (size_t i = 0; i < count; i += DOUBLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
            double x = n[i + lane], y = b[i + lane];
            double e = native_f64(x, y, &r);
            double_range_widen(&range, lane, x, y);
            top[lane] = e > top[lane] ? e : top[lane];
            first[lane] += e >= first_limit ? 1 : 0;
            second[lane] += e >= second_limit ? 1 : 0;
            if (r.b_epsilon == 0)
                nan[lane] += e != e ? 1 : 0;
        }
    }
    *out = (struct block_relative){.maximum = lanes_maximum(top)};
    double_range_join(&range, out);
    for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
        out->reached[0] += (size_t)first[lane];
        out->reached[1] += (size_t)second[lane];
        out->nan += (size_t)nan[lane];
    }
}

static void relative_native_f64(const f64_unaligned *n, const f64_unaligned *b, size_t count,
                                const struct native_rule *rule, struct block_relative *out)
{
    /* Neither side f32 or f16: with the rule known to the compiler the loop is half as long. */
    const struct native_rule plain = {0x1p-52, 0x1p-52, false};
    if (rule->n_epsilon == plain.n_epsilon && rule->b_epsilon == plain.b_epsilon && !rule->n_single)
        relative_double(n, b, count, plain, out);
    else
        relative_double(n, b, count, *rule, out);
}

/*
 * `distance` and `modulus` take the place of n - b and b where they are not NULL. Padding may also
 * be 0 against 0 beside a distance or modulus of 0: it reaches no limit.
 */
ALWAYS_INLINE void relative_exact(const f64_unaligned *n, const f64_unaligned *b,
                                  const double *distance, const double *modulus, size_t count,
                                  struct block_relative *out)
{
    const double limit[TDC_PAIR_LIMITS] = {tdc_pair_limits[0], tdc_pair_limits[1],
                                           tdc_pair_limits[2], tdc_pair_limits[3]};
    struct double_range range = double_range_start(n[0], b[0]);
    double top[DOUBLE_LANES] = {0};
    lane_count reached[TDC_PAIR_LIMITS][DOUBLE_LANES] = {{0}};
    for (size_t i = 0; i < count; i += DOUBLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
            double x = n[i + lane], y = b[i + lane];
            double d = distance ? distance[i + lane] : x - y;
            double e = exact_f64(d, modulus ? modulus[i + lane] : y);
            double_range_widen(&range, lane, x, y);
            top[lane] = e > top[lane] ? e : top[lane];
            reached[0][lane] += e >= limit[0] ? 1 : 0;
            reached[1][lane] += e >= limit[1] ? 1 : 0;
            reached[2][lane] += e >= limit[2] ? 1 : 0;
            reached[3][lane] += e >= limit[3] ? 1 : 0;
        }
    }
    *out = (struct block_relative){.maximum = lanes_maximum(top)};
    double_range_join(&range, out);
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        for (size_t lane = 0; lane < DOUBLE_LANES; lane++)
            out->reached[k] += (size_t)reached[k][lane];
}

#endif
