/*
 * pair_impl_f64.h - the part of pair_impl.h for sides of which one does not fit f32. Included
 * there only.
 */
#ifndef TDC_KERNELS_CPU_PAIR_IMPL_F64_H
#define TDC_KERNELS_CPU_PAIR_IMPL_F64_H

struct f64_operands {
    const f64_unaligned *n, *b; /* in the buffers below unless usable where they lie */
    size_t count;
    struct participants part;
    double abs_maximum;
    double n_buffer[BLOCK], b_buffer[BLOCK];
} __attribute__((aligned(64)));

/* Loads a block and enters all of it but the relative errors. */
static void take_block_f64(const struct tdc_pair_plan *plan, const void *n, const void *b,
                           size_t start, struct f64_operands *block, struct lane_sums *lanes,
                           struct tdc_pair_sums *sums)
{
    size_t count = block->count, padded = padded_count(count);
    struct lane_sums next;
    block->n = load_f64(plan->n_dtype, at_element(n, plan->n_dtype, start), count, block->n_buffer);
    block->b = load_f64(plan->b_dtype, at_element(b, plan->b_dtype, start), count, block->b_buffer);
    block->abs_maximum = add_block_f64(lanes, &next, block->n, block->b, NULL, padded);
    if (lanes_are_finite(next.n, next.b)) {
        block->part = (struct participants){0, count, true};
        sums->finite += count;
    } else {
        block->part = clean_f64(block->n, block->b, count, block->n_buffer, block->b_buffer, sums);
        block->n = block->n_buffer;
        block->b = block->b_buffer;
        block->abs_maximum = add_block_f64(lanes, &next, block->n, block->b, NULL, padded);
        if (plan->rule == TDC_RELATIVE_NATIVE)
            block->part = (struct participants){0, count, false};
    }
    *lanes = next;
    if (block->part.count > 0)
        ENTER_MAXIMUM(block->abs_maximum, fabs(block->n[i] - block->b[i]), block->part.first, count,
                      start, &sums->abs_max, &sums->abs_at);
}

static size_t pad_with_first_f64(struct f64_operands *block)
{
    pad_f64(block->n_buffer, block->count, block->n[0]);
    pad_f64(block->b_buffer, block->count, block->b[0]);
    return padded_count(block->count) - block->count;
}

static void native_block_f64(struct f64_operands *block, size_t start,
                             const struct native_rule *rule, struct tdc_pair_sums *sums)
{
    struct block_relative relative;
    size_t padding = pad_with_first_f64(block);
    relative_native_f64(block->n, block->b, block->count + padding, rule, &relative);
    discount_padding(native_f64(block->n[0], block->b[0], rule), padding, tdc_pair_limits, 2,
                     &relative);
    enter_relative(&relative, block->part, 2, sums);
    ENTER_MAXIMUM(relative.maximum, native_f64(block->n[i], block->b[i], rule), 0, block->count,
                  start, &sums->rel_max, &sums->rel_at);
}

static void KERNEL(pair_native_f64)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                    size_t count, struct tdc_pair_sums *sums)
{
    struct native_rule rule = native_rule_of(plan);
    struct lane_sums lanes = {0};
    struct f64_operands block;
    tdc_pair_clear(sums);
    sums->count = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        block.count = count - start < BLOCK ? count - start : BLOCK;
        take_block_f64(plan, n, b, start, &block, &lanes, sums);
        native_block_f64(&block, start, &rule, sums);
    }
    finish(&lanes, sums);
}

static void KERNEL(pair_exact_f64)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                   size_t count, struct tdc_pair_sums *sums)
{
    struct lane_sums lanes = {0};
    struct f64_operands block;
    struct block_relative relative;
    tdc_pair_clear(sums);
    sums->count = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        block.count = count - start < BLOCK ? count - start : BLOCK;
        take_block_f64(plan, n, b, start, &block, &lanes, sums);
        size_t padding = pad_with_first_f64(&block);
        relative_exact(block.n, block.b, NULL, NULL, block.count + padding, &relative);
        double first = zero_if_nan(exact_f64(block.n[0] - block.b[0], block.b[0]));
        discount_padding(first, padding, tdc_pair_limits, TDC_PAIR_LIMITS, &relative);
        enter_relative(&relative, block.part, TDC_PAIR_LIMITS, sums);
        if (block.part.count > 0)
            ENTER_MAXIMUM(relative.maximum,
                          zero_if_nan(exact_f64(block.n[i] - block.b[i], block.b[i])),
                          block.part.first, block.count, start, &sums->rel_max, &sums->rel_at);
    }
    finish(&lanes, sums);
}

