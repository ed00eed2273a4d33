/*
 * block_half.h - blocks of bf16 against bf16 and of f16 against f16 numbers, whatever lies between
 * the sides.
 *
 * Sums. The numbers of a block are whole multiples of the last place U of the smallest that is not
 * 0. Say no |n-b| is above 2^20 U and no lane has a sum of n^2 or of b^2 above 2^53 U^2. Then
 *   - every n - b is exact in f32, and so is a sum of 16 of them (at most 2^24 U);
 *   - sums of squares only grow, so every step of them was at most 2^53 U^2 and exact; those of n b
 *     are never beyond half of both together;
 *   - a lane has 128 pairs, so its sum of (n-b)^2 is at most 2^47 U^2. It is that of n (n-b) less
 *     that of b (n-b), neither of which is beyond 2^50 U^2 (Cauchy), so these are exact, too.
 * So all five sums of a lane are exact, in whatever order they are taken, and to the bits that
 * add_group_f32 gives. Whether the squares kept to it is known when they are summed: if not, or if
 * those of the block before would not, products are added pair after pair. So is all if an |n-b| is
 * larger than that.
 *
 * Limits by TDC_RELATIVE_F64. With e below 1/k, k of 10 or more, both sides are multiples of half a
 * last place of b at least (n is not two binades below b), of which |b| then has at most 2276 (2047
 * whole places, or b is near the lower end of its binade), and n - b is exact. So e is at least 1/k
 * or below it by 1/2276 of it, more than the 12 bits of a key can hide: the limit is reached if the
 * key is not below that of 1/k. Elsewhere n - b may be rounded, by too little to matter.
 *
 * Limits of the native rules are compared with the quotient that counts, but for f16 it would be
 * that of n - b rounded to f16, which changes nothing: below 1/2 it is exact (Sterbenz).
 *
 * Where b is 0 the quotient is infinite or NaN. e is then 1 or 0 (TDC_RELATIVE_F64), or of the size
 * of n over the epsilon: as long as no n is below that, the counts are right. Maxima are looked for
 * pair by pair in blocks where they may rise, by functions that know better.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_HALF_H
#define TDC_KERNELS_CPU_BLOCK_HALF_H

#include "kernels/cpu/block_extremes.h"
#include "kernels/cpu/block_f32.h"

#if HAS_HALF_BLOCKS
#include "kernels/cpu/vector/halves.h"

_Static_assert(HALF_GROUP == TDC_PAIR_GROUP, "groups of feeds");

/* Blocks that are not tried after one that is not for this file. */
#define UNFIT_BLOCKS 15

struct half_block {
    struct lane_sums lanes;
    struct block_relative counts;
    double distance, quotient;         /* highest |n-b| and quotient, in f32 */
    unsigned least;                    /* bits of the smallest magnitude that is not 0 */
    bool zeros, exact;                 /* a number is 0; no n - b was rounded */
    double n[SUM_LANES], b[SUM_LANES]; /* the sums of n and b, if they are wanted */
};

/* Pairs whose blocks are for this file. */
static inline bool takes_half(const struct tdc_pair_plan *plan)
{
    return plan->n_dtype == plan->b_dtype &&
           (plan->n_dtype == TDC_BF16 || plan->n_dtype == TDC_F16);
}

/* The exponent of the last place of a number. */
static inline int half_unit(bool brain, unsigned magnitude)
{
    int exponent = (int)(magnitude >> (brain ? 7 : 10));
    return (exponent > 0 ? exponent : 1) - (brain ? 127 + 7 : 15 + 10);
}

static inline double half_power(int exponent)
{
    return bits_to_f64((uint64_t)(1023 + exponent) << 52);
}

static inline struct half_limits half_limits_of(enum single_rule kind,
                                                const struct single_constants *constants)
{
    struct half_limits limits;
    for (size_t k = 0; k < 2; k++)
        limits.numbers[k] = _mm256_set1_ps(constants->limits[k]);
    for (size_t k = 0; k < TDC_PAIR_LIMITS && kind == SINGLE_EXACT; k++)
        limits.keys[k] = _mm256_set1_epi16((int16_t)(half_key((float)tdc_pair_limits[k]) - 1));
    return limits;
}

/* The loops over a block. By keys, or exact: the second of two. */
struct half_loops {
    void (*relate[2])(const struct half_limits *limits, const struct half_block_at *at,
                      float *n_out, float *b_out, struct half_view *view);
    void (*multiply)(const float *n, const float *b, struct half_sums *sums);
    void (*add[2])(const float *n, const float *b, struct half_sums *sums);
};

