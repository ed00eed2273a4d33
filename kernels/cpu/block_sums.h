/*
 * block_sums.h - the float64 sums of a chunk, over a fixed number of lanes.
 *
 * Element i of a block of BLOCK elements is added to lane i % SUM_LANES, the lanes of the block to
 * those of the chunk, and at the end the lanes to each other, in index order. So the bits do not
 * depend on the width of the registers. Lanes start at +0, hence padding with zeros changes
 * nothing. Error: an element goes through the rounding of its term and at most BLOCK / SUM_LANES =
 * 2^7 additions in its block, TDC_PAIR_CHUNK / BLOCK = 2^8 of blocks and SUM_LANES of lanes, so a
 * sum is within (2^7 + 2^8 + 2^3 + 1) * 2^-53 < 2^-44 of the sum of magnitudes. That is the worst
 * case; docs/kernels.md has what is seen.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_SUMS_H
#define TDC_KERNELS_CPU_BLOCK_SUMS_H

#include "kernels/cpu/block_load.h"

/* Eight doubles: one register of AVX-512, two of AVX2, four of SSE2 or NEON. */
#define SUM_LANES     8
#define SUM_REGISTERS (SUM_LANES / F64_LANES)

struct lane_sums {
    f64v nb[SUM_REGISTERS], nn[SUM_REGISTERS], bb[SUM_REGISTERS];
    f64v dd[SUM_REGISTERS], abs[SUM_REGISTERS];
};

ALWAYS_INLINE void clear_lanes(struct lane_sums *s)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        s->nb[r] = s->nn[r] = s->bb[r] = s->dd[r] = s->abs[r] = f64_splat(0);
}

/* Ends a block. */
ALWAYS_INLINE void add_lanes(struct lane_sums *s, const struct lane_sums *block)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++) {
        s->nb[r] += block->nb[r];
        s->nn[r] += block->nn[r];
        s->bb[r] += block->bb[r];
        s->dd[r] += block->dd[r];
        s->abs[r] += block->abs[r];
    }
}

/* Adds one pair to each lane of the registers r; `magnitude` is |d|. */
ALWAYS_INLINE void add_pairs(struct lane_sums *s, size_t r, f64v n, f64v b, f64v d, f64v magnitude,
                             bool exact_products)
{
    if (exact_products) {
        s->nb[r] = f64_add_product(s->nb[r], n, b);
        s->nn[r] = f64_add_product(s->nn[r], n, n);
        s->bb[r] = f64_add_product(s->bb[r], b, b);
    } else {
        s->nb[r] += n * b;
        s->nn[r] += n * n;
        s->bb[r] += b * b;
    }
    s->dd[r] += d * d;
    s->abs[r] += magnitude;
}

/*
 * SUM_LANES pairs of f32: their products are exact in f64, so FMA or not gives the same bits.
 * `top` rises to the highest |n-b|.
 */
ALWAYS_INLINE void add_group_f32(struct lane_sums *s, f64v *top, const f32_unaligned *n,
                                 const f32_unaligned *b)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++) {
        f64v x = f64_widen(n + r * F64_LANES), y = f64_widen(b + r * F64_LANES), d = x - y;
        f64v magnitude = f64_abs(d);
        *top = f64_max(magnitude, *top);
        add_pairs(s, r, x, y, d, magnitude, true);
    }
}

/* The parts of complex numbers; distance[i] is |n-b| of pair i. */
struct complex_block {
    double n[BLOCK], n_imaginary[BLOCK], b[BLOCK], b_imaginary[BLOCK];
    double distance[BLOCK], b_modulus[BLOCK];
} __attribute__((aligned(64)));

ALWAYS_INLINE void add_group_complex(struct lane_sums *s, const struct complex_block *block,
                                     size_t at)
{
    for (size_t r = 0; r < SUM_REGISTERS; r++) {
        size_t i = at + r * F64_LANES;
        f64v n = f64_load(block->n + i), n_imaginary = f64_load(block->n_imaginary + i);
        f64v b = f64_load(block->b + i), b_imaginary = f64_load(block->b_imaginary + i);
        f64v d = n - b, d_imaginary = n_imaginary - b_imaginary;
        s->nb[r] += n * b + n_imaginary * b_imaginary;
        s->nn[r] += n * n + n_imaginary * n_imaginary;
        s->bb[r] += b * b + b_imaginary * b_imaginary;
        s->dd[r] += d * d + d_imaginary * d_imaginary;
        s->abs[r] += f64_load(block->distance + i);
    }
}

/* For lanes that are 0 or NaN. */
ALWAYS_INLINE bool lanes_are_zero(f64v probe)
{
    double lanes[F64_LANES], sum = 0;
    memcpy(lanes, &probe, sizeof lanes);
    for (size_t lane = 0; lane < F64_LANES; lane++)
        sum += lanes[lane];
    return sum == 0;
}

/*
 * NaN and infinity stay in the sums of squares, so this costs nothing per element. A block of f64
 * numbers whose squares overflow fails the test as well: it is then looked at closely, to the same
 * result.
 */
ALWAYS_INLINE bool lanes_are_finite(const struct lane_sums *s)
{
    f64v probe = f64_splat(0);
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        probe += (s->nn[r] - s->nn[r]) + (s->bb[r] - s->bb[r]);
    return lanes_are_zero(probe);
}

/* A NaN (from overflows of both signs) gets one fixed representation. */
static inline double join_lanes(const void *registers)
{
    double lanes[SUM_LANES];
    memcpy(lanes, registers, sizeof lanes);
    double sum = lanes[0];
    for (size_t lane = 1; lane < SUM_LANES; lane++)
        sum += lanes[lane];
    return sum == sum ? sum : (double)NAN;
}

static void join_sums(const struct lane_sums *lanes, struct tdc_pair_sums *sums)
{
    sums->nb = join_lanes(lanes->nb);
    sums->nn = join_lanes(lanes->nn);
    sums->bb = join_lanes(lanes->bb);
    sums->dd = join_lanes(lanes->dd);
    sums->abs = join_lanes(lanes->abs);
}

#endif
