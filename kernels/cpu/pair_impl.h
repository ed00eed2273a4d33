/*
 * pair_impl.h - the kernels. Compiled once per instruction set: the including file defines
 * KERNEL(name) to append the name of the set.
 *
 * Every run function walks the chunk block by block: load both sides as f32 or f64, add to the
 * sums, look for NaN and infinity only if a sum caught one, then extremes and relative errors.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_H
#define TDC_KERNELS_CPU_PAIR_IMPL_H

#include "kernels/cpu/block_distance.h"
#include "kernels/cpu/block_quotient.h"
#include "kernels/cpu/pair_kernel.h"

static inline const void *at_element(const void *tensor, tdc_dtype dtype, size_t index)
{
    return (const char *)tensor + index * tdc_dtype_size(dtype);
}

/* Everything but the maxima, which need positions. */
static void enter_relative(const struct block_relative *block, size_t participants, size_t limits,
                           struct tdc_pair_sums *sums)
{
    sums->rel_nan += block->nan;
    for (size_t k = 0; k < limits; k++)
        sums->below[k] += participants - block->nan - block->reached[k];
}

/*
 * If `maximum` is above *highest, the first element from `first` on whose value (an expression
 * in i) equals it becomes the new one. There may be none: padding can be the maximum of a block
 * that is NaN throughout.
 */
