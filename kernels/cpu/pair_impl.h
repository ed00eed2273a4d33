/*
 * pair_impl.h - the kernels. Compiled once per instruction set: the including file defines
 * KERNEL(name) to append the name of the set.
 *
 * Every run function walks the chunk block by block. Blocks that are equal to the bit have a short
 * way (block_equal.h). Of others both sides are loaded as f32 or f64, then the sums and relative
 * errors taken, again without the NaN and infinities if a sum caught one, and positions looked for
 * if a maximum rose.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_H
#define TDC_KERNELS_CPU_PAIR_IMPL_H

#include "kernels/cpu/block_distance.h"
#include "kernels/cpu/block_equal.h"
#include "kernels/cpu/block_extremes.h"
#include "kernels/cpu/block_f32.h"
#include "kernels/cpu/block_f64.h"
#include "kernels/cpu/block_half.h"
#include "kernels/cpu/block_near.h"

static inline const void *at_element(const void *tensor, tdc_dtype dtype, size_t index)
{
    return (const char *)tensor + index * tdc_dtype_size(dtype);
}

/* What a chunk is reduced to. */
struct chunk_state {
    struct lane_sums lanes;
    struct extremes extremes;
    unsigned wary; /* blocks still to be cleaned first */
    unsigned far;  /* blocks still to be taken pair by pair */
#if HAS_HALF_BLOCKS
    struct half_limits limits;
    double squares;           /* highest sum of a lane in the block before */
    struct small_ratio ratio; /* of pair_impl_small.h */
#endif
};

static void start_chunk(struct chunk_state *state, size_t count, struct tdc_pair_sums *sums)
{
    clear_lanes(&state->lanes);
    clear_extremes(&state->extremes);
    state->wary = state->far = 0;
#if HAS_HALF_BLOCKS
    state->ratio.of = -1;
#endif
    tdc_pair_clear(sums);
    sums->count = count;
}

/* A block was cleaned; `needed` unless all was finite (and a sum may have overflowed). */
static void note_cleaning(struct chunk_state *state, bool needed)
{
    state->wary = needed || state->wary == 0 ? WARY_BLOCKS : state->wary - 1;
}

static void finish_chunk(const struct tdc_pair_plan *plan, const struct chunk_state *state,
                         struct tdc_pair_sums *sums)
{
    join_sums(&state->lanes, sums);
    if (plan->extremes)
        join_extremes(&state->extremes, sums);
}

/* ---- sides that fit f32 ------------------------------------------------------------------- */

struct f32_operands {
    const f32_unaligned *n, *b; /* in the buffers below unless usable where they lie */
    size_t count, padding;
    struct participants part;
    struct single_block result;
    float n_buffer[BLOCK], b_buffer[BLOCK];
} __attribute__((aligned(64)));

/* Blocks of these are taken by groups; others have ways that want them dense. */
static inline bool grouped_dtype(tdc_dtype dtype)
{
    return dtype == TDC_F32 || dtype == TDC_BF16 || dtype == TDC_F16;
}

/* A side of a block wherever its groups lie. */
static const f32_unaligned *load_side_f32(tdc_dtype dtype, const void *elements,
                                          const void *const *groups, size_t count, float *buffer)
{
    if (groups == NULL)
        return load_f32(dtype, elements, count, buffer);
    for (size_t i = 0; i < count; i += TDC_PAIR_GROUP)
        convert_f32(dtype, groups[i / TDC_PAIR_GROUP], TDC_PAIR_GROUP, buffer + i);
    return buffer;
}

static void load_block_f32(const struct tdc_pair_plan *plan, const struct block_sides *at,
                           struct f32_operands *block)
{
    block->n = load_side_f32(plan->n_dtype, at->n, at->n_groups, block->count, block->n_buffer);
    block->b = load_side_f32(plan->b_dtype, at->b, at->b_groups, block->count, block->b_buffer);
    block->padding = padded_count(block->count) - block->count;
    block->part = (struct participants){0, block->count};
}

/* `sums` gets the number of finite pairs, too. */
static void clean_block_f32(const struct tdc_pair_plan *plan, struct f32_operands *block,
                            struct chunk_state *state, struct tdc_pair_sums *sums)
{
    struct participants finite =
        clean_f32(block->n, block->b, block->count, block->n_buffer, block->b_buffer, sums);
    if (plan->rule == TDC_RELATIVE_F64)
        block->part = finite;
    note_cleaning(state, finite.count < block->count);
    block->n = block->n_buffer;
    block->b = block->b_buffer;
}

