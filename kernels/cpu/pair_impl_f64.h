/*
 * pair_impl_f64.h - the part of pair_impl.h for sides of which one does not fit f32. Included
 * there only.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_F64_H
#define TDC_KERNELS_CPU_PAIR_IMPL_F64_H

struct f64_operands {
    struct f64_sides sides; /* in the buffers below unless usable where they lie */
    size_t count, padding;
    struct participants part;
    struct f64_block result;
    double n_buffer[BLOCK], b_buffer[BLOCK];
} __attribute__((aligned(64)));

static void load_block_f64(const struct tdc_pair_plan *plan, const void *n, const void *b,
                           struct f64_operands *block)
{
    block->sides.n = load_f64(plan->n_dtype, n, block->count, block->n_buffer);
    block->sides.b = load_f64(plan->b_dtype, b, block->count, block->b_buffer);
    block->sides.distance = block->sides.modulus = NULL;
    block->padding = padded_count(block->count) - block->count;
    block->part = (struct participants){0, block->count};
}

static void clean_block_f64(const struct tdc_pair_plan *plan, struct f64_operands *block,
                            struct chunk_state *state, struct tdc_pair_sums *sums)
{
    struct participants finite = clean_f64(block->sides.n, block->sides.b, block->count,
                                           block->n_buffer, block->b_buffer, sums);
    if (plan->rule == TDC_RELATIVE_F64)
        block->part = finite;
    note_cleaning(state, finite.count < block->count);
    block->sides.n = block->n_buffer;
    block->sides.b = block->b_buffer;
}

/* Everything of a block but the extremes and the maxima of e. */
ALWAYS_INLINE void take_block_f64(enum double_rule kind, const struct tdc_pair_plan *plan,
                                  const struct prefetch *ahead, size_t start,
                                  const struct native_rule *rule, struct f64_operands *block,
                                  struct chunk_state *state, struct tdc_pair_sums *sums)
{
    size_t padded = block->count + block->padding;
    bool clean = state->wary > 0;
    struct lane_sums next, ignored;
    if (clean)
        clean_block_f64(plan, block, state, sums);
    for (;;) {
        take_pairs_f64(kind, &(struct f64_sides){block->sides.n, block->sides.b, NULL, NULL},
                       padded, ahead, rule, &next, &block->result);
        if (clean || lanes_are_finite(&next))
            break;
        clean_block_f64(plan, block, state, sums);
        clean = true;
    }
    if (kind == DOUBLE_MIXED && block->padding > 0) {
        /* The sums wanted zeros, the rest what has no e of its own. */
        pad_f64(block->n_buffer, block->count, block->n_buffer[0]);
        pad_f64(block->b_buffer, block->count, block->b_buffer[0]);
        take_pairs_f64(kind, &block->sides, padded, ahead, rule, &ignored, &block->result);
        discount_padding(native_f64(block->n_buffer[0], block->b_buffer[0], rule), block->padding,
                         tdc_pair_limits, 2, &block->result.counts);
    }
    add_lanes(&state->lanes, &next);
    sums->finite += clean ? 0 : block->count;
    if (block->part.count > 0)
        ENTER_MAXIMUM(block->result.distance, fabs(block->sides.n[i] - block->sides.b[i]),
                      block->part.first, block->count, start, &sums->abs_max, &sums->abs_at);
}

static void enter_native_f64(const struct f64_operands *block, size_t start,
                             const struct native_rule *rule, struct tdc_pair_sums *sums)
{
    enter_relative(&block->result.counts, block->part.count, 2, sums);
    ENTER_MAXIMUM(block->result.relative, native_f64(block->sides.n[i], block->sides.b[i], rule), 0,
                  block->count, start, &sums->rel_max, &sums->rel_at);
}

static void enter_exact_f64(const struct f64_operands *block, size_t start,
                            struct tdc_pair_sums *sums)
{
    const struct f64_sides *sides = &block->sides;
    enter_relative(&block->result.counts, block->part.count, TDC_PAIR_LIMITS, sums);
    if (block->part.count > 0)
        ENTER_MAXIMUM(block->result.relative, exact_f64(sides->n[i] - sides->b[i], sides->b[i]),
                      block->part.first, block->count, start, &sums->rel_max, &sums->rel_at);
}

/* The short way of a block of real numbers whose sides are equal, `buffer` as large as a block;
 * false when it is not for this one. Equal sides of DOUBLE_MIXED do not occur: their type would fit
 * f32. */
static bool take_equal_f64(const struct tdc_pair_plan *plan, const void *n,
                           const struct prefetch *ahead, size_t start, size_t count, size_t limits,
                           double *buffer, struct chunk_state *state, struct tdc_pair_sums *sums)
{
    struct lane_sums next;
    const f64_unaligned *x = NULL;
    if (count < BLOCK || plan->extremes || !square_integers(plan->n_dtype, n, ahead, &next)) {
        x = load_f64(plan->n_dtype, n, count, buffer);
        square_block_f64(x, padded_count(count), ahead, &next);
    }
    if (!lanes_are_finite(&next))
        return false;
    if (plan->extremes)
        add_extremes_f64(&state->extremes, x, x, count);
    add_lanes(&state->lanes, &next);
    enter_equal(start, count, 0, 0, limits, sums);
    return true;
}

