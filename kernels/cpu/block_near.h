/*
 * block_near.h - blocks whose pairs are near to each other, as those of two sound runs are.
 *
 * A group of pairs is near if every |n-b| is below |b| times a bound of at most 1/100, and neither
 * maximum can rise in it. Then
 *   - n - b is exact in f32 (Sterbenz) and its square in f64, so the sums of differences are taken
 *     from the f32 differences, fused, to the bits that add_group_f32 gives;
 *   - limits above the bound are not reached, and only the lower ones are counted: none, unless
 *     rounding to bf16 alone reaches them;
 *   - no maximum needs a second look.
 * Other groups are taken pair by pair as usual, into the same lanes and in their order.
 *
 * The bound is min(r, L) (1 - 2^-20), r the largest e so far and L the first limit that is not
 * counted. If e > r or e >= L, however e and L were rounded to f32 or f64, then |n-b| > bound |b|,
 * since the margin is larger than all roundings. The sign of a fused bound |b| - |n-b| tells, even
 * where the difference is too small for a number. Numbers that are not finite spoil the sums, and
 * the caller discards the block.
 *
 * Where the extremes are wanted (block_extremes.h), the sums of n and of b are taken beside the
 * others, and groups that may go beyond the extremes so far, of which there are few, are looked at
 * again. Only b is watched: no n of a near group is further from it than the highest |n-b| so far.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_NEAR_H
#define TDC_KERNELS_CPU_BLOCK_NEAR_H

#include "kernels/cpu/block_extremes.h"
#include "kernels/cpu/block_f32.h"

#if HAS_NEAR_GROUPS

/* Pairs that are near or not together. */
#define NEAR_GROUP TDC_PAIR_GROUP

/* Blocks that are not tried after one of which most groups were not near. */
#define FAR_BLOCKS 63

/* Limits that rounding to the dtypes reaches: half a unit of bf16 is up to 1/256 of the number. Two
 * sides of bf16 are for block_half.h. */
static inline unsigned near_limits(const struct tdc_pair_plan *plan)
{
    return plan->n_dtype == TDC_BF16 || plan->b_dtype == TDC_BF16 ? 1 : 0;
}

/*
 * NEAR_GROUP, which the compiler cannot know: it would unroll the loops and keep differences in
 * registers for the sums, which have none to spare and want them from memory.
 */
ALWAYS_INLINE size_t group_length(void)
{
    size_t length = NEAR_GROUP;
    __asm__ volatile("" : "+r"(length) : : "memory");
    return length;
}

/* f32 numbers of a block, dense or by groups. */
struct near_side {
    const void *elements;
    const void *const *groups; /* or NULL */
};

struct near_sides {
    struct near_side n, b;
};

ALWAYS_INLINE const f32_unaligned *near_group(const struct near_side *side, size_t i)
{
    return group_at(side->elements, side->groups, i, sizeof(float));
}

/* What becomes of the chunk if the block is finite. */
struct near_block {
    struct lane_sums lanes;
    struct block_relative counts;
    double abs_max, rel_max;
    uint64_t abs_at, rel_at;
    unsigned far; /* groups that are not near */
    /* the extremes of the chunk so far, the sums of this block alone; if they are wanted */
    struct extremes extremes;
};

/* What pairs must not go beyond, and what is seen of them. */
struct near_watch {
    float bound;   /* of e */
    float highest; /* of |n-b| */
    bool zero_is_far;
    /* where b begins to alarm: n may be beyond its extremes then, which are those of the chunk */
    float b_low, b_high, n_lowest, n_highest, b_lowest, b_highest;
};

/* A number of f32 not above the limit, which is their difference. */
static inline float f32_at_most(double limit)
{
    return limit < -(double)FLT_MAX ? -INFINITY : (float)(limit - fabs(limit) * 0x1p-22);
}

/* Numbers of f32: their extremes are, too. */
static inline void watch_extremes(struct near_watch *watch, const struct extremes *extremes)
{
    watch->n_lowest = (float)lowest(extremes->n_low);
    watch->n_highest = (float)f64_highest(extremes->n_high);
    watch->b_lowest = (float)lowest(extremes->b_low);
    watch->b_highest = (float)f64_highest(extremes->b_high);
    float high = f32_at_most((double)watch->n_highest - (double)watch->highest);
    float low = -f32_at_most(-(double)watch->n_lowest - (double)watch->highest);
    watch->b_high = watch->b_highest < high ? watch->b_highest : high;
    watch->b_low = watch->b_lowest > low ? watch->b_lowest : low;
}

