/*
 * flawed_arithmetic.h - a device that does not compute as it should: what self-tests are for.
 */
#ifndef TDC_TESTS_TWIN_FLAWED_ARITHMETIC_H
#define TDC_TESTS_TWIN_FLAWED_ARITHMETIC_H

#include <cmath>

#include "tests/twin/kernel_runner.h"

namespace tdc_twin
{

/* Of the whole process; set before kernels run. */
extern tdc_twin_flaw flaw;

inline float flushed(float x)
{
    return flaw == TDC_TWIN_FLUSHES_SUBNORMALS && std::fpclassify(x) == FP_SUBNORMAL
               ? std::copysign(0.0f, x)
               : x;
}

/* `rounded` lacks `error`. */
inline float towards_zero(float rounded, double error)
{
    const bool too_large = rounded > 0 ? error < 0 : error > 0;
    return flaw == TDC_TWIN_ROUNDS_TO_ZERO && std::isfinite(rounded) && too_large
               ? std::nextafter(rounded, 0.0f)
               : rounded;
}

inline float flawed_add(float x, float y)
{
    x = flushed(x);
    y = flushed(y);
    const float sum = x + y, behind = sum - x;
    const float error = (x - (sum - behind)) + (y - behind);
    return flushed(towards_zero(sum, static_cast<double>(error)));
}

inline float flawed_multiply(float x, float y)
{
    x = flushed(x);
    y = flushed(y);
    const double product = static_cast<double>(x) * static_cast<double>(y);
    const float rounded = x * y;
    return flushed(towards_zero(rounded, product - static_cast<double>(rounded)));
}

} // namespace tdc_twin

#endif
