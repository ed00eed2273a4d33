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
#include "kernels/cpu/block_exact.h"
#include "kernels/cpu/block_relative_f64.h"
#include "kernels/cpu/pair_kernel.h"

static inline const void *at_element(const void *tensor, tdc_dtype dtype, size_t index)
{
    return (const char *)tensor + index * tdc_dtype_size(dtype);
}

/* Everything but the maxima, which need positions. */
static void enter_relative(const struct block_relative *block, struct participants part,
                           size_t limits, struct tdc_pair_sums *sums)
{
    sums->rel_nan += block->nan;
    for (size_t k = 0; k < limits; k++)
        sums->below[k] += part.count - block->nan - block->reached[k];
    if (part.clean) {
        widen_range(block->n_min, block->n_max, &sums->n_min, &sums->n_max);
        widen_range(block->b_min, block->b_max, &sums->b_min, &sums->b_max);
    }
}

/*
 * If `maximum` is above *highest, the first element from `first` on whose value (an expression
 * in i, a double) equals it becomes the new one. Blocks are padded, so PADDING elements can be
 * looked at together; this runs once per rise of a maximum, some ten times in a random chunk.
 */
#define ENTER_MAXIMUM(maximum, value, first, count, start, highest, at)                            \
    do {                                                                                           \
        if ((maximum) > *(highest)) {                                                              \
            size_t from = (first), group = from - from % PADDING;                                  \
            for (int hits = 0; group < (count); group += PADDING) {                                \
                for (size_t i = group; i < group + PADDING; i++)                                   \
                    hits |= (value) == (maximum);                                                  \
                if (hits)                                                                          \
                    break;                                                                         \
            }                                                                                      \
            for (size_t i = group < from ? from : group; i < (count); i++) {                       \
                if ((value) == (maximum)) {                                                        \
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
    block->abs_maximum = add_block_f32(lanes, &next, block->n, block->b, padded);
    if (lanes_are_finite(next.n, next.b)) {
        block->part = (struct participants){0, count, true};
        sums->finite += count;
    } else {
        block->part = clean_f32(block->n, block->b, count, block->n_buffer, block->b_buffer, sums);
        block->n = block->n_buffer;
        block->b = block->b_buffer;
        block->abs_maximum = add_block_f32(lanes, &next, block->n, block->b, padded);
        if (plan->rule == TDC_RELATIVE_NATIVE)
            block->part = (struct participants){0, count, false};
    }
    *lanes = next;
    if (block->part.count > 0)
        ENTER_MAXIMUM(block->abs_maximum, fabs((double)block->n[i] - (double)block->b[i]),
                      block->part.first, count, start, &sums->abs_max, &sums->abs_at);
}

/* The sums wanted zeros, the rest wants what changes no extreme; returns the number of copies. */
static size_t pad_with_first_f32(struct f32_operands *block)
{
    pad_f32(block->n_buffer, block->count, block->n[0]);
    pad_f32(block->b_buffer, block->count, block->b[0]);
    return padded_count(block->count) - block->count;
}

ALWAYS_INLINE void native_block_f32(enum single_rule kind, struct f32_operands *block, size_t start,
                                    const struct native_rule *rule, const double *limits,
                                    struct tdc_pair_sums *sums)
{
    float n_epsilon = (float)rule->n_epsilon, b_epsilon = (float)rule->b_epsilon;
    struct block_relative relative;
    size_t padding = pad_with_first_f32(block);
    relative_single(kind, block->n, block->b, block->count + padding, rule, limits, &relative);
    float first = native_single(kind, block->n[0], block->b[0], n_epsilon, b_epsilon);
    discount_padding((double)first, padding, limits, 2, &relative);
    enter_relative(&relative, block->part, 2, sums);
    ENTER_MAXIMUM(relative.maximum,
                  (double)native_single(kind, block->n[i], block->b[i], n_epsilon, b_epsilon), 0,
                  block->count, start, &sums->rel_max, &sums->rel_at);
}

ALWAYS_INLINE void run_native_single(enum single_rule kind, const double *limits,
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
    const double limits[2] = {(double)round_to_f16((float)tdc_pair_limits[0]),
                              (double)round_to_f16((float)tdc_pair_limits[1])};
    run_native_single(SINGLE_F16, limits, plan, n, b, count, sums);
}

static void KERNEL(pair_native_f32)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    const double limits[2] = {(double)(float)tdc_pair_limits[0], (double)(float)tdc_pair_limits[1]};
    if (plan->b_dtype == TDC_F16)
        run_native_single(SINGLE_F32_OR_NAN, limits, plan, n, b, count, sums);
    else
        run_native_single(SINGLE_F32, limits, plan, n, b, count, sums);
}

static void exact_block_f32(struct f32_operands *block, size_t start, struct tdc_pair_sums *sums)
{
    struct block_relative relative;
    size_t padding = pad_with_first_f32(block);
    bool may_rise = relative_exact_f32(block->n, block->b, block->count + padding,
                                       sums->rel_max > 0 ? sums->rel_max : 0, &relative);
    double b_first = (double)block->b[0];
    double first = zero_if_nan(exact_f64((double)block->n[0] - b_first, b_first));
    discount_padding(first, padding, tdc_pair_limits, TDC_PAIR_LIMITS, &relative);
    enter_relative(&relative, block->part, TDC_PAIR_LIMITS, sums);
    if (sums->rel_max < 0 && block->part.count > 0) {
        /* The smallest e there is, until a larger one is found. */
        sums->rel_max = 0;
        sums->rel_at = start + block->part.first;
    }
    if (may_rise)
        find_maximum_f32(block->n, block->b, block->count + padding, start, &sums->rel_max,
                         &sums->rel_at);
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