/* Functions of their own, or the compiler would have no registers left for what they sum. */
#define HALF_LOOP static __attribute__((noinline)) void
#define DEFINE_HALF_LOOPS(name, brain, extremes)                                                   \
    HALF_LOOP name##_relate_by_numbers(const struct half_limits *limits,                           \
                                       const struct half_block_at *at, float *n_out, float *b_out, \
                                       struct half_view *view)                                     \
    {                                                                                              \
        half_relate(brain, false, extremes, limits, at, n_out, b_out, view);                       \
    }                                                                                              \
    HALF_LOOP name##_relate_by_keys(const struct half_limits *limits,                              \
                                    const struct half_block_at *at, float *n_out, float *b_out,    \
                                    struct half_view *view)                                        \
    {                                                                                              \
        half_relate(brain, true, extremes, limits, at, n_out, b_out, view);                        \
    }                                                                                              \
    HALF_LOOP name##_multiply(const float *n, const float *b, struct half_sums *sums)              \
    {                                                                                              \
        half_multiply(brain, extremes, n, b, sums);                                                \
    }                                                                                              \
    HALF_LOOP name##_add(const float *n, const float *b, struct half_sums *sums)                   \
    {                                                                                              \
        half_add(brain, false, extremes, n, b, sums);                                              \
    }                                                                                              \
    HALF_LOOP name##_add_exact(const float *n, const float *b, struct half_sums *sums)             \
    {                                                                                              \
        half_add(brain, true, extremes, n, b, sums);                                               \
    }                                                                                              \
    static const struct half_loops name##_loops = {                                                \
        {name##_relate_by_numbers, name##_relate_by_keys},                                         \
        name##_multiply,                                                                           \
        {name##_add, name##_add_exact},                                                            \
    };

DEFINE_HALF_LOOPS(bf16, true, false)
DEFINE_HALF_LOOPS(f16, false, false)
DEFINE_HALF_LOOPS(bf16_extremes, true, true)
DEFINE_HALF_LOOPS(f16_extremes, false, true)
#undef DEFINE_HALF_LOOPS
#undef HALF_LOOP

static inline const struct half_loops *half_loops_of(bool brain, bool extremes)
{
    if (extremes)
        return brain ? &bf16_extremes_loops : &f16_extremes_loops;
    return brain ? &bf16_loops : &f16_loops;
}

static inline struct half_block_at half_block_of(const struct block_sides *at)
{
    return (struct half_block_at){{at->n, at->n_groups},
                                  {at->b, at->b_groups},
                                  {at->ahead.n, at->ahead.n_groups},
                                  {at->ahead.b, at->ahead.b_groups}};
}

/* Everything but the sums; the numbers go to `n_out` and `b_out`. */
ALWAYS_INLINE void relate_half_block(bool brain, bool by_keys, const struct half_loops *loops,
                                     const struct half_limits *limits,
                                     const struct half_block_at *at, float *n_out, float *b_out,
                                     struct half_view *view, struct half_block *block)
{
    loops->relate[by_keys](limits, at, n_out, b_out, view);
    block->distance = (double)view->distance;
    block->quotient = (double)view->quotient;
    block->zeros = view->least == 0;
    block->least = block->zeros ? half_least_not_zero(at) : view->least;
    block->exact = block->distance < half_power(half_unit(brain, block->least) + 24);
    block->counts = (struct block_relative){{0}, 0};
    for (size_t k = 0; k < (by_keys ? TDC_PAIR_LIMITS : 2); k++)
        block->counts.reached[k] = view->reached[k];
}

/* Products in any order. `squares` becomes the highest sum of a lane; false if it is above `limit`,
 * up to which all are exact. */
static bool multiply_half_block(const struct half_loops *loops, const float *n, const float *b,
                                double limit, double *squares, struct half_sums *sums)
{
    loops->multiply(n, b, sums);
    double highest = 0;
    for (size_t lane = 0; lane < SUM_LANES; lane++) {
        highest = sums->nn[lane] <= highest ? highest : sums->nn[lane];
        highest = sums->bb[lane] <= highest ? highest : sums->bb[lane];
        sums->dd[lane] = (sums->nn[lane] - sums->nb[lane]) + (sums->bb[lane] - sums->nb[lane]);
    }
    *squares = highest;
    return highest <= limit;
}

/* The sums; false if a number is not finite. `squares`: the highest of a lane in a block before. */
static bool sum_half_block(bool brain, const struct half_loops *loops, const float *n,
                           const float *b, const struct half_view *view, double *squares,
                           struct half_block *block)
{
    struct half_sums sums;
    int unit = half_unit(brain, block->least);
    const double limit = half_power(2 * unit + 53);
    if (block->distance <= half_power(unit + 20)) {
        memcpy(sums.abs, view->abs, sizeof sums.abs);
        bool likely = *squares <= limit;
        if (!likely || !multiply_half_block(loops, n, b, limit, squares, &sums))
            loops->add[true](n, b, &sums);
        if (!likely)
            *squares = sums.nn[0];
    } else {
        loops->add[false](n, b, &sums);
    }
    memcpy(&block->lanes, &sums, sizeof block->lanes);
    memcpy(block->n, sums.n, sizeof block->n);
    memcpy(block->b, sums.b, sizeof block->b);
    return lanes_are_finite(&block->lanes);
}

ALWAYS_INLINE double half_value(bool brain, unsigned bits)
{
    return (double)(brain ? decode_bf16((uint16_t)bits) : decode_f16((uint16_t)bits));
}

/* Whether the counts are right for these numbers: see above. */
ALWAYS_INLINE bool half_counts_hold(bool brain, enum single_rule kind,
                                    const struct single_constants *constants,
                                    const struct half_block *block)
{
    if (block->least == 0xffff) /* zeros alone */
        return false;
    if (kind == SINGLE_F16) /* 0/0 is to be counted; n - b is infinite in f16 from here on */
        return !block->zeros && block->distance < 65504;
    return !block->zeros || half_value(brain, block->least) >= (double)constants->b_epsilon;
}

ALWAYS_INLINE void enter_half_extremes(bool brain, unsigned lowest, unsigned highest, f64v *low,
                                       f64v *high)
{
    *low = f64_min(f64_splat(half_value(brain, lowest)), *low);
    *high = f64_max(f64_splat(half_value(brain, highest)), *high);
}

/*
 * The sums and extremes of a block of finite numbers. Those of b are known unless all have one
 * sign; n is not beyond them by more than the highest |n-b|, rounded up, and looked at only where
 * that is beyond the extremes of n so far.
 */
ALWAYS_INLINE void add_half_extremes(bool brain, const struct half_block_at *at,
                                     const struct half_view *view, const struct half_block *block,
                                     struct extremes *total)
{
    struct extremes sums;
    unsigned lowest = view->negative, highest = view->positive;
    memcpy(sums.n, block->n, sizeof sums.n);
    memcpy(sums.b, block->b, sizeof sums.b);
    for (size_t r = 0; r < SUM_REGISTERS; r++) {
        total->n[r] += sums.n[r];
        total->b[r] += sums.b[r];
    }
    if (lowest < 0x8000 || highest >= 0x8000)
        half_extremes(&at->b, &lowest, &highest);
    enter_half_extremes(brain, lowest, highest, &total->b_low, &total->b_high);
    double reach = block->distance * (1 + 0x1p-22);
    if (f64_any_above(total->n_high, half_value(brain, highest) + reach) &&
        f64_any_above(-total->n_low, reach - half_value(brain, lowest)))
        return;
    half_extremes(&at->n, &lowest, &highest);
    enter_half_extremes(brain, lowest, highest, &total->n_low, &total->n_high);
}

/* Whether |n-b| may be above `maximum` somewhere, and e. */
ALWAYS_INLINE bool half_distance_rises(const struct half_block *block, double maximum)
{
    return block->exact ? block->distance > maximum : block->distance >= maximum * (1 - 0x1p-22);
}

/*
 * Below 1/10 two quotients of the f64 rule are equal or apart by more than f32 can hide: of their
 * four whole numbers (see above) b has at most 2276, n - b a tenth of it. So a maximum that is met
 * again, which is common there, is told from one that is surpassed. e of the native rules is known,
 * but for what rounding n - b to f16 does to large ones.
 */
ALWAYS_INLINE bool half_error_rises(enum single_rule kind, const struct half_block *block,
                                    double maximum)
{
    double highest = block->quotient;
    if (kind == SINGLE_F16)
        return highest < 0.25 ? round_native(kind, highest) > maximum
                              : highest >= maximum * (1 - 0x1p-9);
    if (kind == SINGLE_EXACT)
        return maximum < 0.1 ? highest > (double)(float)maximum
                             : highest >= maximum * (1 - 0x1p-20);
    return highest > maximum;
}

#endif

#endif
