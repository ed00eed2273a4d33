/*
 * block_relative.h - the relative error e of a block where it is computed directly: all of
 * TDC_RELATIVE_NATIVE, and TDC_RELATIVE_F64 over f64 numbers. block_quotient.h has the rest.
 *
 * Maxima and counts do not depend on the order of elements, so lanes are as many as are fast.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_RELATIVE_H
#define TDC_KERNELS_CPU_BLOCK_RELATIVE_H

#include "kernels/cpu/block_finite.h"

struct block_relative {
    double maximum;                 /* below 0 when every e is NaN */
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
    return fabsf(round_to_f16(round_to_f16(n - b) / b));
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

#define SINGLE_LANES 16

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
                                   const struct native_rule *rule, const float *limits,
                                   struct block_relative *out)
{
    float n_epsilon = (float)rule->n_epsilon, b_epsilon = (float)rule->b_epsilon;
    float first_limit = limits[0], second_limit = limits[1];
    float top[SINGLE_LANES];
    int32_t first[SINGLE_LANES] = {0}, second[SINGLE_LANES] = {0}, nan[SINGLE_LANES] = {0};
    for (size_t lane = 0; lane < SINGLE_LANES; lane++)
        top[lane] = -1;
    for (size_t i = 0; i < count; i += SINGLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
            float e = native_single(kind, n[i + lane], b[i + lane], n_epsilon, b_epsilon);
            top[lane] = e > top[lane] ? e : top[lane];
            first[lane] += e >= first_limit;
            second[lane] += e >= second_limit;
            if (kind != SINGLE_F32)
                nan[lane] += e != e;
        }
    }
    *out = (struct block_relative){.maximum = -1};
    for (size_t lane = 0; lane < SINGLE_LANES; lane++) {
        out->maximum = (double)top[lane] > out->maximum ? (double)top[lane] : out->maximum;
        out->reached[0] += (size_t)first[lane];
        out->reached[1] += (size_t)second[lane];
        out->nan += (size_t)nan[lane];
    }
}

#define DOUBLE_LANES 8

static void relative_double(const f64_unaligned *n, const f64_unaligned *b, size_t count,
                            const struct native_rule *rule, struct block_relative *out)
{
    struct native_rule r = *rule;
    double top[DOUBLE_LANES];
    int64_t first[DOUBLE_LANES] = {0}, second[DOUBLE_LANES] = {0}, nan[DOUBLE_LANES] = {0};
    for (size_t lane = 0; lane < DOUBLE_LANES; lane++)
        top[lane] = -1;
    for (size_t i = 0; i < count; i += DOUBLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
            double e = native_f64(n[i + lane], b[i + lane], &r);
            top[lane] = e > top[lane] ? e : top[lane];
            first[lane] += e >= tdc_pair_limits[0];
            second[lane] += e >= tdc_pair_limits[1];
            nan[lane] += e != e;
        }
    }
    *out = (struct block_relative){.maximum = lanes_maximum(top)};
    for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
        out->reached[0] += (size_t)first[lane];
        out->reached[1] += (size_t)second[lane];
        out->nan += (size_t)nan[lane];
    }
}

/* `distance` and `modulus` take the place of n - b and b where they are not NULL. */
ALWAYS_INLINE void relative_exact(const f64_unaligned *n, const f64_unaligned *b,
                                  const double *distance, const double *modulus, size_t count,
                                  struct block_relative *out)
{
    const double limit[TDC_PAIR_LIMITS] = {tdc_pair_limits[0], tdc_pair_limits[1],
                                           tdc_pair_limits[2], tdc_pair_limits[3]};
    double top[DOUBLE_LANES] = {0};
    int64_t reached[TDC_PAIR_LIMITS][DOUBLE_LANES] = {{0}};
    for (size_t i = 0; i < count; i += DOUBLE_LANES) {
#pragma omp simd
        for (size_t lane = 0; lane < DOUBLE_LANES; lane++) {
            double d = distance ? distance[i + lane] : n[i + lane] - b[i + lane];
            double e = exact_f64(d, modulus ? modulus[i + lane] : b[i + lane]);
            top[lane] = e > top[lane] ? e : top[lane];
            reached[0][lane] += e >= limit[0];
            reached[1][lane] += e >= limit[1];
            reached[2][lane] += e >= limit[2];
            reached[3][lane] += e >= limit[3];
        }
    }
    *out = (struct block_relative){.maximum = lanes_maximum(top)};
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        for (size_t lane = 0; lane < DOUBLE_LANES; lane++)
            out->reached[k] += (size_t)reached[k][lane];
}

#endif
