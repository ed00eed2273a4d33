/*
 * block_relative.h - the relative error e of a block where it is computed directly: all of
 * TDC_RELATIVE_NATIVE, and TDC_RELATIVE_F64 over f64 numbers. block_exact.h has the rest.
 *
 * The extremes of n and b are found on the way: most of these loops wait for divisions. Extremes
 * and counts do not depend on the order of elements, so lanes are as many as are fast. Blocks are
 * padded with copies of their first pair, which change no extreme and are taken off the counts.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_RELATIVE_H
#define TDC_KERNELS_CPU_BLOCK_RELATIVE_H

#include "kernels/cpu/block_finite.h"

struct block_relative {
    double n_min, n_max, b_min, b_max;
    double maximum;                  /* of e; below 0 when every e is NaN */
    size_t reached[TDC_PAIR_LIMITS]; /* elements with e >= limit */
    size_t nan;
};

/* What is added to each side where b is 0, under TDC_RELATIVE_NATIVE. */
struct native_rule {
    double n_epsilon, b_epsilon;
    bool n_single; /* n + epsilon is rounded to f32 */
};

ALWAYS_INLINE float native_f16(float n, float b)
{
    /* f32 has more than 2 * 11 + 1 digits: rounding its results to f16 is rounding once. */
    return round_magnitude_to_f16(round_magnitude_to_f16(fabsf(n - b)) / fabsf(b));
}

ALWAYS_INLINE float native_f32(float n, float b, float n_epsilon, float b_epsilon)
{
    float x = n + (b == 0 ? n_epsilon : 0.0f);
    float y = b + (b == 0 ? b_epsilon : 0.0f);
    return fabsf((x - y) / y);
}

ALWAYS_INLINE double native_f64(double n, double b, const struct native_rule *rule)
{
    double x = n + (b == 0 ? rule->n_epsilon : 0.0);
    double y = b + (b == 0 ? rule->b_epsilon : 0.0);
    /* f64 has more than 2 * 24 + 1 digits: rounding the sum again is adding in f32. */
    x = rule->n_single ? (double)(float)x : x;
    return fabs((x - y) / y);
}

/*
 * |d / b|, but 1 where b is 0. NaN stands for e = 0 where n and b are 0: no comparison holds for
 * it, so it is neither a maximum nor has it reached a limit.
 */
ALWAYS_INLINE double exact_f64(double d, double b)
{
    return fabs(d / (b + (b == 0 ? d : 0.0)));
}

static inline double zero_if_nan(double e)
{
    return e == e ? e : 0;
}

/* One register of AVX-512 or AVX2 each: more would not stay in registers. */
#if defined(__AVX512F__)
#define SINGLE_LANES 16
#else
#define SINGLE_LANES 8
#endif

struct single_range {
    float n_low[SINGLE_LANES], n_high[SINGLE_LANES], b_low[SINGLE_LANES], b_high[SINGLE_LANES];
};

ALWAYS_INLINE struct single_range single_range_start(float n, float b)
{
    struct single_range range;
    for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
        range.n_low[lane] = range.n_high[lane] = n;
        range.b_low[lane] = range.b_high[lane] = b;
    }
    return range;
}

ALWAYS_INLINE void single_range_widen(struct single_range *range, size_t lane, float n, float b)
{
    range->n_low[lane] = n < range->n_low[lane] ? n : range->n_low[lane];
    range->n_high[lane] = n > range->n_high[lane] ? n : range->n_high[lane];
    range->b_low[lane] = b < range->b_low[lane] ? b : range->b_low[lane];
    range->b_high[lane] = b > range->b_high[lane] ? b : range->b_high[lane];
}

/* Halving the lanes again and again lets the compiler use vectors here, too. */
static float lowest_lane(float *lanes)
{
    for (size_t half = SINGLE_LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] = lanes[lane + half] < lanes[lane] ? lanes[lane + half] : lanes[lane];
    return lanes[0];
}

static float highest_lane(float *lanes)
{
    for (size_t half = SINGLE_LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
    return lanes[0];
}

static void single_range_join(struct single_range *range, struct block_relative *out)
{
    out->n_min = (double)lowest_lane(range->n_low);
    out->n_max = (double)highest_lane(range->n_high);
    out->b_min = (double)lowest_lane(range->b_low);
    out->b_max = (double)highest_lane(range->b_high);
}

enum single_rule {
    SINGLE_F16,
    SINGLE_F32,
    SINGLE_F32_OR_NAN /* b_epsilon is 0, so that 0/0 can occur */
};

ALWAYS_INLINE float native_single(enum single_rule kind, float n, float b, float n_epsilon,
                                  float b_epsilon)
{
    return kind == SINGLE_F16 ? native_f16(n, b) : native_f32(n, b, n_epsilon, b_epsilon);
}

ALWAYS_INLINE void relative_single(enum single_rule kind, const f32_unaligned *n,
                                   const f32_unaligned *b, size_t count,
                                   const struct native_rule *rule, const double *limits,
                                   struct block_relative *out)
{
    float n_epsilon = (float)rule->n_epsilon, b_epsilon = (float)rule->b_epsilon;
    float first_limit = (float)limits[0], second_limit = (float)limits[1];
    struct single_range range = single_range_start(n[0], b[0]);
    float top[SINGLE_LANES];
    int32_t first[SINGLE_LANES] = {0}, second[SINGLE_LANES] = {0}, nan[SINGLE_LANES] = {0};
    for (size_t lane = 0; lane < SINGLE_LANES; lane++)
        top[lane] = -1;
    for (size_t i = 0; i < count; i += SINGLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
            float x = n[i + lane], y = b[i + lane];
            float e = native_single(kind, x, y, n_epsilon, b_epsilon);
            single_range_widen(&range, lane, x, y);
            top[lane] = e > top[lane] ? e : top[lane];
            first[lane] += e >= first_limit;
            second[lane] += e >= second_limit;
            if (kind != SINGLE_F32)
                nan[lane] += e != e;
        }
    }
    *out = (struct block_relative){.maximum = (double)highest_lane(top)};
    single_range_join(&range, out);
    for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
        out->reached[0] += (size_t)first[lane];
        out->reached[1] += (size_t)second[lane];
        out->nan += (size_t)nan[lane];
    }
}

/* Takes `padding` copies of the first pair, whose relative error is e, off the counts. */
static void discount_padding(double e, size_t padding, const double *limits, size_t limit_count,
                             struct block_relative *out)
{
    out->nan -= e != e ? padding : 0;
    for (size_t k = 0; k < limit_count; k++)
        out->reached[k] -= e >= limits[k] ? padding : 0;
}

#endif
