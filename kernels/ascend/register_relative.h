/*
 * register_relative.h - relative errors of a tile under each rule of kernels/pair.h, in vector
 * registers. What is computed, and why it is right, is told in tile_relative.h.
 */
#ifndef TDC_KERNELS_ASCEND_REGISTER_RELATIVE_H
#define TDC_KERNELS_ASCEND_REGISTER_RELATIVE_H

#include "register_lanes.h"

namespace tdc_ascend
{

constexpr float EPSILON = 2.220446049250313e-16f;    /* 2^-52 */
constexpr float LEAST_SURE = 3.308722450212111e-24f; /* 2^-78 */
constexpr float LITTLE_LESS = 0.99999952316284179688f;
constexpr float LITTLE_MORE = 1.00000047683715820312f;

/* above = x > 0, unsure = 0 < x < 2^-78 */
__simd_callee__ inline void mark_unsure(flags &above, flags &unsure, vector &x, flags &all)
{
    Reg::Compares<float, CMPMODE::GT>(above, x, 0.0f, all);
    Reg::Compares<float, CMPMODE::LT>(unsure, x, LEAST_SURE, all);
    Reg::And(unsure, unsure, above, all);
}

__simd_callee__ inline void count_below(vector &counter, vector &x, float limit, vector &one,
                                        vector &zero, flags &all)
{
    flags below;
    Reg::Compares<float, CMPMODE::LT>(below, x, limit, all);
    count(counter, below, one, zero, all);
}

/* ---- TDC_RELATIVE_NATIVE, f32 and bf16 ------------------------------------------------------ */

/* dividend = |n' - b'|, divisor = |b'|, where 2^-52 is added to both sides if b is 0. */
__simd_callee__ inline void native_operands(vector &dividend, vector &divisor, vector &n, vector &b,
                                            vector &epsilon, flags &all)
{
    flags nonzero;
    Reg::Abs(dividend, b, all);
    Reg::Compares<float, CMPMODE::GT>(nonzero, dividend, 0.0f, all);
    Reg::Select(divisor, b, epsilon, nonzero);
    Reg::Sub(dividend, divisor, b, all);
    Reg::Add(dividend, n, dividend, all);
    Reg::Sub(dividend, dividend, divisor, all);
    Reg::Abs(dividend, dividend, all);
    Reg::Abs(divisor, divisor, all);
}

/* quotient becomes the correctly rounded one; pairs where that is not certain join `unsure`. */
template <bool divisor_has_24_bits>
__simd_callee__ inline void round_quotient(vector &quotient, vector &correction, flags &unsure,
                                           flags &all)
{
    if constexpr (divisor_has_24_bits) {
        vector below, above;
        flags steady;
        Reg::Muls(below, correction, LITTLE_LESS, all);
        Reg::Muls(above, correction, LITTLE_MORE, all);
        Reg::Add(below, below, quotient, all);
        Reg::Add(above, above, quotient, all);
        Reg::Compare<float, CMPMODE::EQ>(steady, below, above, all);
        Reg::Not(steady, steady, all);
        Reg::Or(unsure, unsure, steady, all);
    }
    Reg::Add(quotient, quotient, correction, all);
}

template <typename N, typename B>
__simd_vf__ inline void relative_native(__ubuf__ N *n, __ubuf__ B *b, __ubuf__ float *record)
{
    flags all = Reg::CreateMask<float>();
    vector epsilon, one, zero, unsure_count, below_0, below_1, largest;
    Reg::Duplicate(epsilon, EPSILON, all);
    Reg::Duplicate(one, 1.0f, all);
    Reg::Duplicate(zero, 0.0f, all);
    Reg::Duplicate(unsure_count, 0.0f, all);
    Reg::Duplicate(below_0, 0.0f, all);
    Reg::Duplicate(below_1, 0.0f, all);
    Reg::Duplicate(largest, 0.0f, all);
    for (uint16_t i = 0; i < TILE_VECTORS; i++) {
        vector x, y, dividend, divisor, quotient, remainder, correction;
        flags above, unsure;
        load(x, n + i * WIDTH, all);
        load(y, b + i * WIDTH, all);
        native_operands(dividend, divisor, x, y, epsilon, all);
        mark_unsure(above, unsure, dividend, all);
        divide(quotient, remainder, dividend, divisor, all);
        Reg::Div(correction, remainder, divisor, all);
        round_quotient<sizeof(B) == sizeof(float)>(quotient, correction, unsure, all);
        count(unsure_count, unsure, one, zero, all);
        count_below(below_0, quotient, 0.001f, one, zero, all);
        count_below(below_1, quotient, 0.005f, one, zero, all);
        Reg::Max(largest, largest, quotient, all);
    }
    store_reduced<ReduceType::SUM>(record + TDC_TILE_UNSURE, unsure_count, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_0, below_0, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_1, below_1, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_REL_MAX, largest, all);
}

/* ---- TDC_RELATIVE_NATIVE, f16 --------------------------------------------------------------- */

template <typename N, typename B>
__simd_vf__ inline void relative_half(__ubuf__ N *n, __ubuf__ B *b, __ubuf__ float *record)
{
    flags all = Reg::CreateMask<float>();
    vector infinity, one, zero, unsure_count, zeros, below_0, below_1, largest;
    Reg::Duplicate(infinity, __builtin_inff(), all);
    Reg::Duplicate(one, 1.0f, all);
    Reg::Duplicate(zero, 0.0f, all);
    Reg::Duplicate(unsure_count, 0.0f, all);
    Reg::Duplicate(zeros, 0.0f, all);
    Reg::Duplicate(below_0, 0.0f, all);
    Reg::Duplicate(below_1, 0.0f, all);
    Reg::Duplicate(largest, 0.0f, all);
    for (uint16_t i = 0; i < TILE_VECTORS; i++) {
        vector x, y, distance, lacking, divisor, quotient, remainder, correction;
        flags nonzero, apart, unsure, both_zero;
        load(x, n + i * WIDTH, all);
        load(y, b + i * WIDTH, all);
        take_distance(distance, lacking, x, y, all);
        round_to_half(distance, all);
        Reg::Abs(divisor, y, all);
        Reg::Compares<float, CMPMODE::GT>(nonzero, divisor, 0.0f, all);
        Reg::Select(divisor, divisor, one, nonzero);
        mark_unsure(apart, unsure, distance, all);
        count(unsure_count, unsure, one, zero, all);
        Reg::Or(both_zero, nonzero, apart, all);
        Reg::Not(both_zero, both_zero, all);
        count(zeros, both_zero, one, zero, all);
        divide(quotient, remainder, distance, divisor, all);
        Reg::Div(correction, remainder, divisor, all);
        Reg::Add(quotient, quotient, correction, all);
        round_to_half(quotient, all);
        Reg::Select(quotient, quotient, infinity, nonzero);
        Reg::Select(quotient, quotient, zero, apart);
        /* The limits as f16 has them. */
        count_below(below_0, quotient, 0.0010004043579101562f, one, zero, all);
        count_below(below_1, quotient, 0.005001068115234375f, one, zero, all);
        Reg::Max(largest, largest, quotient, all);
    }
    store_reduced<ReduceType::SUM>(record + TDC_TILE_UNSURE, unsure_count, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_ZEROS, zeros, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_0, below_0, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_1, below_1, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_REL_MAX, largest, all);
}

/* ---- TDC_RELATIVE_F64 ----------------------------------------------------------------------- */

/* Pairs with e < 1/k: the sign of k d - |b|, which rounding once does not change. */
__simd_callee__ inline void count_below_inverse(vector &counter, vector &distance,
                                                vector &minus_divisor, float k, vector &one,
                                                vector &zero, flags &all)
{
    vector sign;
    Reg::Duplicate(sign, k, all);
    Reg::MulDstAdd(sign, distance, minus_divisor, all);
    count_below(counter, sign, 0.0f, one, zero, all);
}

/* The limits first: two loops need fewer registers than one. */
template <typename N, typename B>
__simd_vf__ inline void relative_limits(__ubuf__ N *n, __ubuf__ B *b, __ubuf__ float *record)
{
    flags all = Reg::CreateMask<float>();
    vector one, zero, below_0, below_1, below_2, below_3;
    Reg::Duplicate(one, 1.0f, all);
    Reg::Duplicate(zero, 0.0f, all);
    Reg::Duplicate(below_0, 0.0f, all);
    Reg::Duplicate(below_1, 0.0f, all);
    Reg::Duplicate(below_2, 0.0f, all);
    Reg::Duplicate(below_3, 0.0f, all);
    for (uint16_t i = 0; i < TILE_VECTORS; i++) {
        vector x, y, distance, lacking, minus_divisor;
        load(x, n + i * WIDTH, all);
        load(y, b + i * WIDTH, all);
        take_distance(distance, lacking, x, y, all);
        Reg::Abs(minus_divisor, y, all);
        Reg::Muls(minus_divisor, minus_divisor, -1.0f, all);
        count_below_inverse(below_0, distance, minus_divisor, 1000.0f, one, zero, all);
        count_below_inverse(below_1, distance, minus_divisor, 200.0f, one, zero, all);
        count_below_inverse(below_2, distance, minus_divisor, 100.0f, one, zero, all);
        count_below_inverse(below_3, distance, minus_divisor, 10.0f, one, zero, all);
    }
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_0, below_0, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_1, below_1, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_2, below_2, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_BELOW_3, below_3, all);
}

