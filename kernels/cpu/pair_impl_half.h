/*
 * pair_impl_half.h - the part of pair_impl.h for bf16 against bf16 and f16 against f16 numbers.
 * Included there only.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_HALF_H
#define TDC_KERNELS_CPU_PAIR_IMPL_HALF_H

/* Looks for higher maxima in a loaded block of finite numbers. */
ALWAYS_INLINE void find_half_maxima(enum single_rule kind, bool distance, bool error, size_t start,
                                    const struct single_constants *constants,
                                    struct f32_operands *block, struct tdc_pair_sums *sums)
{
    if (distance) {
        f64v top = f64_splat(0);
        for (size_t i = 0; i < BLOCK; i += F64_LANES)
            top = f64_max(f64_abs(f64_widen(block->n + i) - f64_widen(block->b + i)), top);
        double maximum = f64_highest(top);
        ENTER_MAXIMUM(maximum, fabs((double)block->n[i] - (double)block->b[i]), (size_t)0,
                      (size_t)BLOCK, start, &sums->abs_max, &sums->abs_at);
    }
    if (error && kind == SINGLE_EXACT) {
        find_exact_maximum(block->n, block->b, BLOCK, start, &sums->rel_max, &sums->rel_at);
    } else if (error) {
        relate_block_f32(kind, block->n, block->b, BLOCK, constants, &block->result);
        find_native_maximum(kind, block->result.relative, block->n, block->b, BLOCK, start,
                            constants, &sums->rel_max, &sums->rel_at);
    }
}

ALWAYS_INLINE bool take_half_block(bool brain, enum single_rule kind,
                                   const struct tdc_pair_plan *plan, const struct block_sides *at,
                                   size_t start, const struct single_constants *constants,
                                   struct f32_operands *block, struct chunk_state *state,
                                   struct tdc_pair_sums *sums)
{
    struct half_block half;
    struct half_view view;
    const struct half_block_at half_at = half_block_of(at);
    const struct half_loops *loops = half_loops_of(brain, plan->extremes);
    relate_half_block(brain, kind == SINGLE_EXACT, loops, &state->limits, &half_at, block->n_buffer,
                      block->b_buffer, &view, &half);
    if (!half_counts_hold(brain, kind, constants, &half) ||
        !sum_half_block(brain, loops, block->n_buffer, block->b_buffer, &view, &state->squares,
                        &half)) {
        state->far = UNFIT_BLOCKS;
        return false;
    }
    add_lanes(&state->lanes, &half.lanes);
    if (plan->extremes)
        add_half_extremes(brain, &half_at, &view, &half, &state->extremes);
    sums->finite += BLOCK;
    enter_relative(&half.counts, BLOCK, kind == SINGLE_EXACT ? TDC_PAIR_LIMITS : 2, sums);
    bool distance = half_distance_rises(&half, sums->abs_max);
    bool error = half_error_rises(kind, &half, sums->rel_max);
    if (distance || error) {
        load_block_f32(plan, at, block);
        find_half_maxima(kind, distance, error, start, constants, block, sums);
    }
    return true;
}

/* The way of a whole block of such numbers; false when it is not for this one. */
ALWAYS_INLINE bool try_half(enum single_rule kind, const struct tdc_pair_plan *plan,
                            const struct block_sides *at, size_t start,
                            const struct single_constants *constants, struct f32_operands *block,
                            struct chunk_state *state, struct tdc_pair_sums *sums)
{
    /* a maximum of 0 is the first pair's that takes part */
    if (!takes_half(plan) || state->wary > 0 || block->count < BLOCK || !(sums->rel_max > 0) ||
        kind == SINGLE_F32_OR_NAN)
        return false;
    if (state->far > 0) {
        state->far--;
        return false;
    }
    if (plan->n_dtype == TDC_BF16)
        return kind != SINGLE_F16 &&
               take_half_block(true, kind, plan, at, start, constants, block, state, sums);
    return take_half_block(false, kind, plan, at, start, constants, block, state, sums);
}

#endif
