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
 * The native rules compute e of integers in f64. Where b is not 0 it is that of TDC_RELATIVE_F64.
 * Where it is 0 both sides are moved by 2^-52, and e is |n| 2^52 but for its last places, or 0: as
 * if |b| were 2^-52.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_F32_H
#define TDC_KERNELS_CPU_BLOCK_F32_H

#include "kernels/cpu/limit_tally.h"
#include "kernels/cpu/relative.h"

enum single_rule {
    SINGLE_EXACT,      /* TDC_RELATIVE_F64 */
    SINGLE_F16,        /* native */
    SINGLE_F32,        /* native */
    SINGLE_F32_OR_NAN, /* native, b_epsilon is 0, so that 0/0 can occur */
    SINGLE_WHOLE       /* native, integers, which count as f64 */
};

/* tdc_pair_limits[i] = 1 / limit_inverse[i] */
static const float limit_inverse[TDC_PAIR_LIMITS] = {1000, 200, 100, 10};

struct single_constants {
    float bound; /* SINGLE_EXACT, SINGLE_WHOLE: a little less than the largest e so far */
    float n_epsilon, b_epsilon; /* native */
    float limits[2];            /* native; for SINGLE_F16 the least values that round to them */
};

struct single_block {
    f64v distance; /* highest |n-b| by lane */
    f32v relative; /* highest e before rounding to f16, or negative if r may rise where a bound
                      tells */
    struct block_relative counts;
};

/* What the pairs of a block are counted in. */
struct single_tallies {
    struct limit_tally limits;        /* SINGLE_EXACT */
    struct f32_tally reached[2], nan; /* native */
};

ALWAYS_INLINE void exact_step(f32v *relative, struct single_tallies *tallies, size_t i, f32v b,
                              f32v d, float bound)
{
    f32v y = f32_abs(b);
    limit_tally_add(&tallies->limits, i, limit_inverse, d, y);
    *relative = f32_min(f32_shortfall(f32_splat(bound), y, d), *relative);
}

ALWAYS_INLINE void whole_step(f32v *relative, struct single_tallies *tallies, size_t i, f32v b,
                              f32v d, float bound)
{
    f32v y = f32_max(f32_abs(b), f32_splat(0x1p-52f));
    for (size_t k = 0; k < 2; k++)
        f32_tally_add(&tallies->reached[k], i, f32_reaches(f32_splat(limit_inverse[k]), d, y));
    *relative = f32_min(f32_shortfall(f32_splat(bound), y, d), *relative);
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
                               const struct single_constants *constants, f32v *relative,
                               struct single_tallies *tallies)
{
    f32v x = f32_load(n + i), y = f32_load(b + i), d = f32_abs(x - y);
    if (kind == SINGLE_EXACT) {
        exact_step(relative, tallies, i, y, d, constants->bound);
        return;
    }
    if (kind == SINGLE_WHOLE) {
        whole_step(relative, tallies, i, y, d, constants->bound);
        return;
    }
    f32v e = native_quotient(kind, x, y, d, constants);
    *relative = f32_max(e, *relative);
    for (size_t k = 0; k < 2; k++)
        f32_tally_add(&tallies->reached[k], i, f32_at_least(e, f32_splat(constants->limits[k])));
    if (kind != SINGLE_F32)
        f32_tally_add(&tallies->nan, i, f32_is_nan(e));
}

ALWAYS_INLINE void start_tallies(struct single_tallies *tallies)
{
    limit_tally_start(&tallies->limits);
    f32_tally_start(&tallies->reached[0]);
    f32_tally_start(&tallies->reached[1]);
    f32_tally_start(&tallies->nan);
}

ALWAYS_INLINE void finish_tallies(enum single_rule kind, const struct single_tallies *tallies,
                                  size_t count, struct block_relative *out)
{
    *out = (struct block_relative){{0}, 0};
    if (kind == SINGLE_EXACT) {
        limit_tally_totals(&tallies->limits, count, out->reached);
        return;
    }
    for (size_t k = 0; k < 2; k++)
        out->reached[k] = f32_tally_total(&tallies->reached[k], count);
    if (kind == SINGLE_F16 || kind == SINGLE_F32_OR_NAN)
        out->nan = f32_tally_total(&tallies->nan, count);
}