ALWAYS_INLINE struct near_watch near_watch_of(enum single_rule kind, unsigned counted,
                                              const struct single_constants *constants,
                                              const struct near_block *block)
{
    struct near_watch watch;
    double limit = kind == SINGLE_F16 && counted == 0 ? (double)constants->limits[0]
                                                      : tdc_pair_limits[counted];
    double least = block->rel_max < limit ? block->rel_max : limit;
    watch.bound = (float)(least * (1 - 0x1p-20));
    /* 0 against 0 has an e of 0 only if both sides are moved alike */
    watch.zero_is_far = kind == SINGLE_F16 || kind == SINGLE_F32_OR_NAN ||
                        constants->n_epsilon != constants->b_epsilon;
    watch.highest = block->abs_max < (double)FLT_MAX ? (float)block->abs_max : FLT_MAX;
    if ((double)watch.highest > block->abs_max)
        watch.highest = bits_to_f32(f32_to_bits(watch.highest) - 1);
    return watch;
}

/* Which of F32_LANES near pairs reach limit k: without rounding, or by the quotient that counts. */
ALWAYS_INLINE f32_mask near_reaches(enum single_rule kind, unsigned k, f32v b, f32v d,
                                    const struct single_constants *constants)
{
    if (kind == SINGLE_EXACT)
        return f32_at_least(
            f32_shortfall(f32_splat(limit_inverse[k]), d, f32_max(b, f32_splat(0x1p-149f))),
            f32_splat(0));
    return f32_at_least(d / b, f32_splat(constants->limits[k]));
}

/* What is seen of a group: whether it is not near, and whether it goes beyond the extremes. */
struct near_view {
    bool far, moves;
};

/* Whether a group goes beyond the extremes, of which b alone gave the alarm. */
ALWAYS_INLINE bool near_moves(const f32_unaligned *n, f32v b_low, f32v b_high,
                              const struct near_watch *watch)
{
    f32v n_low = f32_load(n), n_high = n_low;
    for (size_t j = F32_LANES; j < NEAR_GROUP; j += F32_LANES) {
        f32v x = f32_load(n + j);
        n_low = f32_min(x, n_low);
        n_high = f32_max(x, n_high);
    }
    f32v n_out = f32_or(f32_splat(watch->n_highest) - n_high, n_low - f32_splat(watch->n_lowest));
    f32v b_out = f32_or(f32_splat(watch->b_highest) - b_high, b_low - f32_splat(watch->b_lowest));
    return f32_any_sign(f32_or(n_out, b_out));
}

/* A group, i its first index in the block: its |n-b| and its counts. */
ALWAYS_INLINE struct near_view near_relate(enum single_rule kind, unsigned counted, bool extremes,
                                           const f32_unaligned *n, const f32_unaligned *b, size_t i,
                                           const struct near_watch *watch,
                                           const struct single_constants *constants,
                                           float *distance, struct f32_tally *reached)
{
    f32v signs = f32_splat(0), top = f32_splat(0), bound = f32_splat(watch->bound);
    f32v b_low = f32_splat(INFINITY), b_high = -b_low;
    /* a normal number: others take the processor long */
    f32v floor = f32_splat(watch->zero_is_far ? 0x1p-126f : 0);
    size_t length = group_length();
    for (size_t j = 0; j < length; j += F32_LANES) {
        f32v x = f32_load(n + j), y = f32_load(b + j);
        f32v d = f32_abs(x - y), modulus = f32_abs(y);
        f32_store(distance + j, d);
        top = f32_max(d, top);
        if (extremes) {
            b_low = f32_min(y, b_low);
            b_high = f32_max(y, b_high);
        }
        f32v least = kind == SINGLE_EXACT ? d : f32_max(d, floor);
        signs = f32_or(signs, f32_shortfall(bound, modulus, least));
        for (unsigned k = 0; k < counted; k++)
            f32_tally_add(&reached[k], i + j, near_reaches(kind, k, modulus, d, constants));
    }
    signs = f32_or(signs, f32_splat(watch->highest) - top);
    if (!extremes)
        return (struct near_view){f32_any_sign(signs), false};
    f32v alarms = f32_or(f32_splat(watch->b_high) - b_high, b_low - f32_splat(watch->b_low));
    if (!f32_any_sign(f32_or(signs, alarms)))
        return (struct near_view){false, false};
    bool far = f32_any_sign(signs);
    return (struct near_view){far, far || near_moves(n, b_low, b_high, watch)};
}

