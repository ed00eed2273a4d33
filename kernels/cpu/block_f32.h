/*
 * block_f32.h - one block of pairs whose sides fit f32: sums, relative errors, maxima.
 *
 * TDC_RELATIVE_F64 gets along without a division per pair.
 *
 * Limits. Each limit L is 1/k rounded to f64, k an integer up to 1000. Claim: for n not b, e >= L
 * exactly if k |n-b| >= |b|, with n - b computed in f32. Where b/2 <= n <= 2b, n - b is exact in
 * f32 (Sterbenz) and e is the quotient |n-b| / |b| rounded to f64. If the quotient is at least 1/k,
 * so are both after rounding. If it is smaller, then by more than 2^-34 relatively, since k |n-b|
 * and |b| are products of integers below 2^34 with powers of two; rounding to f64 cannot bridge
 * that. Anywhere else |n-b| >= |b|/2: e has reached every limit, and k |n-b| >= |b| whatever
 * rounding did to n - b. The sign of a fused k |n-b| - |b| is exact, and so is the product in f64.
 *
 * Maximum of e. It can exceed the largest one so far, r, only if |n-b| > r|b| up to some roundings.
 * The few pairs that pass this test with a margin are divided in f64. r is 0 or at least 2^-25, as
 * no two f32 numbers are nearer to each other relatively.
 *
 * Maximum of |n-b|. Rounding to f32 keeps the order, so a pair of the largest |n-b| is among those
 * of the largest |n-b| in f32. Only a block that reaches the largest so far is looked at in f64.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_F32_H
#define TDC_KERNELS_CPU_BLOCK_F32_H

#include "kernels/cpu/relative.h"

enum single_rule {
    SINGLE_EXACT,     /* TDC_RELATIVE_F64 */
    SINGLE_F16,       /* native */
    SINGLE_F32,       /* native */
    SINGLE_F32_OR_NAN /* native, b_epsilon is 0, so that 0/0 can occur */
};

/* tdc_pair_limits[i] = 1 / limit_inverse[i] */
static const float limit_inverse[TDC_PAIR_LIMITS] = {1000, 200, 100, 10};

struct single_constants {
    float bound;                /* SINGLE_EXACT: a little less than the largest e so far */
    float n_epsilon, b_epsilon; /* native */
    float limits[2];            /* native; for SINGLE_F16 the least values that round to them */
};

/* What is carried from vector to vector. */
struct single_tops {
    f32v distance; /* highest |n-b| */
    f32v relative; /* highest e, before rounding to f16; SINGLE_EXACT: negative if it may rise */
};

struct single_block {
    struct single_tops tops;
    struct block_relative counts;
};

ALWAYS_INLINE void exact_step(struct single_tops *tops, struct f32_tally *reached, size_t i, f32v b,
                              f32v d, float bound)
{
    f32v y = f32_abs(b), gap = f32_nan_where_zero(d);
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        f32_tally_add(&reached[k], i, f32_reaches(f32_splat(limit_inverse[k]), gap, y));
    tops->relative = f32_min(f32_shortfall(f32_splat(bound), y, d), tops->relative);
}

ALWAYS_INLINE f32v native_quotient(enum single_rule kind, f32v n, f32v b, f32v d,
                                   const struct single_constants *constants)
{
    if (kind == SINGLE_F16)
        return f32_round_to_f16(d) / f32_abs(b);
    f32v x = f32_add_where_zero(n, b, f32_splat(constants->n_epsilon));
    f32v y = b;
    if (kind == SINGLE_F32)
        y = f32_add_where_zero(b, b, f32_splat(constants->b_epsilon));
    return f32_abs((x - y) / y);
}

/* Everything but the sums, for F32_LANES pairs; i is the index of the first. */
ALWAYS_INLINE void single_step(enum single_rule kind, const f32_unaligned *n,
                               const f32_unaligned *b, size_t i,
                               const struct single_constants *constants, struct single_tops *tops,
                               struct f32_tally *reached, struct f32_tally *nan)
{
    f32v x = f32_load(n + i), y = f32_load(b + i), d = f32_abs(x - y);
    tops->distance = f32_max(d, tops->distance);
    if (kind == SINGLE_EXACT) {
        exact_step(tops, reached, i, y, d, constants->bound);
        return;
    }
    f32v e = native_quotient(kind, x, y, d, constants);
    tops->relative = f32_max(e, tops->relative);
    f32_tally_add(&reached[0], i, f32_at_least(e, f32_splat(constants->limits[0])));
    f32_tally_add(&reached[1], i, f32_at_least(e, f32_splat(constants->limits[1])));
    if (kind != SINGLE_F32)
        f32_tally_add(nan, i, f32_is_nan(e));
}

ALWAYS_INLINE void finish_block(enum single_rule kind, const struct single_tops *tops,
                                const struct f32_tally *reached, const struct f32_tally *nan,
                                size_t count, struct single_block *out)
{
    out->tops = *tops;
    out->counts = (struct block_relative){{0}, 0};
    for (size_t k = 0; k < (kind == SINGLE_EXACT ? TDC_PAIR_LIMITS : 2); k++)
        out->counts.reached[k] = f32_tally_total(&reached[k], count);
    if (kind == SINGLE_F16 || kind == SINGLE_F32_OR_NAN)
        out->counts.nan = f32_tally_total(nan, count);
}

