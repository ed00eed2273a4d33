/*
 * pair_impl_integer.h - the part of pair_impl.h for integers, bool included. Included there only.
 *
 * Most of them are small: token ids, positions, counts, masks. A block whose numbers all are f32
 * numbers goes the way of those, which divides nothing. It comes to the same bits: products and
 * differences of such numbers are exact in f64 either way. Integers of one or two bytes have a way
 * of their own (pair_impl_small.h).
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_INTEGER_H
#define TDC_KERNELS_CPU_PAIR_IMPL_INTEGER_H

#if HAS_HALF_BLOCKS
#include "kernels/cpu/pair_impl_small.h"
#endif

/* Converts, and joins what the numbers, moved by `offset`, have beyond `bits` bits: 0 if all fit.
 */
#define CONVERT_NARROW(type, unsigned_type, offset, bits)                                          \
    do {                                                                                           \
        const type *from = source;                                                                 \
        unsigned_type beyond = 0;                                                                  \
        _Pragma("omp simd reduction(| : beyond)") for (size_t i = 0; i < count; i++)               \
        {                                                                                          \
            beyond |= ((unsigned_type)from[i] + (unsigned_type)(offset)) >> (bits);                \
            to[i] = (float)(int32_t)from[i];                                                       \
        }                                                                                          \
        return beyond == 0;                                                                        \
    } while (0)

/* False when a number of the block is beyond 2^24. */
static bool convert_narrow(tdc_dtype dtype, const void *source, size_t count, float *restrict to)
{
    switch (dtype) {
    case TDC_I32:
        CONVERT_NARROW(i32_unaligned, uint32_t, 1 << 24, 25);
    case TDC_U32:
        CONVERT_NARROW(u32_unaligned, uint32_t, 0, 24);
    case TDC_I64:
        CONVERT_NARROW(i64_unaligned, uint64_t, 1 << 24, 25);
    case TDC_U64:
        CONVERT_NARROW(u64_unaligned, uint64_t, 0, 24);
    default:
        convert_f32(dtype, source, count, to);
        return true;
    }
}
#undef CONVERT_NARROW

static bool load_narrow_block(const struct tdc_pair_plan *plan, const void *n, const void *b,
                              struct f32_operands *block)
{
    if (!convert_narrow(plan->n_dtype, n, block->count, block->n_buffer) ||
        !convert_narrow(plan->b_dtype, b, block->count, block->b_buffer))
        return false;
    pad_f32(block->n_buffer, block->count, 0);
    pad_f32(block->b_buffer, block->count, 0);
    block->n = block->n_buffer;
    block->b = block->b_buffer;
    block->padding = padded_count(block->count) - block->count;
    block->part = (struct participants){0, block->count};
    return true;
}

/* The numbers of a block as doubles, and their extremes where these are asked for. */
static void open_wide_block(const struct tdc_pair_plan *plan, const void *n, const void *b,
                            size_t count, struct chunk_state *state, struct f64_operands *block)
{
    block->count = count;
    load_block_f64(plan, n, b, block);
    if (plan->extremes)
        add_extremes_f64(&state->extremes, block->sides.n, block->sides.b, count);
}

/* Neither side has 64 bits: the numbers are doubles. */
static void enter_wide_block(const struct tdc_pair_plan *plan, const void *n, const void *b,
                             const struct prefetch *ahead, size_t start, size_t count,
                             struct chunk_state *state, struct tdc_pair_sums *sums)
{
    struct f64_operands block;
    open_wide_block(plan, n, b, count, state, &block);
    take_block_f64(DOUBLE_EXACT, plan, ahead, start, NULL, &block, state, sums);
    enter_exact_f64(&block, start, sums);
}