/* ---- 64-bit integers and complex numbers: |n-b| is not a difference of two doubles ---------- */

static void KERNEL(pair_exact_i64)(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                   size_t count, struct tdc_pair_sums *sums)
{
    struct lane_sums lanes = {0};
    double x[BLOCK] __attribute__((aligned(64))), y[BLOCK] __attribute__((aligned(64)));
    double distance[BLOCK] __attribute__((aligned(64)));
    struct block_relative relative;
    tdc_pair_clear(sums);
    sums->count = sums->finite = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        size_t length = count - start < BLOCK ? count - start : BLOCK;
        size_t padded = padded_count(length);
        const void *n_block = at_element(n, plan->n_dtype, start);
        const void *b_block = at_element(b, plan->b_dtype, start);
        load_f64(plan->n_dtype, n_block, length, x);
        load_f64(plan->b_dtype, b_block, length, y);
        integer_distance(plan->n_dtype, n_block, plan->b_dtype, b_block, length, distance);
        double abs_maximum = add_block_f64(&lanes, &lanes, x, y, distance, padded);
        pad_f64(x, length, x[0]);
        pad_f64(y, length, y[0]);
        relative_exact(x, y, distance, NULL, padded, &relative);
        enter_relative(&relative, (struct participants){0, length, true}, TDC_PAIR_LIMITS, sums);
        ENTER_MAXIMUM(abs_maximum, distance[i], 0, length, start, &sums->abs_max, &sums->abs_at);
        ENTER_MAXIMUM(relative.maximum, zero_if_nan(exact_f64(distance[i], y[i])), 0, length, start,
                      &sums->rel_max, &sums->rel_at);
    }
    finish(&lanes, sums);
}

/* Loads a block and enters all of it but the maxima and relative errors. */
static struct participants take_block_complex(const struct tdc_pair_plan *plan, const void *n,
                                              const void *b, size_t count,
                                              struct complex_block *block, double *abs_maximum,
                                              struct lane_sums *lanes, struct tdc_pair_sums *sums)
{
    size_t padded = padded_count(count);
    struct participants part = {0, count, true};
    struct lane_sums next;
    load_complex(plan->n_dtype, n, count, block->n, block->n_imaginary);
    load_complex(plan->b_dtype, b, count, block->b, block->b_imaginary);
    complex_moduli(block, padded);
    *abs_maximum = add_block_complex(lanes, &next, block, padded);
    /* The squares hold the imaginary parts. */
    if (lanes_are_finite(next.n, next.b) && lanes_are_finite(next.nn, next.bb)) {
        sums->finite += count;
    } else {
        part = clean_complex(block, count, sums);
        complex_moduli(block, padded);
        *abs_maximum = add_block_complex(lanes, &next, block, padded);
    }
    *lanes = next;
    return part;
}

static void KERNEL(pair_exact_complex)(const struct tdc_pair_plan *plan, const void *n,
                                       const void *b, size_t count, struct tdc_pair_sums *sums)
{
    struct lane_sums lanes = {0};
    struct complex_block block;
    struct block_relative relative;
    tdc_pair_clear(sums);
    sums->count = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        size_t length = count - start < BLOCK ? count - start : BLOCK;
        double abs_maximum;
        struct participants part = take_block_complex(plan, at_element(n, plan->n_dtype, start),
                                                      at_element(b, plan->b_dtype, start), length,
                                                      &block, &abs_maximum, &lanes, sums);
        pad_f64(block.n, length, block.n[0]);
        pad_f64(block.b, length, block.b[0]);
        relative_exact(block.n, block.b, block.distance, block.b_modulus, padded_count(length),
                       &relative);
        enter_relative(&relative, part, TDC_PAIR_LIMITS, sums);
        if (part.count == 0)
            continue;
        ENTER_MAXIMUM(abs_maximum, block.distance[i], part.first, length, start, &sums->abs_max,
                      &sums->abs_at);
        ENTER_MAXIMUM(relative.maximum,
                      zero_if_nan(exact_f64(block.distance[i], block.b_modulus[i])), part.first,
                      length, start, &sums->rel_max, &sums->rel_at);
    }
    finish(&lanes, sums);
}

#endif
