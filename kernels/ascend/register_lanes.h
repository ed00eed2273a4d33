/*
 * register_lanes.h - f32 arithmetic that loses nothing, in vector registers.
 *
 * For architecture 3510, whose vector unit has registers and a multiply-add that rounds once. Names
 * and constants are those of its register interface: functions called from __simd_vf__ ones, loops
 * that count from 0 by 1, no branches. A register has WIDTH floats.
 */
#ifndef TDC_KERNELS_ASCEND_REGISTER_LANES_H
#define TDC_KERNELS_ASCEND_REGISTER_LANES_H

#include "kernel_operator.h"
#include "tile_layout.h"

namespace tdc_ascend
{
using namespace AscendC;

using vector = Reg::RegTensor<float>;
using flags = Reg::MaskReg;

constexpr uint16_t WIDTH = 64;
constexpr uint16_t TILE_VECTORS = TDC_TILE_PAIRS / WIDTH;

/* Anything to f32 loses nothing. f32 to half rounds to nearest, beyond its range to infinity. */
static constexpr Reg::CastTrait WIDEN = {Reg::RegLayout::ZERO, Reg::SatMode::UNKNOWN,
                                         Reg::MaskMergeMode::ZEROING, RoundMode::UNKNOWN};
static constexpr Reg::CastTrait NARROW = {Reg::RegLayout::ZERO, Reg::SatMode::NO_SAT,
                                          Reg::MaskMergeMode::ZEROING, RoundMode::CAST_RINT};

template <typename T> __simd_callee__ inline void load(vector &to, __ubuf__ T *from, flags &all)
{
    if constexpr (sizeof(T) == sizeof(float)) {
        Reg::LoadAlign(to, from);
    } else {
        Reg::RegTensor<T> narrow; /* a value in every second place */
        Reg::LoadAlign<T, Reg::LoadDist::DIST_UNPACK_B16>(narrow, from);
        Reg::Cast<float, T, WIDEN>(to, narrow, all);
    }
}

__simd_callee__ inline void round_to_half(vector &x, flags &all)
{
    Reg::RegTensor<half> narrow;
    Reg::Cast<half, float, NARROW>(narrow, x, all);
    Reg::Cast<float, half, WIDEN>(x, narrow, all);
}

/* product + error = x * y, as long as the error does not fall below 2^-149. */
__simd_callee__ inline void multiply(vector &product, vector &error, vector &x, vector &y,
                                     flags &all)
{
    vector minus;
    Reg::Mul(product, x, y, all);
    Reg::Muls(minus, product, -1.0f, all);
    Reg::Muls(error, x, 1.0f, all);
    Reg::MulDstAdd(error, y, minus, all);
}

/*
 * high + low += more_high + more_low: Knuth's two-sum of the high parts, whose error joins the low
 * ones, in the order of tile_fold.h. So both kinds of kernels leave the same bits.
 */
__simd_callee__ inline void add(vector &high, vector &low, vector &more_high, vector &more_low,
                                flags &all)
{
    vector sum, behind, lost;
    Reg::Add(sum, high, more_high, all);
    Reg::Add(low, low, more_low, all);
    Reg::Sub(behind, sum, high, all);
    Reg::Sub(lost, sum, behind, all);
    Reg::Sub(behind, more_high, behind, all);
    Reg::Sub(lost, high, lost, all);
    Reg::Add(lost, lost, behind, all);
    Reg::Add(low, low, lost, all);
    Reg::Muls(high, sum, 1.0f, all);
}

/* distance + lacking = |n - b|, up to the sign of what is lacking: tile_sums.h. */
__simd_callee__ inline void take_distance(vector &distance, vector &lacking, vector &n, vector &b,
                                          flags &all)
{
    vector smaller, rounded;
    Reg::Max(lacking, n, b, all);
    Reg::Min(smaller, n, b, all);
    Reg::Sub(distance, lacking, smaller, all);
    Reg::Sub(rounded, distance, lacking, all);
    Reg::Add(smaller, smaller, rounded, all);
    Reg::Sub(rounded, distance, rounded, all);
    Reg::Sub(lacking, lacking, rounded, all);
    Reg::Sub(lacking, lacking, smaller, all);
}

/*
 * The quotient as Div has it, at most one unit off, and the remainder, which is exact: a
 * multiply-add that rounds once has nothing to round there. Bounds as in lane_arithmetic.h.
 */
__simd_callee__ inline void divide(vector &quotient, vector &remainder, vector &dividend,
                                   vector &divisor, flags &all)
{
    Reg::Div(quotient, dividend, divisor, all);
    Reg::Muls(remainder, quotient, -1.0f, all);
    Reg::MulDstAdd(remainder, divisor, dividend, all);
}

/* counter += 1 where the flags are set. */
__simd_callee__ inline void count(vector &counter, flags &which, vector &one, vector &zero,
                                  flags &all)
{
    vector step;
    Reg::Select(step, one, zero, which);
    Reg::Add(counter, counter, step, all);
}

template <ReduceType kind>
__simd_callee__ inline void store_reduced(__ubuf__ float *to, vector &x, flags &all)
{
    vector one;
    Reg::Reduce<kind>(one, x, all);
    Reg::StoreAlign<float, Reg::StoreDist::DIST_FIRST_ELEMENT_B32>(to, one, all);
}

} // namespace tdc_ascend

#endif
