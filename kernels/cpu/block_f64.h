/*
 * block_f64.h - one block of pairs of which a side does not fit f32: sums, relative errors, maxima.
 *
 * Both rules divide every pair; all else happens while the divisions are under way.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_F64_H
#define TDC_KERNELS_CPU_BLOCK_F64_H

#include "kernels/cpu/block_f32.h"

enum double_rule {
    DOUBLE_EXACT, /* TDC_RELATIVE_F64 */
    DOUBLE_COMPLEX /* TDC_RELATIVE_F64, distance and modulus given, sums taken elsewhere */,
    DOUBLE_PLAIN, /* native, neither side f16, bf16 or f32 */
    DOUBLE_MIXED  /* native */
};

/* The sides, and what takes the place of |n-b| and |b| where it is not NULL. */
struct f64_sides {
    const f64_unaligned *n, *b;
    const double *distance, *modulus;
};

struct f64_tops {
    f64v distance, relative;
};

struct f64_block {
    double distance, relative; /* maxima */
    struct block_relative counts;
};

ALWAYS_INLINE f64v quotient(enum double_rule kind, f64v n, f64v b, f64v d,
                            const struct native_rule *rule)
{
    if (kind == DOUBLE_EXACT || kind == DOUBLE_COMPLEX)
        return f64_abs(d / f64_replace_zero(b, d));
    double n_epsilon = kind == DOUBLE_PLAIN ? 0x1p-52 : rule->n_epsilon;
    double b_epsilon = kind == DOUBLE_PLAIN ? 0x1p-52 : rule->b_epsilon;
    f64v x = f64_add_where_zero(n, b, f64_splat(n_epsilon));
    f64v y = f64_add_where_zero(b, b, f64_splat(b_epsilon));
    if (kind == DOUBLE_MIXED && rule->n_single)
        x = f64_round_to_f32(x);
    return f64_abs((x - y) / y);
}

/* F64_LANES pairs from index i on; their sums go to the registers r. */
ALWAYS_INLINE void f64_step(enum double_rule kind, const struct f64_sides *sides, size_t i,
                            size_t r, const struct native_rule *rule, struct lane_sums *sums,
                            struct f64_tops *tops, struct f64_tally *reached, struct f64_tally *nan)
{
    f64v x = f64_load(sides->n + i), y = f64_load(sides->b + i);
    f64v d = x - y, modulus = y;
    if (sides->distance)
        d = f64_load(sides->distance + i);
    if (sides->modulus)
        modulus = f64_load(sides->modulus + i);
    f64v magnitude = f64_abs(d);
    if (kind != DOUBLE_COMPLEX)
        add_pairs(sums, r, x, y, d, magnitude, false);
    tops->distance = f64_max(magnitude, tops->distance);
    f64v e = quotient(kind, x, modulus, d, rule);
    /* 0/0 is NaN: neither a maximum nor beyond a limit. */
    tops->relative = f64_max(e, tops->relative);
    bool exact = kind == DOUBLE_EXACT || kind == DOUBLE_COMPLEX;
    for (size_t k = 0; k < (exact ? TDC_PAIR_LIMITS : 2); k++)
        f64_tally_add(&reached[k], i, f64_at_least(e, f64_splat(tdc_pair_limits[k])));
    if (kind == DOUBLE_MIXED)
        f64_tally_add(nan, i, f64_is_nan(e));
}

/*
 * The sums of `count` pairs, a multiple of PADDING, and the rest. Pairs of 0 against 0 change
 * nothing but the counts of the native rules. DOUBLE_COMPLEX leaves `sums` alone.
 */
ALWAYS_INLINE void take_pairs_f64(enum double_rule kind, const struct f64_sides *sides,
                                  size_t count, const struct prefetch *ahead,
                                  const struct native_rule *rule, struct lane_sums *sums,
                                  struct f64_block *out)
{
    struct lane_sums s;
    clear_lanes(&s);
    struct f64_tops tops = {f64_splat(0), f64_splat(0)};
    struct f64_tally reached[TDC_PAIR_LIMITS], nan;
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        f64_tally_start(&reached[k]);
    f64_tally_start(&nan);
    for (size_t i = 0; i < count; i += SUM_LANES) {
        prefetch_pair(ahead, i);
        for (size_t r = 0; r < SUM_REGISTERS; r++)
            f64_step(kind, sides, i + r * F64_LANES, r, rule, &s, &tops, reached, &nan);
    }
    if (kind != DOUBLE_COMPLEX)
        *sums = s;
    bool exact = kind == DOUBLE_EXACT || kind == DOUBLE_COMPLEX;
    *out = (struct f64_block){f64_highest(tops.distance), f64_highest(tops.relative), {{0}, 0}};
    for (size_t k = 0; k < (exact ? TDC_PAIR_LIMITS : 2); k++)
        out->counts.reached[k] = f64_tally_total(&reached[k], count);
    if (kind == DOUBLE_MIXED)
        out->counts.nan = f64_tally_total(&nan, count);
}

/* ---- integers by the native rules ------------------------------------------------------------ */

static const struct native_rule whole_rule = {.n_epsilon = 0x1p-52, .b_epsilon = 0x1p-52};

/* Whether e is above `maximum` for a pair among F32_LANES. */
ALWAYS_INLINE bool whole_surpasses(double maximum, const f32_unaligned *n, const f32_unaligned *b)
{
    bool found = false;
    for (size_t r = 0; r < F32_LANES; r += F64_LANES) {
        f64v e = quotient(DOUBLE_PLAIN, f64_widen(n + r), f64_widen(b + r), f64_splat(0), NULL);
        found |= f64_any_above(e, maximum);
    }
    return found;
}

/* The first of the largest e of whole f32 numbers if it is above *maximum, which must not be
 * negative. */
static void find_whole_maximum(const f32_unaligned *n, const f32_unaligned *b, size_t count,
                               uint64_t start, double *maximum, uint64_t *at)
{
    f32v bound = f32_splat(exceeding_bound(*maximum));
    for (size_t group = 0; group < count; group += F32_LANES) {
        f32v x = f32_load(n + group), y = f32_load(b + group);
        f32v modulus = f32_max(f32_abs(y), f32_splat(0x1p-52f));
        if (!f32_any_negative(f32_shortfall(bound, modulus, f32_abs(x - y))) ||
            !whole_surpasses(*maximum, n + group, b + group))
            continue;
        for (size_t i = group; i < group + F32_LANES; i++) {
            double e = native_f64((double)n[i], (double)b[i], &whole_rule);
            if (e > *maximum) {
                *maximum = e;
                *at = start + i;
            }
        }
        bound = f32_splat(exceeding_bound(*maximum));
    }
}

#endif