/* A bound of e by a factor where e is not the quotient itself; 1 where b is 0, 0 where n = b. */
__simd_callee__ inline void raise_bound(vector &largest, vector &quotient, float factor,
                                        flags &certain, flags &nonzero, flags &apart, vector &one,
                                        vector &zero, flags &all)
{
    vector bound;
    Reg::Muls(bound, quotient, factor, all);
    Reg::Select(bound, quotient, bound, certain);
    Reg::Select(bound, bound, one, nonzero);
    Reg::Select(bound, bound, zero, apart);
    Reg::Max(largest, largest, bound, all);
}

template <typename N, typename B>
__simd_vf__ inline void relative_bounds(__ubuf__ N *n, __ubuf__ B *b, __ubuf__ float *record)
{
    flags all = Reg::CreateMask<float>();
    vector one, zero, unsure_count, zeros, largest, top;
    Reg::Duplicate(one, 1.0f, all);
    Reg::Duplicate(zero, 0.0f, all);
    Reg::Duplicate(unsure_count, 0.0f, all);
    Reg::Duplicate(zeros, 0.0f, all);
    Reg::Duplicate(largest, 0.0f, all);
    Reg::Duplicate(top, 0.0f, all);
    for (uint16_t i = 0; i < TILE_VECTORS; i++) {
        vector x, y, distance, lacking, divisor, quotient, remainder;
        flags nonzero, apart, unsure, certain, exact;
        load(x, n + i * WIDTH, all);
        load(y, b + i * WIDTH, all);
        take_distance(distance, lacking, x, y, all);
        Reg::Abs(divisor, y, all);
        Reg::Compares<float, CMPMODE::GT>(nonzero, divisor, 0.0f, all);
        mark_unsure(apart, unsure, distance, all);
        count(unsure_count, unsure, one, zero, all);
        Reg::Or(unsure, nonzero, apart, all);
        Reg::Not(unsure, unsure, all);
        count(zeros, unsure, one, zero, all);
        divide(quotient, remainder, distance, divisor, all);
        Reg::Compares<float, CMPMODE::EQ>(certain, remainder, 0.0f, all);
        Reg::Compares<float, CMPMODE::EQ>(exact, lacking, 0.0f, all);
        Reg::And(certain, certain, exact, all);
        raise_bound(largest, quotient, LITTLE_LESS, certain, nonzero, apart, one, zero, all);
        raise_bound(top, quotient, LITTLE_MORE, certain, nonzero, apart, one, zero, all);
    }
    store_reduced<ReduceType::SUM>(record + TDC_TILE_UNSURE, unsure_count, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_ZEROS, zeros, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_REL_MAX, largest, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_REL_TOP, top, all);
}

} // namespace tdc_ascend

#endif