/* Everything of a block but the extremes and the maxima of e. */
ALWAYS_INLINE void take_block_f32(enum single_rule kind, const struct tdc_pair_plan *plan,
                                  const struct prefetch *ahead, size_t start,
                                  const struct single_constants *constants,
                                  struct f32_operands *block, struct chunk_state *state,
                                  struct tdc_pair_sums *sums)
{
    size_t padded = block->count + block->padding;
    bool fused = FUSE_PASSES && block->padding == 0, clean = state->wary > 0;
    struct lane_sums next;
    if (clean)
        clean_block_f32(plan, block, state, sums);
    for (;;) {
        if (fused)
            fused_block_f32(kind, block->n, block->b, padded, ahead, constants, &next,
                            &block->result);
        else
            sum_block_f32(block->n, block->b, padded, ahead, &next, &block->result);
        if (clean || lanes_are_finite(&next))
            break;
        clean_block_f32(plan, block, state, sums);
        clean = true;
    }
    add_lanes(&state->lanes, &next);
    sums->finite += clean ? 0 : block->count;
    if (!fused) {
        /* The sums wanted zeros, the rest what has no e of its own. */
        pad_f32(block->n_buffer, block->count, block->n[0]);
        pad_f32(block->b_buffer, block->count, block->b[0]);
        relate_block_f32(kind, block->n, block->b, padded, constants, &block->result);
    }
    if (block->part.count > 0 && f64_any_above(block->result.distance, sums->abs_max)) {
        double maximum = f64_highest(block->result.distance);
        ENTER_MAXIMUM(maximum, fabs((double)block->n[i] - (double)block->b[i]), block->part.first,
                      block->count, start, &sums->abs_max, &sums->abs_at);
    }
}

ALWAYS_INLINE void enter_native_f32(enum single_rule kind, struct f32_operands *block, size_t start,
                                    const struct single_constants *constants,
                                    struct tdc_pair_sums *sums)
{
    const double limits[2] = {(double)constants->limits[0], (double)constants->limits[1]};
    discount_padding(native_single(kind, block->n[0], block->b[0], constants), block->padding,
                     limits, 2, &block->result.counts);
    enter_relative(&block->result.counts, block->part.count, 2, sums);
    find_native_maximum(kind, block->result.relative, block->n, block->b, block->count, start,
                        constants, &sums->rel_max, &sums->rel_at);
}

static void enter_exact_f32(struct f32_operands *block, size_t start, struct tdc_pair_sums *sums)
{
    double first = (double)block->b[0];
    discount_padding(exact_f64((double)block->n[0] - first, first), block->padding, tdc_pair_limits,
                     TDC_PAIR_LIMITS, &block->result.counts);
    enter_relative(&block->result.counts, block->part.count, TDC_PAIR_LIMITS, sums);
    if (sums->rel_max < 0 && block->part.count > 0) {
        /* The smallest e there is, until a larger one is found. */
        sums->rel_max = 0;
        sums->rel_at = start + block->part.first;
    }
    if (f32_any_negative(block->result.relative))
        find_exact_maximum(block->n, block->b, block->count + block->padding, start, &sums->rel_max,
                           &sums->rel_at);
}

static void enter_whole_f32(struct f32_operands *block, size_t start, struct tdc_pair_sums *sums)
{
    discount_padding(native_f64((double)block->n[0], (double)block->b[0], &whole_rule),
                     block->padding, tdc_pair_limits, 2, &block->result.counts);
    enter_relative(&block->result.counts, block->count, 2, sums);
    if (sums->rel_max < 0) {
        sums->rel_max = 0;
        sums->rel_at = start;
    }
    if (f32_any_negative(block->result.relative))
        find_whole_maximum(block->n, block->b, block->count + block->padding, start, &sums->rel_max,
                           &sums->rel_at);
}

/* Enters a block of finite numbers x whose sides are equal. */
ALWAYS_INLINE void enter_equal_f32(enum single_rule kind, const struct tdc_pair_plan *plan,
                                   const f32_unaligned *x, size_t start, size_t count,
                                   const struct lane_sums *next, struct chunk_state *state,
                                   struct tdc_pair_sums *sums)
{
    size_t undefined = 0, first = 0;
    add_lanes(&state->lanes, next);
    if (plan->extremes)
        add_equal_extremes_f32(&state->extremes, x, count);
    if (kind == SINGLE_F16 || kind == SINGLE_F32_OR_NAN) {
        undefined = count_zeros(x, count);
        while (undefined < count && x[first] == 0)
            first++;
    }
    enter_equal(start, count, undefined, first, kind == SINGLE_EXACT ? TDC_PAIR_LIMITS : 2, sums);
}

/* The short way of a block whose sides are equal, and of the next one if it is such a block, too.
 * Returns the blocks taken. */