/* |n-b| is not a difference of two doubles. */
static void enter_widest_block(const struct tdc_pair_plan *plan, const void *n, const void *b,
                               const struct prefetch *ahead, size_t start, size_t count,
                               struct chunk_state *state, struct tdc_pair_sums *sums)
{
    double x[BLOCK] __attribute__((aligned(64))), y[BLOCK] __attribute__((aligned(64)));
    double distance[BLOCK] __attribute__((aligned(64)));
    const f64_unaligned *wide_n = load_f64(plan->n_dtype, n, count, x);
    const f64_unaligned *wide_b = load_f64(plan->b_dtype, b, count, y);
    const struct f64_sides sides = {wide_n, wide_b, distance, NULL};
    struct lane_sums block_sums;
    struct f64_block result;
    integer_distance(plan->n_dtype, n, plan->b_dtype, b, count, distance);
    if (plan->extremes)
        add_extremes_f64(&state->extremes, wide_n, wide_b, count);
    take_pairs_f64(DOUBLE_EXACT, &sides, padded_count(count), ahead, NULL, &block_sums, &result);
    add_lanes(&state->lanes, &block_sums);
    sums->finite += count;
    enter_given(&result, (struct participants){0, count}, distance, y, count, start, sums);
}

/* Numbers of any size by the native rules. */
static void enter_native_block(const struct tdc_pair_plan *plan, const void *n, const void *b,
                               const struct prefetch *ahead, size_t start, size_t count,
                               struct chunk_state *state, struct tdc_pair_sums *sums)
{
    struct f64_operands block;
    open_wide_block(plan, n, b, count, state, &block);
    take_block_f64(DOUBLE_PLAIN, plan, ahead, start, &whole_rule, &block, state, sums);
    enter_native_f64(&block, start, &whole_rule, sums);
}

/* Blocks that are not tried after one with large numbers: trying costs a tenth of their time. */
#define WIDE_BLOCKS 8

ALWAYS_INLINE void run_integer(bool native, const struct tdc_pair_plan *plan, const void *n,
                               const void *b, size_t count, struct tdc_pair_sums *sums)
{
    bool widest = tdc_dtype_size(plan->n_dtype) == 8 || tdc_dtype_size(plan->b_dtype) == 8;
    struct single_constants constants = {0};
    struct chunk_state state;
    struct chunk_sides sides;
    struct f32_operands block;
    double buffer[BLOCK] __attribute__((aligned(64)));
    unsigned wide = 0;
    start_chunk(&state, count, sums);
    start_sides(plan, n, b, count, &sides);
    for (size_t start = 0; start < count; start += BLOCK) {
        const struct block_sides at = block_at(&sides, start);
        block.count = count - start < BLOCK ? count - start : BLOCK;
        if (block_is_equal(plan, at.n, at.b, block.count) &&
            take_equal_f64(plan, at.n, &at.ahead, start, block.count, native ? 2 : TDC_PAIR_LIMITS,
                           buffer, &state, sums))
            continue;
#if HAS_HALF_BLOCKS
        if (try_small(plan, at.n, at.b, &at.ahead, start, block.count, native ? &whole_rule : NULL,
                      &state, sums))
            continue;
#endif
        if (wide == 0 && load_narrow_block(plan, at.n, at.b, &block)) {
            if (plan->extremes)
                add_extremes_f32(&state.extremes, block.n, block.b, block.count);
            enter_block_f32(native ? SINGLE_WHOLE : SINGLE_EXACT, plan, &at.ahead, start,
                            &constants, &block, &state, sums);
            continue;
        }
        wide = wide == 0 ? WIDE_BLOCKS : wide - 1;
        if (native)
            enter_native_block(plan, at.n, at.b, &at.ahead, start, block.count, &state, sums);
        else if (widest)
            enter_widest_block(plan, at.n, at.b, &at.ahead, start, block.count, &state, sums);
        else
            enter_wide_block(plan, at.n, at.b, &at.ahead, start, block.count, &state, sums);
    }
    finish_chunk(plan, &state, sums);
}

static void KERNEL(pair_native_integer)(const struct tdc_pair_plan *plan, const void *n,
                                        const void *b, size_t count, struct tdc_pair_sums *sums)
{
    run_integer(true, plan, n, b, count, sums);
}

static void KERNEL(pair_exact_integer)(const struct tdc_pair_plan *plan, const void *n,
                                       const void *b, size_t count, struct tdc_pair_sums *sums)
{
    run_integer(false, plan, n, b, count, sums);
}

#endif
