/*
 * tile_fold.h - the sums of a tile, each as 8 high and 8 low lanes of its record.
 *
 * A tile is halved again and again. Each addition keeps its error (exactly), and the errors are
 * added up in plain f32. So only the low parts are rounded: at most 20 times at 2^-24 of values
 * which are themselves below 9 * 2^-24 of the magnitudes. That bounds the error by 2^-40
 * (TDC_TILE_SUM_ERROR). With ordinary data the errors' signs differ, and it stays below 2^-46; data
 * made for it reaches 2^-44.8.
 *
 * An instruction over few lanes costs about as much as one over many. So each sum is halved by
 * itself only as long as it is wide, down to SHARE lanes; the shares of several sums are then
 * halved together. They lie 8 lanes of each sum in turn, so that halves of all of them are one
 * piece.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_FOLD_H
#define TDC_KERNELS_ASCEND_TILE_FOLD_H

#include "lane_arithmetic.h"

namespace tdc_ascend
{

constexpr int32_t SHARE = 512;
/* A repeat of vector instructions: 256 bytes in blocks of 32. */
constexpr int32_t REPEAT = 64;
constexpr int32_t REPEAT_BLOCKS = 8;
constexpr int32_t BLOCK = REPEAT / REPEAT_BLOCKS;

enum class sign {
    any,
    none /* no addend is negative */
};

/* sum = from[0..width) + from[width..2 width); the error joins `low`, which shrinks likewise. */
struct fold_step {
    lanes sum, behind; /* `behind`: a spare of `width` lanes */
    lanes from, spare; /* `spare` may be from[width] when `from` need not survive */
    lanes low, low_sum;
    int32_t width;
};

/* Knuth's two-sum. Leaves what the additions lost in low and low[width]: their sum is wanted. */
template <bool has_low> __aicore__ inline void add_any(const fold_step &f)
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
    }
}

/* Dekker's, which wants the larger addend first: for magnitudes that is a maximum. */
template <bool has_low> __aicore__ inline void add_magnitudes(const fold_step &f)
{
    const lanes first = f.from, second = f.from[f.width], unused = f.low[f.width];
    Add(f.sum, first, second, f.width);
    Max(f.behind, first, second, f.width);
    if constexpr (has_low)
        Add(f.low, f.low, unused, f.width);
    settle();
    Sub(f.behind, f.sum, f.behind, f.width);
    Min(f.spare, first, second, f.width);
    settle();
    if constexpr (has_low) {
        Sub(unused, f.spare, f.behind, f.width);
        settle();
    }
}

/* What is left to be added, or subtracted, for the low part. */
template <bool has_low, sign kind> __aicore__ inline void fold_once(const fold_step &f)
{
    const lanes unused = f.low[f.width];
    if constexpr (kind == sign::any)
        add_any<has_low>(f);
    else
        add_magnitudes<has_low>(f);
    if constexpr (has_low)
        Add(f.low_sum, f.low, unused, f.width);
    else if constexpr (kind == sign::any)
        Add(f.low_sum, unused, f.spare, f.width);
    else
        Sub(f.low_sum, f.spare, f.behind, f.width);
    settle();
}

/* Where the share of a sum goes: among those of `sums` sums, 8 lanes of each in turn. */
struct share_place {
    lanes high, low;
    int32_t sums;
};

__aicore__ inline share_place share_of(const share_place &all, int32_t sum)
{
    return {all.high[sum * BLOCK], all.low[sum * BLOCK], all.sums};
}

/* to = x + y, the blocks of `to` apart. */
__aicore__ inline void add_apart(const lanes &to, const lanes &x, const lanes &y, int32_t sums)
{
    const uint8_t apart = static_cast<uint8_t>(sums);
    const uint8_t repeats_apart = static_cast<uint8_t>(sums * REPEAT_BLOCKS);
    Add(to, x, y, static_cast<uint64_t>(REPEAT), static_cast<uint8_t>(SHARE / REPEAT),
        BinaryRepeatParams(apart, 1, 1, repeats_apart, REPEAT_BLOCKS, REPEAT_BLOCKS));
}

/*
 * Halves `high` (and `low`, when has_low) until SHARE lanes are left. `high` survives unless it is
 * `second`; low, first and second are overwritten.
 */
template <bool has_low, sign kind>
__aicore__ inline void fold_to_share(const share_place &to, const lanes &high, const lanes &low,
                                     const lanes &first, const lanes &second)
{
    constexpr int32_t QUARTER = HALF_TILE / 2;
    static_assert(QUARTER == 2 * SHARE, "three halvings lead to a share");
    fold_once<has_low, kind>(
        {first, first[HALF_TILE], high, second[HALF_TILE], low, low, HALF_TILE});
    fold_once<true, kind>({second, second[QUARTER], first, first[QUARTER], low, low, QUARTER});
    add_apart(to.high, second, second[SHARE], to.sums);
    const fold_step last = {first, first[SHARE], second, second[SHARE], low, low, SHARE};
    if constexpr (kind == sign::any)
        add_any<true>(last);
    else
        add_magnitudes<true>(last);
    add_apart(to.low, low, low[SHARE], to.sums);
    settle();
}

/* A share that lies in one piece joins others. The caller settles. */
__aicore__ inline void join_shares(const share_place &to, const share_place &from)
{
    const uint16_t apart = static_cast<uint16_t>(to.sums);
    const CopyRepeatParams strides(apart, 1, static_cast<uint16_t>(to.sums * REPEAT_BLOCKS),
                                   REPEAT_BLOCKS);
    const uint64_t mask = REPEAT;
    const uint8_t repeats = SHARE / REPEAT;
    Copy(to.high, from.high, mask, repeats, strides);
    Copy(to.low, from.low, mask, repeats, strides);
}

/* Halves all shares together; 8 lanes of each sum go to `high` and `low`. Overwrites `space`. */
template <sign kind>
__aicore__ inline void fold_shares(const lanes &high, const lanes &low, const share_place &shares,
                                   const lanes &space)
{
    const lanes &even = shares.high, &odd = space, &rest = shares.low;
    int32_t width = shares.sums * (SHARE / 2);
    for (int32_t step = 0; step < 2; step++) {
        const int32_t next = width / 2;
        fold_once<true, kind>({odd, odd[width], even, even[width], rest, rest, width});
        fold_once<true, kind>({even, even[next], odd, odd[next], rest, rest, next});
        width = next / 2;
    }
    fold_once<true, kind>({odd, odd[width], even, even[width], rest, rest, width});
    width /= 2;
    fold_once<true, kind>({high, even, odd, odd[width], rest, low, width});
}

} // namespace tdc_ascend

#endif
