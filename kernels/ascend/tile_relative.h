/*
 * tile_relative.h - relative errors of a tile under each rule of kernels/pair.h.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_RELATIVE_H
#define TDC_KERNELS_ASCEND_TILE_RELATIVE_H

#include "tile_count.h"

namespace tdc_ascend
{

constexpr float EPSILON = 2.220446049250313e-16f;    /* 2^-52 */
constexpr float LEAST_SURE = 3.308722450212111e-24f; /* 2^-78: see divide() */

constexpr int32_t WORK_TENSORS = 7;
/* Of the masks these two last; the others are scratch. */
constexpr int32_t EXACT_PAIRS = 3;  /* whose difference is exact */
constexpr int32_t FINITE_PAIRS = 4; /* of finite numbers */
constexpr int32_t MASKS = 5;
constexpr int32_t HOLD_FLOATS = 2 * SHARE;

/* Everything of a tile that lies in UB. */
struct tile_work {
    lanes n, b;
    lanes work[WORK_TENSORS];
    mask masks[MASKS];
    lanes hold; /* the share of a sum; behind the sums the masks that are to be counted */
    lanes record;
};

/* The masks to be counted, in the order of their counts in the record. */
enum counted {
    COUNT_BELOW_MORE, /* and the next one: the limits of the exact kernels alone */
    COUNT_ZEROS = COUNT_BELOW_MORE + 2,
    COUNT_FINITE,
    COUNT_UNSURE,
    COUNT_BELOW, /* and the next one */
    COUNTS = COUNT_BELOW + 2
};
static_assert((COUNTS - 1) * MASK_BYTES <= HOLD_FLOATS * 4, "the masks fit where a share was");

__aicore__ inline mask counted_mask(const tile_work &t, int32_t which)
{
    if (which == COUNT_FINITE)
        return t.masks[FINITE_PAIRS];
    const int32_t place = which < COUNT_FINITE ? which : which - 1;
    return t.hold.template ReinterpretCast<uint8_t>()[place * MASK_BYTES];
}

/* All counts from `first` on; those before it are 0. */
template <int32_t first>
__aicore__ inline void count_pairs(const tile_work &t, const count_space &space)
{
    mask masks[COUNTS - first];
    for (int32_t i = first; i < COUNTS; i++)
        masks[i - first] = counted_mask(t, i);
    count<COUNTS - first>(t.record[TDC_TILE_BELOW_2 + first * RECORD_STEP], masks, space);
}

/* above = x > 0, unsure = 0 < x < 2^-78 */
__aicore__ inline void mark_unsure(const mask &above, const mask &unsure, const lanes &x)
{
    CompareScalar(above, x, 0.0f, CMPMODE::GT, TILE);
    CompareScalar(unsure, x, LEAST_SURE, CMPMODE::LT, TILE);
    settle();
    both(unsure, unsure, above);
}

/* ---- TDC_RELATIVE_NATIVE, f32 and bf16 ----------------------------------------------------- */