/* The sums of `count` pairs, a multiple of PADDING, and the highest |n-b|. */
static void sum_block_f32(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                          const struct prefetch *ahead, struct lane_sums *sums,
                          struct single_block *out)
{
    struct lane_sums s;
    f64v distance = f64_splat(0);
    clear_lanes(&s);
    for (size_t i = 0; i < count; i += 2 * SUM_LANES) {
        prefetch_pair(ahead, i);
        add_group_f32(&s, &distance, n + i, b + i);
        add_group_f32(&s, &distance, n + i + SUM_LANES, b + i + SUM_LANES);
    }
    *sums = s;
    out->distance = distance;
}

/* The rest. */
ALWAYS_INLINE void relate_block_f32(enum single_rule kind, const f32_unaligned *n,
                                    const f32_unaligned *b, size_t count,
                                    const struct single_constants *constants,
                                    struct single_block *out)
{
    f32v relative = f32_splat(0);
    struct single_tallies tallies;
    start_tallies(&tallies);
    for (size_t i = 0; i < count; i += F32_LANES)
        single_step(kind, n, b, i, constants, &relative, &tallies);
    finish_tallies(kind, &tallies, count, &out->counts);
    out->relative = relative;
}

/* Both at once. */
ALWAYS_INLINE void fused_block_f32(enum single_rule kind, const f32_unaligned *n,
                                   const f32_unaligned *b, size_t count,
                                   const struct prefetch *ahead,
                                   const struct single_constants *constants, struct lane_sums *sums,
                                   struct single_block *out)
{
    struct lane_sums s;
    f64v distance = f64_splat(0);
    f32v relative = f32_splat(0);
    struct single_tallies tallies;
    clear_lanes(&s);
    start_tallies(&tallies);
    for (size_t i = 0; i < count; i += 2 * SUM_LANES) {
        prefetch_pair(ahead, i);
        add_group_f32(&s, &distance, n + i, b + i);
        add_group_f32(&s, &distance, n + i + SUM_LANES, b + i + SUM_LANES);
        for (size_t j = 0; j < 2 * SUM_LANES; j += F32_LANES)
            single_step(kind, n, b, i + j, constants, &relative, &tallies);
    }
    finish_tallies(kind, &tallies, count, &out->counts);
    *sums = s;
    out->distance = distance;
    out->relative = relative;
}

/* ---- maxima ------------------------------------------------------------------------------ */

static double native_single(enum single_rule kind, float n, float b,
                            const struct single_constants *constants)
{
    if (kind == SINGLE_F16)
        return (double)native_f16_unrounded(n, b);
    return (double)native_f32(n, b, constants->n_epsilon, constants->b_epsilon);
}

ALWAYS_INLINE double round_native(enum single_rule kind, double e)
{
    return kind == SINGLE_F16 ? (double)round_magnitude_to_f16((float)e) : e;
}

/* The first of the largest e if it is above *maximum; `relative` has the largest of each lane. */
ALWAYS_INLINE void find_native_maximum(enum single_rule kind, f32v relative, const f32_unaligned *n,
                                       const f32_unaligned *b, size_t count, uint64_t start,
                                       const struct single_constants *constants, double *highest,
                                       uint64_t *at)
{
    /* The next f32 number. For an infinite maximum that is NaN, which nothing reaches. */
    float above = bits_to_f32(f32_to_bits((float)*highest) + 1);
    if (*highest >= 0 && !f32_any_at_least(relative, above))
        return;
    double maximum = round_native(kind, (double)f32_highest(relative));
    ENTER_MAXIMUM(maximum, round_native(kind, native_single(kind, n[i], b[i], constants)), 0, count,
                  start, highest, at);
}

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

#endif
