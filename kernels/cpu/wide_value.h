/*
 * wide_value.h - an element with all its digits, where float64 has too few: 64-bit integers and x87
 * extended, in IEEE's 128 bits. That is a type of its own on x86 and long double on aarch64, in
 * software on both, so the bits are the same everywhere.
 */
#ifndef TDC_KERNELS_CPU_WIDE_VALUE_H
#define TDC_KERNELS_CPU_WIDE_VALUE_H

#include <float.h>

#include "kernels/cpu/vector/decode.h"
#include "kernels/pair.h"

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 wide;
#else
typedef long double wide;
_Static_assert(LDBL_MANT_DIG == 113, "long double is not IEEE's 128 bits");
#endif

#define WIDE_BIAS 16383

static inline bool wide_is_finite(wide value)
{
    return value - value == 0;
}

static inline wide wide_abs(wide value)
{
    return value < 0 ? -value : value;
}

/* 2^exponent, of a normal number. Little-endian, as the tensors' bytes are. */
static inline wide wide_power(int exponent)
{
    uint64_t halves[2] = {0, (uint64_t)(exponent + WIDE_BIAS) << 48};
    wide power;
    memcpy(&power, halves, sizeof power);
    return power;
}

/* Of frexp: value is below 2^exponent and, unless it is subnormal, not below half of it. */
static inline int wide_exponent(wide value)
{
    uint64_t halves[2];
    memcpy(halves, &value, sizeof halves);
    return (int)(halves[1] >> 48 & 0x7fff) - (WIDE_BIAS - 1);
}

static inline wide wide_f80(const void *element)
{
    uint64_t mantissa;
    uint16_t head;
    memcpy(&mantissa, element, sizeof mantissa);
    memcpy(&head, (const char *)element + sizeof mantissa, sizeof head);
    int exponent = head & 0x7fff;
    if (exponent == 0x7fff || (exponent != 0 && !(mantissa >> 63)))
        return (wide)decode_f80(element);
    /* in two steps: the smallest power is below the normal numbers. Both are exact. */
    wide value = (wide)mantissa * wide_power(-63);
    value *= wide_power((exponent != 0 ? exponent : 1) - WIDE_BIAS);
    return head >> 15 ? -value : value;
}

static inline wide wide_value(tdc_dtype dtype, const void *element, wide *imaginary)
{
    int64_t whole;
    *imaginary = 0;
    switch (dtype) {
    case TDC_F80:
        return wide_f80(element);
    case TDC_I64:
        memcpy(&whole, element, sizeof whole);
        return (wide)whole;
    case TDC_U64:
        memcpy(&whole, element, sizeof whole);
        return (wide)(uint64_t)whole;
    default: {
        double narrow_imaginary, value = tdc_element_value(dtype, element, &narrow_imaginary);
        *imaginary = (wide)narrow_imaginary;
        return (wide)value;
    }
    }
}

/* Rounded to float64, but what is finite stays finite and what is not 0 stays so. */
static inline double nearest_f64(wide value)
{
    double rounded = (double)value;
    if (isinf(rounded) && wide_is_finite(value))
        return value > 0 ? DBL_MAX : -DBL_MAX;
    if (rounded == 0 && value != 0)
        return value > 0 ? DBL_TRUE_MIN : -DBL_TRUE_MIN;
    return rounded;
}

#endif
