/*
 * tile_sums.h - the seven sums of a tile, its finite pairs, its extremes and its differences.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_SUMS_H
#define TDC_KERNELS_ASCEND_TILE_SUMS_H

#include "tile_fold.h"
#include "tile_relative.h"

namespace tdc_ascend
{

constexpr float LARGEST = 3.4028234663852886e+38f;

__aicore__ inline void count_finite(const tile_work &t)
{
    Abs(t.work[0], t.n, TILE);
    Abs(t.work[1], t.b, TILE);
    settle();
    CompareScalar(t.masks[0], t.work[0], LARGEST, CMPMODE::LE, TILE);
    CompareScalar(t.masks[1], t.work[1], LARGEST, CMPMODE::LE, TILE);
    settle();
    both(t.masks[0], t.masks[0], t.masks[1]);
    count(t.record[TDC_TILE_FINITE], t.masks[0], t.work[0], t.partial);
}

__aicore__ inline void find_extremes(const tile_work &t)
{
    highest(t.record[TDC_TILE_N_MAX], t.n, t.partial);
    lowest(t.record[TDC_TILE_N_MIN], t.n, t.partial);
    highest(t.record[TDC_TILE_B_MAX], t.b, t.partial);
    lowest(t.record[TDC_TILE_B_MIN], t.b, t.partial);
}

/* f16 and bf16: products have 22 and 16 bits, so f32 holds them. */
__aicore__ inline void sum_short_product(const tile_work &t, const lanes &x, const lanes &y,
                                         int32_t slot)
{
    const lanes &product = t.work[4], &low = t.work[5], &spare = t.work[6];
    Mul(product, x, y, TILE);
    settle();
    fold<false>(t.record[slot], product, low, spare, product);
}

__aicore__ inline void sum_long_product(const tile_work &t, const lanes &x, const split_lanes &xs,
                                        const lanes &y, const split_lanes &ys, int32_t slot)
{
    const lanes &product = t.work[4], &error = t.work[5], &spare = t.work[6];
    Mul(product, x, y, TILE);
    settle();
    product_error(error, product, xs, ys, spare);
    fold<true>(t.record[slot], product, error, spare, product);
}

template <bool short_values> __aicore__ inline void sum_products(const tile_work &t)
{
    if constexpr (short_values) {
        sum_short_product(t, t.n, t.b, TDC_TILE_SUM_NB);
        sum_short_product(t, t.n, t.n, TDC_TILE_SUM_NN);
        sum_short_product(t, t.b, t.b, TDC_TILE_SUM_BB);
    } else {
        const split_lanes n = {t.work[0], t.work[1]}, b = {t.work[2], t.work[3]};
        split(n, t.n);
        split(b, t.b);
        sum_long_product(t, t.n, n, t.b, b, TDC_TILE_SUM_NB);
        sum_long_product(t, t.n, n, t.n, n, TDC_TILE_SUM_NN);
        sum_long_product(t, t.b, b, t.b, b, TDC_TILE_SUM_BB);
    }
}

__aicore__ inline void sum_values(const tile_work &t)
{
    fold<false>(t.record[TDC_TILE_SUM_N], t.n, t.work[5], t.work[4], t.work[6]);
    fold<false>(t.record[TDC_TILE_SUM_B], t.b, t.work[5], t.work[4], t.work[6]);
}

/*
 * work[0] = |n - b| rounded, work[1] = what that lacks: their sum is exact. The last mask names the
 * pairs where nothing is lacking. Taking the smaller from the larger value spares the sign.
 */
__aicore__ inline void take_differences(const tile_work &t)
{
    const lanes &distance = t.work[0], &larger = t.work[1], &smaller = t.work[2],
                &rounded = t.work[3];
    Max(larger, t.n, t.b, TILE);
    Min(smaller, t.n, t.b, TILE);
    settle();
    Sub(distance, larger, smaller, TILE);
    settle();
    Sub(rounded, distance, larger, TILE);
    settle();
    Add(smaller, smaller, rounded, TILE);
    settle();
    Sub(rounded, distance, rounded, TILE);
    settle();
    Sub(larger, larger, rounded, TILE);
    settle();
    Sub(larger, larger, smaller, TILE);
    settle();
    Abs(rounded, larger, TILE);
    CompareScalar(t.masks[MASKS - 1], larger, 0.0f, CMPMODE::EQ, TILE);
    settle();
    highest(t.record[TDC_TILE_ABS_MAX], distance, t.partial);
    highest(t.record[TDC_TILE_ABS_ERR], rounded, t.partial);
}

/*
 * (n-b)^2 = d^2 + 2 d e + e^2 with d + e = n - b; e^2, at most 2^-48 of it, is left out. Leaves the
 * halves of d in work[2] and work[3].
 */
__aicore__ inline void sum_differences(const tile_work &t)
{
    const lanes &distance = t.work[0], &lacking = t.work[1], &square = t.work[4],
                &error = t.work[5], &spare = t.work[6];
    const split_lanes parts = {t.work[2], t.work[3]};
    split(parts, distance);
    Mul(square, distance, distance, TILE);
    settle();
    product_error(error, square, parts, parts, spare);
    Mul(spare, distance, lacking, TILE);
    settle();
    Add(spare, spare, spare, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
    fold<true>(t.record[TDC_TILE_SUM_DD], square, error, spare, square);
    fold<true>(t.record[TDC_TILE_SUM_ABS], distance, lacking, square, spare);
}

} // namespace tdc_ascend

#endif