/* What a group is added to. */
struct near_sums {
    struct lane_sums lanes;
    f64v n[SUM_REGISTERS], b[SUM_REGISTERS]; /* if the extremes are wanted */
};

ALWAYS_INLINE void near_sum(bool extremes, const f32_unaligned *n, const f32_unaligned *b,
                            const float *distance, struct near_sums *s)
{
    size_t length = group_length();
    struct near_sums all = *s;
    struct lane_sums t = all.lanes;
    for (size_t j = 0; j < length; j += 2 * SUM_LANES)
        for (size_t r = 0; r < 2 * SUM_REGISTERS; r++) {
            size_t lane = r % SUM_REGISTERS, at = j + r * F64_LANES;
            f64v x = f64_widen(n + at);
            t.nn[lane] = f64_add_product(t.nn[lane], x, x);
            if (extremes)
                all.n[lane] += x;
            f64v y = f64_widen(b + at);
            t.nb[lane] = f64_add_product(t.nb[lane], x, y);
            t.bb[lane] = f64_add_product(t.bb[lane], y, y);
            if (extremes)
                all.b[lane] += y;
            f64v d = f64_widen(distance + at);
            t.dd[lane] = f64_add_product(t.dd[lane], d, d);
            t.abs[lane] += d;
        }
    all.lanes = t;
    *s = all;
}

/* The extremes of a group. */
static __attribute__((noinline)) void near_extremes(const f32_unaligned *n, const f32_unaligned *b,
                                                    struct extremes *extremes)
{
    struct side_extremes x, y;
    take_side_f32(n, NEAR_GROUP, &x);
    take_side_f32(b, NEAR_GROUP, &y);
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        x.sums[r] = y.sums[r] = f64_splat(0);
    enter_sides(extremes, &x, &y);
}

/* The sums of n and b of a group in their order. */
ALWAYS_INLINE void far_sums(const f32_unaligned *n, const f32_unaligned *b,
                            struct extremes *extremes)
{
    for (size_t j = 0; j < NEAR_GROUP; j += F64_LANES) {
        size_t r = j / F64_LANES % SUM_REGISTERS;
        extremes->n[r] += f64_widen(n + j);
        extremes->b[r] += f64_widen(b + j);
    }
}

/* A group that is not near, at index `start` of the chunk. What near_relate has counted of it is
 * taken back. */
ALWAYS_INLINE void far_group_of(enum single_rule kind, unsigned counted,
                                struct single_constants constants, const f32_unaligned *n,
                                const f32_unaligned *b, uint64_t start, struct near_block *block)
{
    struct single_block result;
    f64v distance = f64_splat(0);
    for (size_t j = 0; j < NEAR_GROUP; j += SUM_LANES)
        add_group_f32(&block->lanes, &distance, n + j, b + j);
    if (f64_any_above(distance, block->abs_max)) {
        double maximum = f64_highest(distance);
        ENTER_MAXIMUM(maximum, fabs((double)n[i] - (double)b[i]), (size_t)0, (size_t)NEAR_GROUP,
                      start, &block->abs_max, &block->abs_at);
    }
    if (kind == SINGLE_EXACT)
        constants.bound = exceeding_bound(block->rel_max);
    relate_block_f32(kind, n, b, NEAR_GROUP, &constants, &result);
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        block->counts.reached[k] += result.counts.reached[k];
    block->counts.nan += result.counts.nan;
    for (unsigned k = 0; k < counted; k++) {
        struct f32_tally reached;
        f32_tally_start(&reached);
        for (size_t j = 0; j < NEAR_GROUP; j += F32_LANES) {
            f32v x = f32_load(n + j), y = f32_load(b + j);
            f32_tally_add(&reached, j,
                          near_reaches(kind, k, f32_abs(y), f32_abs(x - y), &constants));
        }
        block->counts.reached[k] -= f32_tally_total(&reached, NEAR_GROUP);
    }
    if (kind != SINGLE_EXACT)
        find_native_maximum(kind, result.relative, n, b, NEAR_GROUP, start, &constants,
                            &block->rel_max, &block->rel_at);
    else if (f32_any_negative(result.relative))
        find_exact_maximum(n, b, NEAR_GROUP, start, &block->rel_max, &block->rel_at);
    block->far++;
}