ALWAYS_INLINE void run_double(enum double_rule kind, const struct tdc_pair_plan *plan,
                              const void *n, const void *b, size_t count,
                              struct tdc_pair_sums *sums)
{
    struct native_rule rule = native_rule_of(plan);
    struct chunk_state state;
    struct chunk_sides sides;
    struct f64_operands block;
    start_chunk(&state, count, sums);
    start_sides(plan, n, b, count, &sides);
    for (size_t start = 0; start < count; start += BLOCK) {
        const struct block_sides at = block_at(&sides, start);
        block.count = count - start < BLOCK ? count - start : BLOCK;
        if (kind != DOUBLE_MIXED && state.wary == 0 &&
            block_is_equal(plan, at.n, at.b, block.count) &&
            take_equal_f64(plan, at.n, &at.ahead, start, block.count,
                           kind == DOUBLE_EXACT ? TDC_PAIR_LIMITS : 2, block.n_buffer, &state,
                           sums))
            continue;
        load_block_f64(plan, at.n, at.b, &block);
        if (plan->extremes)
            add_extremes_f64(&state.extremes, block.sides.n, block.sides.b, block.count);
        take_block_f64(kind, plan, &at.ahead, start, &rule, &block, &state, sums);
        if (kind == DOUBLE_EXACT)
            enter_exact_f64(&block, start, sums);
        else
            enter_native_f64(&block, start, &rule, sums);
    }
    finish_chunk(plan, &state, sums);
}

static void KERNEL(pair_native_f64)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    struct native_rule rule = native_rule_of(plan);
    if (rule.n_epsilon > 0 && rule.b_epsilon > 0 && !rule.n_single)
        run_double(DOUBLE_PLAIN, plan, n, b, count, sums);
    else
        run_double(DOUBLE_MIXED, plan, n, b, count, sums);
}

static void KERNEL(pair_exact_f64)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                   size_t count, struct tdc_pair_sums *sums)
{
    run_double(DOUBLE_EXACT, plan, n, b, count, sums);
}

/* ---- complex numbers ------------------------------------------------------------------------ */

/* The maxima of a block whose |n-b| and |b| lie in arrays. */
static void enter_given(const struct f64_block *result, struct participants part,
                        const double *distance, const double *modulus, size_t count, size_t start,
                        struct tdc_pair_sums *sums)
{
    enter_relative(&result->counts, part.count, TDC_PAIR_LIMITS, sums);
    if (part.count == 0)
        return;
    ENTER_MAXIMUM(result->distance, distance[i], part.first, count, start, &sums->abs_max,
                  &sums->abs_at);
    ENTER_MAXIMUM(result->relative, exact_f64(distance[i], modulus[i]), part.first, count, start,
                  &sums->rel_max, &sums->rel_at);
}

static void sum_block_complex(const struct complex_block *block, size_t count,
                              struct lane_sums *sums)
{
    struct lane_sums s;
    clear_lanes(&s);
    for (size_t i = 0; i < count; i += SUM_LANES)
        add_group_complex(&s, block, i);
    *sums = s;
}

/* Loads a block and enters all of it but the maxima and relative errors. */
static struct participants take_block_complex(const struct tdc_pair_plan *plan, const void *n,
                                              const void *b, size_t count,
                                              struct complex_block *block,
                                              struct chunk_state *state, struct tdc_pair_sums *sums)
{
    size_t padded = padded_count(count);
    struct participants part = {0, count};
    struct lane_sums block_sums;
    load_complex(plan->n_dtype, n, count, block->n, block->n_imaginary);
    load_complex(plan->b_dtype, b, count, block->b, block->b_imaginary);
    if (plan->extremes)
        add_extremes_complex(&state->extremes, block, count);
    if (complex_is_finite(block, count))
        sums->finite += count;
    else
        part = clean_complex(block, count, sums);
    complex_moduli(block, padded);
    sum_block_complex(block, padded, &block_sums);
    add_lanes(&state->lanes, &block_sums);
    return part;
}

static bool take_equal_complex(const struct tdc_pair_plan *plan, const void *n,
                               const struct prefetch *ahead, size_t start, size_t count,
                               struct complex_block *block, struct chunk_state *state,
                               struct tdc_pair_sums *sums)
{
    struct lane_sums next;
    load_complex(plan->n_dtype, n, count, block->n, block->n_imaginary);
    square_block_complex(block->n, block->n_imaginary, padded_count(count), ahead, &next);
    if (!lanes_are_finite(&next))
        return false;
    if (plan->extremes)
        add_extremes_f64(&state->extremes, block->n, block->n, count);
    add_lanes(&state->lanes, &next);
    enter_equal(start, count, 0, 0, TDC_PAIR_LIMITS, sums);
    return true;
}

static void KERNEL(pair_exact_complex)(const struct tdc_pair_plan *plan, const void *n,
                                       const void *b, size_t count, struct tdc_pair_sums *sums)
{
    struct complex_block block;
    const struct f64_sides parts = {block.n, block.b, block.distance, block.b_modulus};
    struct chunk_state state;
    struct chunk_sides sides;
    struct f64_block result;
    start_chunk(&state, count, sums);
    start_sides(plan, n, b, count, &sides);
    for (size_t start = 0; start < count; start += BLOCK) {
        size_t length = count - start < BLOCK ? count - start : BLOCK;
        const struct block_sides at = block_at(&sides, start);
        if (block_is_equal(plan, at.n, at.b, length) &&
            take_equal_complex(plan, at.n, &at.ahead, start, length, &block, &state, sums))
            continue;
        struct participants part =
            take_block_complex(plan, at.n, at.b, length, &block, &state, sums);
        take_pairs_f64(DOUBLE_COMPLEX, &parts, padded_count(length), &at.ahead, NULL, NULL,
                       &result);
        enter_given(&result, part, block.distance, block.b_modulus, length, start, sums);
    }
    finish_chunk(plan, &state, sums);
}

#endif