#define ENTER_MAXIMUM(maximum, value, first, count, start, highest, at)                            \
    do {                                                                                           \
        if ((maximum) > *(highest)) {                                                              \
            for (size_t i = (first); i < (count); i++) {                                           \
                if ((double)(value) == (maximum)) {                                                \
                    *(highest) = (maximum);                                                        \
                    *(at) = (start) + i;                                                           \
                    break;                                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* -0 and +0 are equal, so which of them an extreme is would depend on the order of lanes. */
static void finish(const struct lane_sums *lanes, struct tdc_pair_sums *sums)
{
    join_sums(lanes, sums);
    sums->n_min += 0.0;
    sums->n_max += 0.0;
    sums->b_min += 0.0;
    sums->b_max += 0.0;
}

static struct native_rule native_rule_of(const struct tdc_pair_plan *plan)
{
    return (struct native_rule){
        .n_epsilon = plan->n_dtype == TDC_F16 ? 0 : 0x1p-52,
        .b_epsilon = plan->b_dtype == TDC_F16 ? 0 : 0x1p-52,
        .n_single = dtype_is_single(plan->n_dtype),
    };
}

/* ---- sides that fit f32 ------------------------------------------------------------------- */

struct f32_operands {
    const f32_unaligned *n, *b; /* in the buffers below unless usable where they lie */
    size_t count;
    struct participants part;
    double abs_maximum;
    float n_buffer[BLOCK], b_buffer[BLOCK];
} __attribute__((aligned(64)));

/* Loads a block and enters all of it but the relative errors. */
static void take_block_f32(const struct tdc_pair_plan *plan, const void *n, const void *b,
                           size_t start, struct f32_operands *block, struct lane_sums *lanes,
                           struct tdc_pair_sums *sums)
{
    size_t count = block->count, padded = padded_count(count);
    struct lane_sums next;
    block->n = load_f32(plan->n_dtype, at_element(n, plan->n_dtype, start), count, block->n_buffer);
    block->b = load_f32(plan->b_dtype, at_element(b, plan->b_dtype, start), count, block->b_buffer);
    block->abs_maximum = add_block_f32(lanes, &next, block->n, block->b, NULL, padded);
    if (lanes_are_finite(next.n, next.b)) {
        block->part = (struct participants){0, count};
        sums->finite += count;
        extremes_f32(block->n, count, &sums->n_min, &sums->n_max);
        extremes_f32(block->b, count, &sums->b_min, &sums->b_max);
    } else {
        block->part =
            clean_f32(block->n, block->b, count, block->n_buffer, block->b_buffer, sums);
        block->n = block->n_buffer;
        block->b = block->b_buffer;
        block->abs_maximum = add_block_f32(lanes, &next, block->n, block->b, NULL, padded);
        if (plan->rule == TDC_RELATIVE_NATIVE)
            block->part = (struct participants){0, count};
    }
    *lanes = next;
    if (block->part.count > 0)
        ENTER_MAXIMUM(block->abs_maximum, fabs((double)block->n[i] - (double)block->b[i]),
                      block->part.first, count, start, &sums->abs_max, &sums->abs_at);
}

ALWAYS_INLINE void native_block_f32(enum single_rule kind, struct f32_operands *block, size_t start,
                                    const struct native_rule *rule, const float *limits,
                                    struct tdc_pair_sums *sums)
{
    struct block_relative relative;
    /* 1 against 1 has e = 0 in every precision and reaches no limit. */
    pad_f32(block->n_buffer, block->count, 1);
    pad_f32(block->b_buffer, block->count, 1);
    relative_single(kind, block->n, block->b, padded_count(block->count), rule, limits, &relative);
    enter_relative(&relative, block->count, 2, sums);
    ENTER_MAXIMUM(relative.maximum,
                  native_single(kind, block->n[i], block->b[i], (float)rule->n_epsilon,
                                (float)rule->b_epsilon),
                  0, block->count, start, &sums->rel_max, &sums->rel_at);
}

ALWAYS_INLINE void run_native_single(enum single_rule kind, const float *limits,
                                     const struct tdc_pair_plan *plan, const void *n, const void *b,
                                     size_t count, struct tdc_pair_sums *sums)
{
    struct native_rule rule = native_rule_of(plan);
    struct lane_sums lanes = {0};
    struct f32_operands block;
    tdc_pair_clear(sums);
    sums->count = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        block.count = count - start < BLOCK ? count - start : BLOCK;
        take_block_f32(plan, n, b, start, &block, &lanes, sums);
        native_block_f32(kind, &block, start, &rule, limits, sums);
    }
    finish(&lanes, sums);
}

static void KERNEL(pair_native_f16)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    const float limits[2] = {round_to_f16((float)tdc_pair_limits[0]),
                             round_to_f16((float)tdc_pair_limits[1])};
    run_native_single(SINGLE_F16, limits, plan, n, b, count, sums);
}

static void KERNEL(pair_native_f32)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    const float limits[2] = {(float)tdc_pair_limits[0], (float)tdc_pair_limits[1]};
    if (plan->b_dtype == TDC_F16)
        run_native_single(SINGLE_F32_OR_NAN, limits, plan, n, b, count, sums);
    else
        run_native_single(SINGLE_F32, limits, plan, n, b, count, sums);
}

static void exact_block_f32(const struct f32_operands *block, size_t start,
                            struct tdc_pair_sums *sums)
{
    struct quotient_block quotients;
    struct block_relative relative = {0};
    size_t padded = padded_count(block->count);
    divide_block(block->n, block->b, padded, &quotients);
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        relative.reached[k] =
            count_reached(block->n, block->b, padded, &quotients, tdc_pair_limits[k]);
    enter_relative(&relative, block->part.count, TDC_PAIR_LIMITS, sums);
    /* Equal tensors are common and would otherwise be searched for tiny quotients. */
    bool all_equal = block->abs_maximum == 0 && sums->rel_max >= 0;
    if (block->part.count > 0 && !all_equal && may_exceed(&quotients, sums->rel_max))
        find_maximum(block->n, block->b, block->part.first, block->count, &quotients, start,
                     &sums->rel_max, &sums->rel_at);
}

static void KERNEL(pair_exact_f32)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                   size_t count, struct tdc_pair_sums *sums)
{
    struct lane_sums lanes = {0};
    struct f32_operands block;
    tdc_pair_clear(sums);
    sums->count = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        block.count = count - start < BLOCK ? count - start : BLOCK;
        take_block_f32(plan, n, b, start, &block, &lanes, sums);
        exact_block_f32(&block, start, sums);
    }
    finish(&lanes, sums);
}

#include "kernels/cpu/pair_impl_f64.h"

const struct tdc_pair_kernel KERNEL(tdc_pair_kernel) = {{
    [NATIVE_F16] = KERNEL(pair_native_f16),
    [NATIVE_F32] = KERNEL(pair_native_f32),
    [NATIVE_F64] = KERNEL(pair_native_f64),
    [EXACT_F32] = KERNEL(pair_exact_f32),
    [EXACT_F64] = KERNEL(pair_exact_f64),
    [EXACT_I64] = KERNEL(pair_exact_i64),
    [EXACT_COMPLEX] = KERNEL(pair_exact_complex),
}};

#endif