ALWAYS_INLINE void start_block(struct single_tops *tops, struct f32_tally *reached,
                               struct f32_tally *nan)
{
    tops->distance = f32_splat(0);
    tops->relative = f32_splat(0);
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        f32_tally_start(&reached[k]);
    f32_tally_start(nan);
}

/* The sums of `count` pairs, a multiple of PADDING. */
static void sum_block_f32(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                          const struct prefetch *ahead, struct lane_sums *sums)
{
    struct lane_sums s;
    clear_lanes(&s);
    for (size_t i = 0; i < count; i += 2 * SUM_LANES) {
        prefetch_pair(ahead, i);
        add_group_f32(&s, n + i, b + i);
        add_group_f32(&s, n + i + SUM_LANES, b + i + SUM_LANES);
    }
    *sums = s;
}

ALWAYS_INLINE void relate_block_f32(enum single_rule kind, const f32_unaligned *n,
                                    const f32_unaligned *b, size_t count,
                                    const struct single_constants *constants,
                                    struct single_block *out)
{
    struct single_tops tops;
    struct f32_tally reached[TDC_PAIR_LIMITS], nan;
    start_block(&tops, reached, &nan);
    for (size_t i = 0; i < count; i += F32_LANES)
        single_step(kind, n, b, i, constants, &tops, reached, &nan);
    finish_block(kind, &tops, reached, &nan, count, out);
}

/* Both at once. */
ALWAYS_INLINE void fused_block_f32(enum single_rule kind, const f32_unaligned *n,
                                   const f32_unaligned *b, size_t count,
                                   const struct prefetch *ahead,
                                   const struct single_constants *constants, struct lane_sums *sums,
                                   struct single_block *out)
{
    struct lane_sums s;
    clear_lanes(&s);
    struct single_tops tops;
    struct f32_tally reached[TDC_PAIR_LIMITS], nan;
    start_block(&tops, reached, &nan);
    for (size_t i = 0; i < count; i += 2 * SUM_LANES) {
        prefetch_pair(ahead, i);
        add_group_f32(&s, n + i, b + i);
        add_group_f32(&s, n + i + SUM_LANES, b + i + SUM_LANES);
        for (size_t j = 0; j < 2 * SUM_LANES; j += F32_LANES)
            single_step(kind, n, b, i + j, constants, &tops, reached, &nan);
    }
    finish_block(kind, &tops, reached, &nan, count, out);
    *sums = s;
}

/* ---- maxima ------------------------------------------------------------------------------ */

/* A little less than the largest e so far, rounded to f32. */
static inline float exceeding_bound(double maximum)
{
    if (!(maximum > 0))
        return 0;
    return maximum > 0x1p126 ? 0x1p126f : (float)(maximum * (1 - 0x1p-20));
}

/* What a pair must surpass to have a larger e than `maximum`. */
struct threshold {
    f32v bound;
    f64v maximum, half_unit;
};

static inline struct threshold threshold_of(double maximum)
{
    /* Half a unit in the last place of a number is at least 2^-54 of it. */
    return (struct threshold){f32_splat(exceeding_bound(maximum)), f64_splat(maximum),
                              f64_splat(maximum * 0x1.fp-55)};
}

/* Whether a pair among F32_LANES may. Those of e = maximum hardly ever do. */
ALWAYS_INLINE bool may_surpass(const struct threshold *t, const f32_unaligned *n,
                               const f32_unaligned *b)
{
    f32v x = f32_load(n), y = f32_load(b);
    if (!f32_any_negative(f32_shortfall(t->bound, f32_abs(y), f32_abs(x - y))))
        return false;
    bool found = false;
    for (size_t r = 0; r < F32_LANES; r += F64_LANES) {
        f64v wide_b = f64_widen(b + r), d = f64_abs(f64_widen(n + r) - wide_b);
        f64v modulus = f64_replace_zero(f64_abs(wide_b), d);
        found |= f64_may_exceed(t->maximum, t->half_unit, modulus, d);
    }
    return found;
}

/* The first of the largest e if it is above *maximum, which must not be negative. */
static void find_exact_maximum(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                               uint64_t start, double *maximum, uint64_t *at)
{
    struct threshold threshold = threshold_of(*maximum);
    for (size_t group = 0; group < count; group += F32_LANES) {
        if (!may_surpass(&threshold, n + group, b + group))
            continue;
        for (size_t i = group; i < group + F32_LANES; i++) {
            double e = exact_f64((double)n[i] - (double)b[i], (double)b[i]);
            if (e > *maximum) {
                *maximum = e;
                *at = start + i;
            }
        }
        threshold = threshold_of(*maximum);
    }
}

/* Looks at a block in f64 if `top`, the highest |n-b| in f32, says that sums->abs_max may rise. */
static void find_distance(const f32_unaligned *n, const f32_unaligned *b, size_t first,
                          size_t count, f32v top, size_t start, struct tdc_pair_sums *sums)
{
    /* From one of 0 it rises with the smallest number: there f32 subtracts exactly. */
    float least = sums->abs_max > 0 ? (float)sums->abs_max : sums->abs_max < 0 ? 0 : 0x1p-149f;
    if (!f32_any_at_least(top, least))
        return;
    f64v highest = f64_splat(0);
    for (size_t i = 0; i < padded_count(count); i += F64_LANES)
        highest = f64_max(f64_abs(f64_widen(n + i) - f64_widen(b + i)), highest);
    double maximum = f64_highest(highest);
    ENTER_MAXIMUM(maximum, fabs((double)n[i] - (double)b[i]), first, count, start, &sums->abs_max,
                  &sums->abs_at);
}

#endif
