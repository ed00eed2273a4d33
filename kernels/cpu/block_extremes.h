/*
 * block_extremes.h - what plan->extremes asks for: the sums of n and of b, and their extremes.
 *
 * Dumps have these figures of their own, so they are taken on request only: in a pass of their own,
 * of blocks whose sides are equal from one side, of near blocks beside the other sums
 * (block_near.h). Summed over lanes as in block_sums.h, by each of them in the same order.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_EXTREMES_H
#define TDC_KERNELS_CPU_BLOCK_EXTREMES_H

#include "kernels/cpu/block_sums.h"

struct extremes {
    f64v n[SUM_REGISTERS], b[SUM_REGISTERS];
    f64v n_low, n_high, b_low, b_high;
};

ALWAYS_INLINE void start_sums(struct extremes *e)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        e->n[r] = e->b[r] = f64_splat(0);
}

/* The sums of a block to those of the chunk before it. */
ALWAYS_INLINE void add_sums(struct extremes *e, const struct extremes *before)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++) {
        e->n[r] = before->n[r] + e->n[r];
        e->b[r] = before->b[r] + e->b[r];
    }
}

static void clear_extremes(struct extremes *e)
{
    start_sums(e);
    e->n_low = e->b_low = f64_splat(INFINITY);
    e->n_high = e->b_high = f64_splat(-INFINITY);
}

/* F64_LANES pairs; those that are not both finite change nothing. */
ALWAYS_INLINE void enter_extremes(struct extremes *e, size_t r, f64v n, f64v b)
{
    f64v zero_or_nan = (n - n) + (b - b);
    f64v x = n + zero_or_nan, y = b + zero_or_nan;
    e->n[r] += f64_zero_if_nan(x);
    e->b[r] += f64_zero_if_nan(y);
    e->n_low = f64_min(x, e->n_low);
    e->n_high = f64_max(x, e->n_high);
    e->b_low = f64_min(y, e->b_low);
    e->b_high = f64_max(y, e->b_high);
}

#define DEFINE_ADD_EXTREMES(name, real, load)                                                      \
    static void name(struct extremes *total, const real *n, const real *b, size_t count)           \
    {                                                                                              \
        struct extremes e = *total;                                                                \
        start_sums(&e);                                                                            \
        size_t i = 0;                                                                              \
        for (; i + SUM_LANES <= count; i += SUM_LANES)                                             \
            for (size_t r = 0; r < SUM_REGISTERS; r++)                                             \
                enter_extremes(&e, r, load(n + i + r * F64_LANES), load(b + i + r * F64_LANES));   \
        if (i < count) {                                                                           \
            real x[SUM_LANES], y[SUM_LANES];                                                       \
            for (size_t lane = 0; lane < SUM_LANES; lane++) {                                      \
                x[lane] = i + lane < count ? n[i + lane] : (real)NAN;                              \
                y[lane] = i + lane < count ? b[i + lane] : (real)NAN;                              \
            }                                                                                      \
            for (size_t r = 0; r < SUM_REGISTERS; r++)                                             \
                enter_extremes(&e, r, load(x + r * F64_LANES), load(y + r * F64_LANES));           \
        }                                                                                          \
        add_sums(&e, total);                                                                       \
        *total = e;                                                                                \
    }

DEFINE_ADD_EXTREMES(add_any_extremes_f32, f32_unaligned, f64_widen)
DEFINE_ADD_EXTREMES(add_extremes_f64, f64_unaligned, f64_load)

/* Lanes of the lowest or highest f32 numbers as those of f64. */
ALWAYS_INLINE f64v lower_of(f64v before, f32v lanes)
{
    float values[F32_LANES];
    memcpy(values, &lanes, sizeof values);
    for (size_t i = 0; i < F32_LANES; i += F64_LANES)
        before = f64_min(f64_widen(values + i), before);
    return before;
}

/* Sums and extremes of one side of a block. */
struct side_extremes {
    f64v sums[SUM_REGISTERS];
    f32v low, high;
};

/* `count` is a multiple of 2 * SUM_LANES. Returned is 0 in every lane if all numbers are finite:
 * their sums cannot overflow in f64. */
ALWAYS_INLINE f64v take_side_f32(const f32_unaligned *x, size_t count, struct side_extremes *out)
{
    struct side_extremes side;
    side.low = f32_splat(INFINITY);
    side.high = -side.low;
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        side.sums[r] = f64_splat(0);
    for (size_t i = 0; i < count; i += 2 * SUM_LANES) {
        for (size_t k = 0; k < 2 * SUM_LANES; k += F32_LANES) {
            f32v value = f32_load(x + i + k);
            side.low = f32_min(value, side.low);
            side.high = f32_max(value, side.high);
        }
        for (size_t k = 0; k < 2 * SUM_REGISTERS; k++)
            side.sums[k % SUM_REGISTERS] += f64_widen(x + i + k * F64_LANES);
    }
    f64v probe = f64_splat(0);
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        probe += side.sums[r] - side.sums[r];
    *out = side;
    return probe;
}

ALWAYS_INLINE void enter_sides(struct extremes *total, const struct side_extremes *n,
                               const struct side_extremes *b)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++) {
        total->n[r] += n->sums[r];
        total->b[r] += b->sums[r];
    }
    total->n_low = lower_of(total->n_low, n->low);
    total->b_low = lower_of(total->b_low, b->low);
    total->n_high = -lower_of(-total->n_high, -n->high);
    total->b_high = -lower_of(-total->b_high, -b->high);
}

/* Only where a number is not finite must each pair be looked at. */
static void add_extremes_f32(struct extremes *total, const f32_unaligned *n, const f32_unaligned *b,
                             size_t count)
{
    struct side_extremes x, y;
    if (count % (2 * SUM_LANES) == 0) {
        f64v probe = take_side_f32(n, count, &x);
        if (lanes_are_zero(probe + take_side_f32(b, count, &y))) {
            enter_sides(total, &x, &y);
            return;
        }
    }
    add_any_extremes_f32(total, n, b, count);
}

/* Both sides are x, which is finite. */
static void add_equal_extremes_f32(struct extremes *total, const f32_unaligned *x, size_t count)
{
    struct side_extremes side;
    if (count % (2 * SUM_LANES) == 0) {
        take_side_f32(x, count, &side);
        enter_sides(total, &side, &side);
    } else {
        add_any_extremes_f32(total, x, x, count);
    }
}

/* The real parts, as NaN where an imaginary part is not finite. */
static void add_extremes_complex(struct extremes *total, const struct complex_block *block,
                                 size_t count)
{
    double n[BLOCK], b[BLOCK];
    for (size_t i = 0; i < count; i++) {
        n[i] = block->n[i] + (block->n_imaginary[i] - block->n_imaginary[i]);
        b[i] = block->b[i] + (block->b_imaginary[i] - block->b_imaginary[i]);
    }
    add_extremes_f64(total, n, b, count);
}

static double lowest(f64v values)
{
    return -f64_highest(-values);
}

static void join_extremes(const struct extremes *e, struct tdc_pair_sums *sums)
{
    sums->n = join_lanes(e->n);
    sums->b = join_lanes(e->b);
    /* -0 and +0 are equal, so which of them an extreme is would depend on the order of lanes. */
    sums->n_min = lowest(e->n_low) + 0.0;
    sums->n_max = f64_highest(e->n_high) + 0.0;
    sums->b_min = lowest(e->b_low) + 0.0;
    sums->b_max = f64_highest(e->b_high) + 0.0;
}

#endif
