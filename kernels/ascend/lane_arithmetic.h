/*
 * lane_arithmetic.h - f32 arithmetic that loses nothing, over whole tensors in UB.
 *
 * The vector unit of architecture 2201 has neither float64 nor a fused multiply-add (3510 has the
 * latter: register_lanes.h). What it rounds away is computed beside the result instead. All of it
 * needs round to nearest with subnormals.
 *
 * Two vector instructions may overlap, so settle() stands between an instruction and the next one
 * that reads or overwrites what it touches.
 */
#ifndef TDC_KERNELS_ASCEND_LANE_ARITHMETIC_H
#define TDC_KERNELS_ASCEND_LANE_ARITHMETIC_H

#include "kernel_operator.h"
#include "tile_layout.h"

namespace tdc_ascend
{
using namespace AscendC;

using lanes = LocalTensor<float>;

constexpr int32_t TILE = TDC_TILE_PAIRS;
constexpr int32_t HALF_TILE = TILE / 2;

__aicore__ inline void settle()
{
    PipeBarrier<PIPE_V>();
}

struct split_lanes {
    lanes high, low; /* 12 bits each; their sum is the number */
};

/* Veltkamp. Overflows above 2^115; exact down to the smallest subnormal. */
__aicore__ inline void split(const split_lanes &to, const lanes &x)
{
    Muls(to.high, x, 4097.0f, TILE);
    settle();
    Sub(to.low, to.high, x, TILE);
    settle();
    Sub(to.high, to.high, to.low, TILE);
    settle();
    Sub(to.low, x, to.high, TILE);
    settle();
}

/* Two numbers side by side: half of the barriers. */
__aicore__ inline void split_both(const split_lanes &to_x, const lanes &x, const split_lanes &to_y,
                                  const lanes &y)
{
    Muls(to_x.high, x, 4097.0f, TILE);
    Muls(to_y.high, y, 4097.0f, TILE);
    settle();
    Sub(to_x.low, to_x.high, x, TILE);
    Sub(to_y.low, to_y.high, y, TILE);
    settle();
    Sub(to_x.high, to_x.high, to_x.low, TILE);
    Sub(to_y.high, to_y.high, to_y.low, TILE);
    settle();
    Sub(to_x.low, x, to_x.high, TILE);
    Sub(to_y.low, y, to_y.high, TILE);
    settle();
}

/*
 * Dekker: what rounding took from `product`, the rounded product of x and y. product + error = x *
 * y as long as no partial product falls below 2^-149. `error` may be `product`.
 */
__aicore__ inline void product_error(const lanes &error, const lanes &product, const split_lanes &x,
                                     const split_lanes &y, const lanes &spare)
{
    Mul(spare, x.high, y.high, TILE);
    settle();
    Sub(error, spare, product, TILE);
    settle();
    Mul(spare, x.high, y.low, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
    Mul(spare, x.low, y.high, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
    Mul(spare, x.low, y.low, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
}

/* The same for a square, whose middle products are equal. */
__aicore__ inline void square_error(const lanes &error, const lanes &square, const split_lanes &x,
                                    const lanes &spare)
{
    Mul(spare, x.high, x.high, TILE);
    settle();
    Sub(error, spare, square, TILE);
    settle();
    Mul(spare, x.high, x.low, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
    Mul(spare, x.low, x.low, TILE);
    settle();
    Add(error, error, spare, TILE);
    settle();
}

/* Tensors a division works in; `dividend` and `divisor` are given, the rest is overwritten. */
struct division {
    lanes dividend, divisor;
    lanes quotient, correction;
    split_lanes quotient_parts, divisor_parts;
    lanes spare;
};

/*
 * The quotient as Div has it; the dividend becomes the remainder.
 *
 * Div is taken to be the correctly rounded quotient or one of its neighbours, hence within 1.5 ulp,
 * and to flush subnormals if it likes. The product of such a quotient with the divisor is within a
 * factor 2 of the dividend, so subtracting it is exact, and subtracting its error yields the
 * remainder, rounded once at most (2^-24), and 0 only if it is 0. All that holds while dividend >=
 * 2^-78 (products keep their low parts) and the quotient is below 2^115 (else the remainder is
 * NaN). A quotient below 2^-100 may be worth nothing: the host looks at the largest one only, and
 * does not trust it when it is that small.
 */
__aicore__ inline void divide_with_remainder(const division &d)
{
    Div(d.quotient, d.dividend, d.divisor, TILE);
    settle();
    Mul(d.correction, d.quotient, d.divisor, TILE);
    settle();
    Sub(d.dividend, d.dividend, d.correction, TILE);
    split_both(d.quotient_parts, d.quotient, d.divisor_parts, d.divisor);
    product_error(d.correction, d.correction, d.quotient_parts, d.divisor_parts, d.spare);
    Sub(d.dividend, d.dividend, d.correction, TILE);
    settle();
}

/*
 * quotient + correction = dividend / divisor, up to 2^-22 of the correction: 1.5 * 2^-23 for the
 * second Div and 2^-24 for the remainder.
 */
__aicore__ inline void divide(const division &d)
{
    divide_with_remainder(d);
    Div(d.correction, d.dividend, d.divisor, TILE);
    settle();
}

} // namespace tdc_ascend

#endif
