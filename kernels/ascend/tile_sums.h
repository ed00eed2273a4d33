/*
 * tile_sums.h - the seven sums of a tile, its finite pairs, its extremes and its differences.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_SUMS_H
#define TDC_KERNELS_ASCEND_TILE_SUMS_H

#include "tile_relative.h"

namespace tdc_ascend
{

constexpr float LARGEST = 3.4028234663852886e+38f;

__aicore__ inline void mark_finite(const tile_work &t)
{
    Abs(t.work[0], t.n, TILE);
    Abs(t.work[1], t.b, TILE);
    settle();
    CompareScalar(t.masks[0], t.work[0], LARGEST, CMPMODE::LE, TILE);
    CompareScalar(t.masks[1], t.work[1], LARGEST, CMPMODE::LE, TILE);
    settle();
    both(t.masks[FINITE_PAIRS], t.masks[0], t.masks[1]);
}

/* The share of one sum, in one piece. */
__aicore__ inline share_place held(const tile_work &t)
{
    return {t.hold, t.hold[SHARE], 1};
}

/* f16 and bf16: products have 22 and 16 bits, so f32 holds them. */
template <sign kind>
__aicore__ inline void sum_short_product(const tile_work &t, const share_place &to, const lanes &x,
                                         const lanes &y)
{
    const lanes &product = t.work[4], &low = t.work[5], &spare = t.work[6];
    Mul(product, x, y, TILE);
    settle();
    fold_to_share<false, kind>(to, product, low, spare, product);
}

__aicore__ inline void sum_long_product(const tile_work &t, const share_place &to,
                                        const split_lanes &n, const split_lanes &b)
{
    const lanes &product = t.work[4], &error = t.work[5], &spare = t.work[6];
    Mul(product, t.n, t.b, TILE);
    settle();
    product_error(error, product, n, b, spare);
    fold_to_share<true, sign::any>(to, product, error, spare, product);
}

__aicore__ inline void sum_long_square(const tile_work &t, const share_place &to, const lanes &x,
                                       const split_lanes &parts)
{
    const lanes &square = t.work[4], &error = t.work[5], &spare = t.work[6];
    Mul(square, x, x, TILE);
    settle();
    square_error(error, square, parts, spare);
    fold_to_share<true, sign::none>(to, square, error, spare, square);
}

/*
 * n b, n n, b b, n, b, in the order of the record. Their shares lie where the halves of n were; the
 * first one is ready while those are still needed.
 */
template <bool short_values> __aicore__ inline void sum_values(const tile_work &t)
{
    constexpr int32_t sums = 5;
    const share_place shares = {t.work[0], t.work[1], sums};
    if constexpr (short_values) {
        sum_short_product<sign::any>(t, held(t), t.n, t.b);
        sum_short_product<sign::none>(t, share_of(shares, 1), t.n, t.n);
        sum_short_product<sign::none>(t, share_of(shares, 2), t.b, t.b);
    } else {
        const split_lanes n = {t.work[0], t.work[1]}, b = {t.work[2], t.work[3]};
        split_both(n, t.n, b, t.b);
        sum_long_product(t, held(t), n, b);
        sum_long_square(t, share_of(shares, 1), t.n, n);
        sum_long_square(t, share_of(shares, 2), t.b, b);
    }
    join_shares(share_of(shares, 0), held(t));
    fold_to_share<false, sign::any>(share_of(shares, 3), t.n, t.work[5], t.work[4], t.work[6]);
    fold_to_share<false, sign::any>(share_of(shares, 4), t.b, t.work[5], t.work[4], t.work[6]);
    fold_shares<sign::any>(t.record[TDC_TILE_SUM_NB], t.record[TDC_TILE_SUM_NB + TDC_TILE_SUM_LOW],
                           shares, t.work[4]);
}

/*
 * work[0] = |n - b| rounded, work[1] = what that lacks: their sum is exact. A mask names the pairs
 * where nothing is lacking. Taking the smaller from the larger value spares the sign. Finds the
 * extremes of all three besides.
 */
__aicore__ inline void take_differences(const tile_work &t)
{
    const lanes &distance = t.work[0], &larger = t.work[1], &smaller = t.work[2],
                &rounded = t.work[3], &maxima = t.work[4], &minima = t.work[5];
    Max(larger, t.n, t.b, TILE);
    Min(smaller, t.n, t.b, TILE);
    highest(maxima, t.n);
    highest(maxima[REPEAT], t.b);
    lowest(minima, t.n);
    lowest(minima[REPEAT], t.b);
    settle();
    Sub(distance, larger, smaller, TILE);
    finish_lowest(t.record[TDC_TILE_N_MIN], minima, 2);
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
    highest(maxima[2 * REPEAT], distance);
    settle();
    Abs(rounded, larger, TILE);
    CompareScalar(t.masks[EXACT_PAIRS], larger, 0.0f, CMPMODE::EQ, TILE);
    settle();
    highest(maxima[3 * REPEAT], rounded);
    settle();
    finish_highest(t.record[TDC_TILE_N_MAX], maxima, 4);
    settle();
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
    const share_place shares = {error, error[2 * SHARE], 2};
    split(parts, distance);
    Mul(square, distance, distance, TILE);
    settle();
    square_error(error, square, parts, spare);
    Mul(spare, distance, lacking, TILE);
    settle();
    Add(spare, spare, spare, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
    fold_to_share<true, sign::none>(held(t), square, error, spare, square);
    join_shares(share_of(shares, 0), held(t));
    fold_to_share<true, sign::none>(share_of(shares, 1), distance, lacking, square, spare);
    fold_shares<sign::none>(t.record[TDC_TILE_SUM_DD], t.record[TDC_TILE_SUM_DD + TDC_TILE_SUM_LOW],
                            shares, square);
}

} // namespace tdc_ascend

#endif