ALWAYS_INLINE size_t take_equal_f32(enum single_rule kind, const struct tdc_pair_plan *plan,
                                    const struct block_sides *at, size_t start,
                                    struct f32_operands *block, struct chunk_state *state,
                                    struct tdc_pair_sums *sums)
{
    const struct prefetch *ahead = &at->ahead;
    struct lane_sums next[EQUAL_BLOCKS];
    const f32_unaligned *x[EQUAL_BLOCKS];
    x[0] = load_side_f32(plan->n_dtype, at->n, at->n_groups, block->count, block->n_buffer);
    const void *second = at_element(at->n, plan->n_dtype, BLOCK);
    if (at->left >= EQUAL_BLOCKS * BLOCK &&
        block_is_equal(plan, second, at_element(at->b, plan->b_dtype, BLOCK), BLOCK)) {
        x[1] = load_f32(plan->n_dtype, second, block->count, block->b_buffer);
        square_blocks_f32(EQUAL_BLOCKS, x, BLOCK, ahead, next);
        if (lanes_are_finite(&next[0]) && lanes_are_finite(&next[1])) {
            enter_equal_f32(kind, plan, x[0], start, BLOCK, &next[0], state, sums);
            enter_equal_f32(kind, plan, x[1], start + BLOCK, BLOCK, &next[1], state, sums);
            return EQUAL_BLOCKS;
        }
    } else {
        square_blocks_f32(1, x, padded_count(block->count), ahead, next);
    }
    if (!lanes_are_finite(&next[0]))
        return 0;
    enter_equal_f32(kind, plan, x[0], start, block->count, &next[0], state, sums);
    return 1;
}

/* A loaded block. */
ALWAYS_INLINE void enter_block_f32(enum single_rule kind, const struct tdc_pair_plan *plan,
                                   const struct prefetch *ahead, size_t start,
                                   struct single_constants *constants, struct f32_operands *block,
                                   struct chunk_state *state, struct tdc_pair_sums *sums)
{
    if (kind == SINGLE_EXACT || kind == SINGLE_WHOLE)
        constants->bound = exceeding_bound(sums->rel_max);
    take_block_f32(kind, plan, ahead, start, constants, block, state, sums);
    if (kind == SINGLE_EXACT)
        enter_exact_f32(block, start, sums);
    else if (kind == SINGLE_WHOLE)
        enter_whole_f32(block, start, sums);
    else
        enter_native_f32(kind, block, start, constants, sums);
}

#if HAS_HALF_BLOCKS
#include "kernels/cpu/pair_impl_half.h"
#endif

#if HAS_NEAR_GROUPS
/* f32 numbers are used where they lie. */
static inline struct near_side near_side_of(tdc_dtype dtype, const void *elements,
                                            const void *const *groups, float *buffer)
{
    if (dtype == TDC_F32)
        return (struct near_side){elements, groups};
    return (struct near_side){load_side_f32(dtype, elements, groups, BLOCK, buffer), NULL};
}

/* The way of a block whose pairs are near to each other; false when it is not for this one. */
ALWAYS_INLINE bool take_near_f32(enum single_rule kind, unsigned counted, bool extremes,
                                 const struct tdc_pair_plan *plan, const struct block_sides *at,
                                 size_t start, const struct single_constants *constants,
                                 struct f32_operands *block, struct chunk_state *state,
                                 struct tdc_pair_sums *sums)
{
    const struct near_sides sides = {
        near_side_of(plan->n_dtype, at->n, at->n_groups, block->n_buffer),
        near_side_of(plan->b_dtype, at->b, at->b_groups, block->b_buffer),
    };
    struct near_block near = {
        .abs_max = sums->abs_max,
        .rel_max = sums->rel_max,
        .abs_at = sums->abs_at,
        .rel_at = sums->rel_at,
    };
    if (extremes) {
        near.extremes = state->extremes;
        start_sums(&near.extremes);
    }
    near_block(kind, counted, extremes, &sides, &at->ahead, start, constants, &near);
    if (near.far > BLOCK / NEAR_GROUP / 2)
        state->far = FAR_BLOCKS;
    if (!lanes_are_finite(&near.lanes))
        return false;
    add_lanes(&state->lanes, &near.lanes);
    if (extremes) {
        add_sums(&near.extremes, &state->extremes);
        state->extremes = near.extremes;
    }
    sums->finite += BLOCK;
    sums->abs_max = near.abs_max;
    sums->abs_at = near.abs_at;
    sums->rel_max = near.rel_max;
    sums->rel_at = near.rel_at;
    enter_relative(&near.counts, BLOCK, kind == SINGLE_EXACT ? TDC_PAIR_LIMITS : 2, sums);
    return true;
}

