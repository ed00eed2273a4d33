/*
 * pair_impl_byte.h - the part of pair_impl.h for i8 against i8, u8 against u8 and bool against
 * bool. Included there only.
 *
 * Sums of such numbers are whole and far below 2^53: exact in whatever order and lane they are
 * taken, by integers or by f64. By TDC_RELATIVE_F64 and by the native rules alike, e is |n-b| / |b|
 * where b is not 0; a limit 1/k is reached if k |n-b| >= |b|, since the quotient is at least 1/k or
 * below it by more than 2^-16 of it. Where b is 0 and n is not, e is 1, or by the native rules next
 * to |n| 2^52. Either reaches all limits.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_BYTE_H
#define TDC_KERNELS_CPU_PAIR_IMPL_BYTE_H

#define DEFINE_BYTE_LOOP(name, kind)                                                               \
    static __attribute__((noinline)) void name(                                                    \
        const void *n, const void *b, const struct prefetch *ahead,                                \
        const struct byte_ratio *ratio, struct byte_view *view)                                    \
    {                                                                                              \
        byte_relate(kind, n, b, ahead->n, ahead->b, ratio, view);                                  \
    }
DEFINE_BYTE_LOOP(relate_i8, BYTE_SIGNED)
DEFINE_BYTE_LOOP(relate_u8, BYTE_UNSIGNED)
DEFINE_BYTE_LOOP(relate_bool, BYTE_TRUTH)
#undef DEFINE_BYTE_LOOP

static inline bool takes_bytes(const struct tdc_pair_plan *plan)
{
    return plan->n_dtype == plan->b_dtype && !plan->extremes &&
           (plan->n_dtype == TDC_I8 || plan->n_dtype == TDC_U8 || plan->n_dtype == TDC_BOOL);
}

/* Whether e of the native rules rises where b is 0: the largest |n| there has the largest e, which
 * may depend on its sign. */
static bool zero_raises(const struct tdc_pair_plan *plan, unsigned magnitude,
                        const struct native_rule *rule, double maximum)
{
    if (magnitude == 0)
        return false;
    return native_f64((double)magnitude, 0, rule) > maximum ||
           (plan->n_dtype == TDC_I8 && native_f64(-(double)magnitude, 0, rule) > maximum);
}

/* Looks for higher maxima in a block. `rule`: NULL for TDC_RELATIVE_F64. */
static void find_byte_maxima(const struct tdc_pair_plan *plan, const void *n, const void *b,
                             size_t start, size_t count, const struct native_rule *rule, bool error,
                             struct tdc_pair_sums *sums)
{
    float x[BLOCK] __attribute__((aligned(64))), y[BLOCK] __attribute__((aligned(64)));
    float distance = 0;
    convert_f32(plan->n_dtype, n, count, x);
    convert_f32(plan->b_dtype, b, count, y);
    for (size_t i = 0; i < BLOCK; i++)
        distance = fabsf(x[i] - y[i]) > distance ? fabsf(x[i] - y[i]) : distance;
    ENTER_MAXIMUM((double)distance, (double)fabsf(x[i] - y[i]), (size_t)0, (size_t)BLOCK, start,
                  &sums->abs_max, &sums->abs_at);
    if (!error)
        return;
    if (rule == NULL) {
        find_exact_maximum(x, y, BLOCK, start, &sums->rel_max, &sums->rel_at);
        return;
    }
    double highest = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        double e = native_f64((double)x[i], (double)y[i], rule);
        highest = e > highest ? e : highest;
    }
    ENTER_MAXIMUM(highest, native_f64((double)x[i], (double)y[i], rule), (size_t)0, (size_t)BLOCK,
                  start, &sums->rel_max, &sums->rel_at);
}

/* The way of a whole block of bytes; false when it is not for this one. */
static bool try_bytes(const struct tdc_pair_plan *plan, const void *n, const void *b,
                      const struct prefetch *ahead, size_t start, size_t count,
                      const struct native_rule *rule, struct chunk_state *state,
                      struct tdc_pair_sums *sums)
{
    /* a maximum of 0 is the first pair's that takes part */
    if (!takes_bytes(plan) || count < BLOCK || !(sums->rel_max > 0))
        return false;
    struct byte_view view;
    struct byte_ratio ratio = byte_ratio_of(sums->rel_max);
    (plan->n_dtype == TDC_I8   ? relate_i8
     : plan->n_dtype == TDC_U8 ? relate_u8
                               : relate_bool)(n, b, ahead, &ratio, &view);
    double lanes[5][SUM_LANES] = {
        {(double)view.nb},  {(double)view.nn},
        {(double)view.bb},  {(double)(view.nn + view.bb - 2 * view.nb)},
        {(double)view.abs},
    };
    struct lane_sums next;
    memcpy(&next, lanes, sizeof lanes);
    add_lanes(&state->lanes, &next);
    struct block_relative counts = {{0}, 0};
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        counts.reached[k] = view.reached[k];
    sums->finite += BLOCK;
    enter_relative(&counts, BLOCK, rule == NULL ? TDC_PAIR_LIMITS : 2, sums);
    bool error =
        view.rises || (rule != NULL && zero_raises(plan, view.beyond_zero, rule, sums->rel_max));
    if (error || (double)view.distance > sums->abs_max)
        find_byte_maxima(plan, n, b, start, count, rule, error, sums);
    return true;
}

#endif
