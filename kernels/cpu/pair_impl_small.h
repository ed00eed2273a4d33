/*
 * pair_impl_small.h - the part of pair_impl.h for integers of one or two bytes against their like,
 * and for bool against bool. Included there only.
 *
 * Sums of such numbers are whole and far below 2^53: exact in whatever order and lane they are
 * taken, by integers or by f64. By TDC_RELATIVE_F64 and by the native rules alike, e is |n-b| / |b|
 * where b is not 0; a limit 1/k is reached if k |n-b| >= |b|, since the quotient is at least 1/k or
 * below it by more than 2^-26 of it. Where b is 0 and n is not, e is 1, or by the native rules next
 * to |n| 2^52. Either reaches all limits.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_SMALL_H
#define TDC_KERNELS_CPU_PAIR_IMPL_SMALL_H

#include "kernels/cpu/vector/shorts.h"

/* A whole block; false if it is not for these files. `limits`: 2 or TDC_PAIR_LIMITS. */
#define SMALL_LOOP static __attribute__((noinline)) bool
#define DEFINE_BYTE_LOOP(name, has_sign, limits)                                                   \
    SMALL_LOOP name(const void *n, const void *b, const struct prefetch *ahead,                    \
                    const struct small_ratio *ratio, struct small_view *view)                      \
    {                                                                                              \
        byte_add(has_sign, n, b, ahead->n, ahead->b, view);                                        \
        byte_relate(has_sign, limits, n, b, ratio, view);                                          \
        return true;                                                                               \
    }
#define DEFINE_SHORT_LOOP(name, has_sign, limits)                                                  \
    SMALL_LOOP name(const void *n, const void *b, const struct prefetch *ahead,                    \
                    const struct small_ratio *ratio, struct small_view *view)                      \
    {                                                                                              \
        if (!short_add(has_sign, n, b, ahead->n, ahead->b, view))                                  \
            return false;                                                                          \
        short_relate(limits, n, b, ratio, view);                                                   \
        return true;                                                                               \
    }
DEFINE_BYTE_LOOP(exact_i8, true, TDC_PAIR_LIMITS)
DEFINE_BYTE_LOOP(native_i8, true, 2)
DEFINE_BYTE_LOOP(exact_u8, false, TDC_PAIR_LIMITS)
DEFINE_BYTE_LOOP(native_u8, false, 2)
DEFINE_SHORT_LOOP(exact_i16, true, TDC_PAIR_LIMITS)
DEFINE_SHORT_LOOP(native_i16, true, 2)
DEFINE_SHORT_LOOP(exact_u16, false, TDC_PAIR_LIMITS)
DEFINE_SHORT_LOOP(native_u16, false, 2)
#undef DEFINE_BYTE_LOOP
#undef DEFINE_SHORT_LOOP

SMALL_LOOP either_bool(const void *n, const void *b, const struct prefetch *ahead,
                       const struct small_ratio *ratio, struct small_view *view)
{
    truth_relate(n, b, ahead->n, ahead->b, ratio, view);
    return true;
}
#undef SMALL_LOOP

static inline bool takes_small(const struct tdc_pair_plan *plan)
{
    return plan->n_dtype == plan->b_dtype && !plan->extremes && tdc_dtype_size(plan->n_dtype) <= 2;
}

static bool view_small(const struct tdc_pair_plan *plan, const void *n, const void *b,
                       const struct prefetch *ahead, bool native, const struct small_ratio *ratio,
                       struct small_view *view)
{
    switch (plan->n_dtype) {
    case TDC_I8:
        return (native ? native_i8 : exact_i8)(n, b, ahead, ratio, view);
    case TDC_U8:
        return (native ? native_u8 : exact_u8)(n, b, ahead, ratio, view);
    case TDC_I16:
        return (native ? native_i16 : exact_i16)(n, b, ahead, ratio, view);
    case TDC_U16:
        return (native ? native_u16 : exact_u16)(n, b, ahead, ratio, view);
    default:
        return either_bool(n, b, ahead, ratio, view);
    }
}