/* Kept out of the loop over near groups, whose sums it would drive out of their registers. */
static __attribute__((noinline)) void far_group(enum single_rule kind, unsigned counted,
                                                const struct single_constants *constants,
                                                const f32_unaligned *n, const f32_unaligned *b,
                                                uint64_t start, bool extremes,
                                                struct near_block *block)
{
    if (extremes)
        far_sums(n, b, &block->extremes);
    switch (kind) {
    case SINGLE_EXACT:
        far_group_of(SINGLE_EXACT, counted, *constants, n, b, start, block);
        break;
    case SINGLE_F16:
        far_group_of(SINGLE_F16, counted, *constants, n, b, start, block);
        break;
    case SINGLE_F32:
        far_group_of(SINGLE_F32, counted, *constants, n, b, start, block);
        break;
    case SINGLE_F32_OR_NAN:
        far_group_of(SINGLE_F32_OR_NAN, counted, *constants, n, b, start, block);
        break;
    case SINGLE_WHOLE: /* integers are not for this file */
        break;
    }
}

/* The lines of NEAR_GROUP numbers of 2 or 4 bytes. */
ALWAYS_INLINE void prefetch_group(uintptr_t at, const uintptr_t *groups, size_t i, size_t size)
{
    at = groups == NULL ? at + i * size : groups[i / NEAR_GROUP];
    __builtin_prefetch((const void *)at);
    __builtin_prefetch((const void *)(at + 64));
    if (size > 2) {
        __builtin_prefetch((const void *)(at + 128));
        __builtin_prefetch((const void *)(at + 192));
    }
}

ALWAYS_INLINE void keep_near_sums(bool extremes, const struct near_sums *s,
                                  struct near_block *block)
{
    block->lanes = s->lanes;
    if (extremes) {
        memcpy(block->extremes.n, s->n, sizeof s->n);
        memcpy(block->extremes.b, s->b, sizeof s->b);
    }
}

/* A whole block at index `start` of the chunk; `block` comes with the maxima so far, above 0. */
ALWAYS_INLINE void near_block(enum single_rule kind, unsigned counted, bool extremes,
                              const struct near_sides *sides, const struct prefetch *ahead,
                              uint64_t start, const struct single_constants *constants,
                              struct near_block *block)
{
    struct f32_tally reached[1];
    float distance[NEAR_GROUP] __attribute__((aligned(64)));
    struct near_sums s;
    struct near_watch watch = near_watch_of(kind, counted, constants, block);
    clear_lanes(&s.lanes);
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        s.n[r] = s.b[r] = f64_splat(0);
    if (extremes)
        watch_extremes(&watch, &block->extremes);
    for (unsigned k = 0; k < counted; k++)
        f32_tally_start(&reached[k]);
    for (size_t i = 0; i < BLOCK; i += NEAR_GROUP) {
        const f32_unaligned *n = near_group(&sides->n, i), *b = near_group(&sides->b, i);
        prefetch_group(ahead->n, ahead->n_groups, i, ahead->n_size);
        prefetch_group(ahead->b, ahead->b_groups, i, ahead->b_size);
        struct near_view view =
            near_relate(kind, counted, extremes, n, b, i, &watch, constants, distance, reached);
        if (!view.far)
            near_sum(extremes, n, b, distance, &s);
        if (!view.far && !view.moves)
            continue;
        keep_near_sums(extremes, &s, block);
        if (extremes)
            near_extremes(n, b, &block->extremes);
        if (view.far)
            far_group(kind, counted, constants, n, b, start + i, extremes, block);
        s.lanes = block->lanes;
        watch = near_watch_of(kind, counted, constants, block);
        if (extremes) {
            memcpy(s.n, block->extremes.n, sizeof s.n);
            memcpy(s.b, block->extremes.b, sizeof s.b);
            watch_extremes(&watch, &block->extremes);
        }
    }
    keep_near_sums(extremes, &s, block);
    for (unsigned k = 0; k < counted; k++)
        block->counts.reached[k] += f32_tally_total(&reached[k], BLOCK);
}

#endif

#endif