/* dividend = |n' - b'|, divisor = |b'|, where 2^-52 is added to both sides if b is 0. */
__aicore__ inline void native_f32_operands(const tile_work &t, const lanes &dividend,
                                           const lanes &divisor)
{
    const mask &nonzero = t.masks[0];
    Abs(dividend, t.b, TILE);
    settle();
    CompareScalar(nonzero, dividend, 0.0f, CMPMODE::GT, TILE);
    settle();
    Select(divisor, nonzero, t.b, EPSILON, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
    settle();
    Sub(dividend, divisor, t.b, TILE);
    settle();
    Add(dividend, t.n, dividend, TILE);
    settle();
    Sub(dividend, dividend, divisor, TILE);
    settle();
    Abs(dividend, dividend, TILE);
    Abs(divisor, divisor, TILE);
    settle();
}

/*
 * quotient becomes the correctly rounded one; `wavering` names the pairs where that is not certain.
 *
 * The correction is known up to 2^-22 of itself (divide). If moving it by 2^-21 either way does not
 * change the sum, the sum is right. Numbers with 24 bits come so close to the middle between two
 * floats about once in 2^20 pairs.
 */
__aicore__ inline void round_wavering(const division &d, const mask &wavering)
{
    const lanes &below = d.quotient_parts.high, &above = d.quotient_parts.low;
    Muls(below, d.correction, 0.99999952316284179688f, TILE); /* 1 - 2^-21 */
    Muls(above, d.correction, 1.00000047683715820312f, TILE); /* 1 + 2^-21 */
    settle();
    Add(below, below, d.quotient, TILE);
    Add(above, above, d.quotient, TILE);
    settle();
    Add(d.quotient, d.quotient, d.correction, TILE);
    Compare(wavering, below, above, CMPMODE::EQ, TILE);
    settle();
    Not(words(wavering), words(wavering), MASK_WORDS);
    settle();
}

/*
 * A quotient with a divisor of 8 or 11 bits (bf16, f16) is at least 2^-36 of itself away from the
 * middle between two floats, which no error of the correction (2^-44) can bridge.
 */
__aicore__ inline void round_certain(const division &d)
{
    Add(d.quotient, d.quotient, d.correction, TILE);
    settle();
}

/* The largest e and the pairs below two limits: what native kernels tell of e. */
template <int32_t first_count>
__aicore__ inline void judge_native(const tile_work &t, const division &d, float limit_0,
                                    float limit_1)
{
    CompareScalar(counted_mask(t, COUNT_BELOW), d.quotient, limit_0, CMPMODE::LT, TILE);
    CompareScalar(counted_mask(t, COUNT_BELOW + 1), d.quotient, limit_1, CMPMODE::LT, TILE);
    highest(d.correction, d.quotient);
    settle();
    finish_highest(t.record[TDC_TILE_REL_MAX], d.correction, 1);
    count_pairs<first_count>(t, {d.spare, d.dividend, d.divisor, d.quotient_parts.high});
}

template <bool divisor_has_24_bits> __aicore__ inline void native_f32(const tile_work &t)
{
    const division d = {t.work[0],  t.work[1], t.work[2], t.work[3], {t.work[4], t.work[5]},
                        {t.n, t.b}, /* read for the last time by the operands */
                        t.work[6]};
    const mask unsure = counted_mask(t, COUNT_UNSURE);
    native_f32_operands(t, d.dividend, d.divisor);
    mark_unsure(t.masks[0], unsure, d.dividend);
    divide(d);
    if constexpr (divisor_has_24_bits) {
        round_wavering(d, t.masks[2]);
        either(unsure, unsure, t.masks[2]);
    } else {
        round_certain(d);
    }
    judge_native<COUNT_FINITE>(t, d, 0.001f, 0.005f);
}

/* ---- TDC_RELATIVE_NATIVE, f16 -------------------------------------------------------------- */

/* Rounds to f16 and back. `space` is a tensor that may be overwritten. */
__aicore__ inline void round_to_half(const lanes &to, const lanes &from, const lanes &space)
{
    const LocalTensor<half> narrow = space.template ReinterpretCast<half>();
    Cast(narrow, from, RoundMode::CAST_RINT, TILE);
    settle();
    Cast(to, narrow, RoundMode::CAST_NONE, TILE);
    settle();
}

/*
 * f32 has more than 2 * 11 + 1 digits: rounding its difference and its quotient to f16 is rounding
 * once. A difference beyond f16 is infinite, its quotient NaN here, and the host rescues the tile.
 * work[0] holds |n - b| on entry.
 */
__aicore__ inline void native_f16(const tile_work &t)
{
    const division d = {t.work[0],  t.work[1], t.work[2], t.work[3], {t.work[4], t.work[5]},
                        {t.n, t.b}, t.work[6]};
    const mask &nonzero = t.masks[0], &apart = t.masks[1];
    round_to_half(d.dividend, d.dividend, d.spare);
    Abs(d.divisor, t.b, TILE);
    settle();
    CompareScalar(nonzero, d.divisor, 0.0f, CMPMODE::GT, TILE);
    settle();
    Select(d.divisor, nonzero, d.divisor, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
    settle();
    mark_unsure(apart, counted_mask(t, COUNT_UNSURE), d.dividend);
    neither(counted_mask(t, COUNT_ZEROS), nonzero, apart);
    divide(d);
    round_certain(d);
    round_to_half(d.quotient, d.quotient, d.spare);
    Select(d.quotient, nonzero, d.quotient, __builtin_inff(), SELMODE::VSEL_TENSOR_SCALAR_MODE,
           TILE);
    settle();
    Select(d.quotient, apart, d.quotient, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
    settle();
    /* The limits as f16 has them. */
    judge_native<COUNT_ZEROS>(t, d, 0.0010004043579101562f, 0.005001068115234375f);
}

/* ---- TDC_RELATIVE_F64 ---------------------------------------------------------------------- */

/*
 * Pairs with e < 1/k, e in float64, found without dividing.
 *
 * kernels/cpu/block_f32.h proves: for b not 0, e >= L exactly if k |d| >= |b|, with d = n - b
 * rounded to f32 and L = 1/k rounded to float64. Here the sign of k d - |b| is that of
 * s = (k high - |b|) + k low, d = high + low having 12 bits each, so that both products are exact
 * (k < 2^10; multiples of 2^-149 stay such multiples). If k high is within a factor 2 of |b|, the
 * subtraction is exact (Sterbenz) and the rounded sum has the sign of the true one. If it is
 * larger, the difference is at least k high / 2, if smaller at most -|b| / 2 < -k high, and k low,
 * at most 2^-11 k high, changes neither sign. Where b is 0, s >= 0: not below, as e = 1 demands;
 * where n is 0, too, e = 0, and the host adds those pairs.
 */
struct sign_space {
    lanes sign, spare;
};

/* Two limits, 1/k and 1/l, side by side. */
__aicore__ inline void mark_below_inverse(const tile_work &t, const division &d, float k, float l,
                                          int32_t counts, const sign_space &x, const sign_space &y)
{
    const split_lanes &difference = d.quotient_parts;
    Muls(x.sign, difference.high, k, TILE);
    Muls(y.sign, difference.high, l, TILE);
    Muls(x.spare, difference.low, k, TILE);
    Muls(y.spare, difference.low, l, TILE);
    settle();
    Sub(x.sign, x.sign, d.divisor, TILE);
    Sub(y.sign, y.sign, d.divisor, TILE);
    settle();
    Add(x.sign, x.sign, x.spare, TILE);
    Add(y.sign, y.sign, y.spare, TILE);
    settle();
    CompareScalar(counted_mask(t, counts), x.sign, 0.0f, CMPMODE::LT, TILE);
    CompareScalar(counted_mask(t, counts + 1), y.sign, 0.0f, CMPMODE::LT, TILE);
    settle();
}

/*
 * low and high become bounds of e, equal where the quotient is e itself.
 *
 * With |d| = |n-b| (1 + x), |x| <= 2^-24, and Div within 1.5 ulp, that is 1.5 * 2^-23 relatively,
 * the quotient is within 2^-22 of e; moving it by 2^-21 leaves room for the roundings of doing so
 * and of e in float64. If the difference is exact and no remainder is left, nothing was rounded:
 * integers and other short numbers have the same maximum in many tiles, and ties need not be looked
 * at again. Flushed subnormals: the difference is at least 2^-78 or the pair unsure, a flushed
 * divisor makes the quotient infinite, and a maximum below 2^-100 is not trusted. All three rescue
 * the tile.
 */
__aicore__ inline void bound_quotient(const division &d, const mask &certain, const lanes &low,
                                      const lanes &high)
{
    Muls(low, d.quotient, 0.99999952316284179688f, TILE);  /* 1 - 2^-21 */
    Muls(high, d.quotient, 1.00000047683715820312f, TILE); /* 1 + 2^-21 */
    settle();
    Select(low, certain, d.quotient, low, SELMODE::VSEL_TENSOR_TENSOR_MODE, TILE);
    settle();
    Select(high, certain, d.quotient, high, SELMODE::VSEL_TENSOR_TENSOR_MODE, TILE);
    settle();
}

/* e is 1 where b is 0 (masks[0] has the others) and 0 where n = b (masks[1]). */
__aicore__ inline void select_bound(const tile_work &t, const lanes &bound)
{
    Select(bound, t.masks[0], bound, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
    settle();
    Select(bound, t.masks[1], bound, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
    settle();
}

/* work[0] holds |n - b|, work[2] and work[3] its halves. */
__aicore__ inline void exact_f64(const tile_work &t)
{
    const split_lanes parts = {t.work[2], t.work[3]};
    const division d = {t.work[0], t.work[1], t.work[4], t.work[5], parts, {t.n, t.b}, t.work[6]};
    const mask &nonzero = t.masks[0], &apart = t.masks[1], &certain = t.masks[2];
    const sign_space first = {d.quotient, d.correction}, second = {d.spare, t.n};
    Abs(d.divisor, t.b, TILE);
    settle();
    mark_below_inverse(t, d, 1000.0f, 200.0f, COUNT_BELOW, first, second);
    mark_below_inverse(t, d, 100.0f, 10.0f, COUNT_BELOW_MORE, first, second);
    CompareScalar(nonzero, d.divisor, 0.0f, CMPMODE::GT, TILE);
    mark_unsure(apart, counted_mask(t, COUNT_UNSURE), d.dividend);
    neither(counted_mask(t, COUNT_ZEROS), nonzero, apart);
    divide_with_remainder(d);
    CompareScalar(certain, d.dividend, 0.0f, CMPMODE::EQ, TILE);
    settle();
    both(certain, certain, t.masks[EXACT_PAIRS]);
    bound_quotient(d, certain, parts.low, parts.high);
    select_bound(t, parts.low);
    select_bound(t, parts.high);
    highest(d.correction, parts.low);
    highest(d.correction[REPEAT], parts.high);
    settle();
    finish_highest(t.record[TDC_TILE_REL_MAX], d.correction, 2);
    count_pairs<COUNT_BELOW_MORE>(t, {d.spare, d.dividend, d.divisor, d.quotient});
}

} // namespace tdc_ascend

#endif