/* Kept from block to block: it changes when the maximum does. */
static const struct small_ratio *ratio_of_maximum(const struct tdc_pair_plan *plan, double maximum,
                                                  struct small_ratio *kept)
{
    if (kept->of != maximum)
        *kept = tdc_dtype_size(plan->n_dtype) == 1
                    ? small_ratio_of(maximum, BYTE_RATIO, BYTE_RATIO_HIGHEST)
                    : small_ratio_of(maximum, SHORT_RATIO, SHORT_RATIO_HIGHEST);
    return kept;
}

/* Whether e of the native rules rises where b is 0: the largest |n| there has the largest e, which
 * may depend on its sign. */
static bool zero_raises(unsigned magnitude, const struct native_rule *rule, double maximum)
{
    return magnitude > 0 && (native_f64((double)magnitude, 0, rule) > maximum ||
                             native_f64(-(double)magnitude, 0, rule) > maximum);
}

/* Looks for higher maxima in a block. `rule`: NULL for TDC_RELATIVE_F64. */
static void find_small_maxima(const struct tdc_pair_plan *plan, const void *n, const void *b,
                              size_t start, size_t count, const struct native_rule *rule,
                              bool error, struct tdc_pair_sums *sums)
{
    float x[BLOCK] __attribute__((aligned(64))), y[BLOCK] __attribute__((aligned(64)));
    float distance = 0;
    convert_f32(plan->n_dtype, n, count, x);
    convert_f32(plan->b_dtype, b, count, y);
    for (size_t i = 0; i < BLOCK; i++)
        distance = fabsf(x[i] - y[i]) > distance ? fabsf(x[i] - y[i]) : distance;
    ENTER_MAXIMUM((double)distance, (double)fabsf(x[i] - y[i]), (size_t)0, (size_t)BLOCK, start,
                  &sums->abs_max, &sums->abs_at);
    if (error && rule == NULL)
        find_exact_maximum(x, y, BLOCK, start, &sums->rel_max, &sums->rel_at);
    else if (error)
        find_whole_maximum(x, y, BLOCK, start, &sums->rel_max, &sums->rel_at);
}

/* The way of a whole block of such numbers; false when it is not for this one. */
static bool try_small(const struct tdc_pair_plan *plan, const void *n, const void *b,
                      const struct prefetch *ahead, size_t start, size_t count,
                      const struct native_rule *rule, struct chunk_state *state,
                      struct tdc_pair_sums *sums)
{
    /* a maximum of 0 is the first pair's that takes part */
    if (!takes_small(plan) || count < BLOCK || !(sums->rel_max > 0))
        return false;
    if (state->far > 0) {
        state->far--;
        return false;
    }
    struct small_view view;
    if (!view_small(plan, n, b, ahead, rule != NULL,
                    ratio_of_maximum(plan, sums->rel_max, &state->ratio), &view)) {
        state->far = UNFIT_BLOCKS;
        return false;
    }
    double lanes[5][SUM_LANES] = {
        {(double)view.nb},  {(double)view.nn},
        {(double)view.bb},  {(double)(view.nn + view.bb - 2 * view.nb)},
        {(double)view.abs},
    };
    struct lane_sums next;
    memcpy(&next, lanes, sizeof lanes);
    add_lanes(&state->lanes, &next);
    size_t limits = rule == NULL ? TDC_PAIR_LIMITS : 2;
    struct block_relative counts = {{0}, 0};
    for (size_t k = 0; k < limits; k++)
        counts.reached[k] = view.reached[k];
    sums->finite += BLOCK;
    enter_relative(&counts, BLOCK, limits, sums);
    bool error = view.rises || (rule != NULL && zero_raises(view.beyond_zero, rule, sums->rel_max));
    if (error || (double)view.distance > sums->abs_max)
        find_small_maxima(plan, n, b, start, count, rule, error, sums);
    return true;
}

#endif
