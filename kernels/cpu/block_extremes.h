/*
 * block_extremes.h - what plan->extremes asks for: the sums of n and of b, and their extremes.
 *
 * Dumps have these figures of their own, so they are a pass of their own, run on request only.
 * Summed over lanes as in block_sums.h.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_EXTREMES_H
#define TDC_KERNELS_CPU_BLOCK_EXTREMES_H

#include "kernels/cpu/block_sums.h"

struct extremes {
    double n[SUM_LANES], b[SUM_LANES];
    double n_low[SUM_LANES], n_high[SUM_LANES], b_low[SUM_LANES], b_high[SUM_LANES];
};

static void clear_extremes(struct extremes *e)
{
    for (size_t lane = 0; lane < SUM_LANES; lane++) {
        e->n[lane] = e->b[lane] = 0;
        e->n_low[lane] = e->b_low[lane] = INFINITY;
        e->n_high[lane] = e->b_high[lane] = -INFINITY;
    }
}

/* One pair; without effect unless both are finite. */
ALWAYS_INLINE void enter_extremes(struct extremes *e, size_t lane, double n, double b)
{
    bool finite = (n - n) + (b - b) == 0;
    e->n[lane] += finite ? n : 0;
    e->b[lane] += finite ? b : 0;
    e->n_low[lane] = finite && n < e->n_low[lane] ? n : e->n_low[lane];
    e->n_high[lane] = finite && n > e->n_high[lane] ? n : e->n_high[lane];
    e->b_low[lane] = finite && b < e->b_low[lane] ? b : e->b_low[lane];
    e->b_high[lane] = finite && b > e->b_high[lane] ? b : e->b_high[lane];
}

#define DEFINE_ADD_EXTREMES(name, real)                                                            \
    static void name(struct extremes *total, const real *n, const real *b, size_t count)           \
    {                                                                                              \
        struct extremes e = *total;                                                                \
        size_t i = 0;                                                                              \
        for (; i + SUM_LANES <= count; i += SUM_LANES) {                                           \
            _Pragma("omp simd") for (size_t lane = 0; lane < SUM_LANES; lane++)                    \
                enter_extremes(&e, lane, (double)n[i + lane], (double)b[i + lane]);                \
        }                                                                                          \
        for (; i < count; i++)                                                                     \
            enter_extremes(&e, i % SUM_LANES, (double)n[i], (double)b[i]);                         \
        *total = e;                                                                                \
    }

DEFINE_ADD_EXTREMES(add_extremes_f32, f32_unaligned)
DEFINE_ADD_EXTREMES(add_extremes_f64, f64_unaligned)

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

static inline void widen_range(double low, double high, double *minimum, double *maximum)
{
    *minimum = low < *minimum ? low : *minimum;
    *maximum = high > *maximum ? high : *maximum;
}

static void join_extremes(const struct extremes *e, struct tdc_pair_sums *sums)
{
    sums->n = join_lanes(e->n);
    sums->b = join_lanes(e->b);
    for (size_t lane = 0; lane < SUM_LANES; lane++) {
        widen_range(e->n_low[lane], e->n_high[lane], &sums->n_min, &sums->n_max);
        widen_range(e->b_low[lane], e->b_high[lane], &sums->b_min, &sums->b_max);
    }
    /* -0 and +0 are equal, so which of them an extreme is would depend on the order of lanes. */
    sums->n_min += 0.0;
    sums->n_max += 0.0;
    sums->b_min += 0.0;
    sums->b_max += 0.0;
}

#endif
