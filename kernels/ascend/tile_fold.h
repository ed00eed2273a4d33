/*
 * tile_fold.h - the sum of a tile as 8 high and 8 low lanes of its record.
 *
 * The tile is halved again and again. Each addition keeps its error (Knuth's two-sum, exact), and
 * the errors are added up in plain f32. So only the low parts are rounded: at most 20 times at
 * 2^-24 of values which are themselves below 9 * 2^-24 of the magnitudes. That bounds the error by
 * 2^-40 (TDC_TILE_SUM_ERROR). With ordinary data the errors' signs differ, and it stays below
 * 2^-46; data made for it reaches 2^-44.8.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_FOLD_H
#define TDC_KERNELS_ASCEND_TILE_FOLD_H

#include "lane_arithmetic.h"

namespace tdc_ascend
{

/* sum = from[0..width) + from[width..2 width); the error joins `low`, which shrinks likewise. */
struct fold_step {
    lanes sum, behind; /* `behind`: a spare of `width` lanes */
    lanes from, spare; /* `spare` may be from[width] when `from` need not survive */
    lanes low, low_sum;
    int32_t width;
};

template <bool has_low> __aicore__ inline void fold_once(const fold_step &f)
{
    const lanes first = f.from, second = f.from[f.width], unused = f.low[f.width];
    Add(f.sum, first, second, f.width);
    if constexpr (has_low)
        Add(f.low, f.low, unused, f.width);
    settle();
    Sub(f.behind, f.sum, first, f.width);
    settle();
    Sub(f.spare, second, f.behind, f.width);
    Sub(unused, f.sum, f.behind, f.width);
    settle();
    Sub(unused, first, unused, f.width);
    settle();
    if constexpr (has_low) {
        Add(unused, unused, f.spare, f.width);
        settle();
        Add(f.low_sum, f.low, unused, f.width);
    } else {
        Add(f.low_sum, unused, f.spare, f.width);
    }
    settle();
}

/*
 * Sums `high` (and `low`, when has_low) into the 16 floats at `out`. `high` survives unless it is
 * `second`; low, first and second are overwritten.
 */
template <bool has_low>
__aicore__ inline void fold(const lanes &out, const lanes &high, const lanes &low,
                            const lanes &first, const lanes &second)
{
    fold_once<has_low>({first, first[HALF_TILE], high, second[HALF_TILE], low, low, HALF_TILE});
    for (int32_t width = HALF_TILE / 2; width >= 64; width /= 4) {
        const int32_t next = width / 2;
        fold_once<true>({second, second[width], first, first[width], low, low, width});
        fold_once<true>({first, first[next], second, second[next], low, low, next});
    }
    fold_once<true>({second, second[16], first, first[16], low, low, 16});
    fold_once<true>({out, first, second, second[8], low, out[TDC_TILE_SUM_LANES], 8});
}

} // namespace tdc_ascend

#endif