ALWAYS_INLINE bool try_near_f32(enum single_rule kind, const struct tdc_pair_plan *plan,
                                const struct block_sides *at, size_t start,
                                const struct single_constants *constants,
                                struct f32_operands *block, struct chunk_state *state,
                                struct tdc_pair_sums *sums)
{
    /* before there is a maximum, groups raise it again and again */
    if (state->wary > 0 || block->count < BLOCK || !(sums->rel_max > 0) ||
        !grouped_dtype(plan->n_dtype) || !grouped_dtype(plan->b_dtype) || takes_half(plan))
        return false;
    if (state->far > 0) {
        state->far--;
        return false;
    }
#define TAKE_NEAR(counted)                                                                         \
    (plan->extremes                                                                                \
         ? take_near_f32(kind, counted, true, plan, at, start, constants, block, state, sums)      \
         : take_near_f32(kind, counted, false, plan, at, start, constants, block, state, sums))
    return near_limits(plan) == 0 ? TAKE_NEAR(0) : TAKE_NEAR(1);
#undef TAKE_NEAR
}
#endif

ALWAYS_INLINE void run_single(enum single_rule kind, struct single_constants constants,
                              const struct tdc_pair_plan *plan, const void *n, const void *b,
                              size_t count, struct tdc_pair_sums *sums)
{
    struct chunk_state state;
    struct chunk_sides sides;
    struct f32_operands block;
    start_chunk(&state, count, sums);
#if HAS_HALF_BLOCKS
    state.limits = half_limits_of(kind, &constants);
    state.squares = 0;
#endif
    start_sides(plan, n, b, count, &sides);
    if (grouped_dtype(plan->n_dtype) && grouped_dtype(plan->b_dtype))
        take_groups(plan);
    for (size_t start = 0; start < count; start += BLOCK) {
        const struct block_sides at = block_at(&sides, start);
        block.count = count - start < BLOCK ? count - start : BLOCK;
        if (state.wary == 0 && sides_are_equal(plan, &at, block.count)) {
            size_t taken = take_equal_f32(kind, plan, &at, start, &block, &state, sums);
            if (taken > 0) {
                start += (taken - 1) * BLOCK;
                continue;
            }
        }
#if HAS_HALF_BLOCKS
        if (try_half(kind, plan, &at, start, &constants, &block, &state, sums))
            continue;
#endif
#if HAS_NEAR_GROUPS
        if (try_near_f32(kind, plan, &at, start, &constants, &block, &state, sums))
            continue;
#endif
        load_block_f32(plan, &at, &block);
        if (plan->extremes)
            add_extremes_f32(&state.extremes, block.n, block.b, block.count);
        enter_block_f32(kind, plan, &at.ahead, start, &constants, &block, &state, sums);
    }
    finish_chunk(plan, &state, sums);
}

/* The least f32 number that rounds to `limit` or more in f16; `limit` is no power of two. */
static float least_rounding_to(float limit)
{
    float middle = bits_to_f32(f32_to_bits(limit) - (1u << 12));
    return round_to_f16(middle) >= limit ? middle : bits_to_f32(f32_to_bits(middle) + 1);
}

static void KERNEL(pair_native_f16)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    struct single_constants constants = {
        .limits = {least_rounding_to(round_to_f16((float)tdc_pair_limits[0])),
                   least_rounding_to(round_to_f16((float)tdc_pair_limits[1]))},
    };
    run_single(SINGLE_F16, constants, plan, n, b, count, sums);
}

static void KERNEL(pair_native_f32)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    struct native_rule rule = native_rule_of(plan);
    struct single_constants constants = {
        .n_epsilon = (float)rule.n_epsilon,
        .b_epsilon = (float)rule.b_epsilon,
        .limits = {(float)tdc_pair_limits[0], (float)tdc_pair_limits[1]},
    };
    if (rule.b_epsilon == 0)
        run_single(SINGLE_F32_OR_NAN, constants, plan, n, b, count, sums);
    else
        run_single(SINGLE_F32, constants, plan, n, b, count, sums);
}

static void KERNEL(pair_exact_f32)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                   size_t count, struct tdc_pair_sums *sums)
{
    run_single(SINGLE_EXACT, (struct single_constants){0}, plan, n, b, count, sums);
}

#include "kernels/cpu/pair_impl_f64.h"
#include "kernels/cpu/pair_impl_integer.h"

const struct tdc_pair_kernel KERNEL(tdc_pair_kernel) = {{
    [NATIVE_F16] = KERNEL(pair_native_f16),
    [NATIVE_F32] = KERNEL(pair_native_f32),
    [NATIVE_F64] = KERNEL(pair_native_f64),
    [NATIVE_INTEGER] = KERNEL(pair_native_integer),
    [EXACT_F32] = KERNEL(pair_exact_f32),
    [EXACT_F64] = KERNEL(pair_exact_f64),
    [EXACT_INTEGER] = KERNEL(pair_exact_integer),
    [EXACT_COMPLEX] = KERNEL(pair_exact_complex),
}};

#endif
