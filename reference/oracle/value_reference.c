#include <math.h>
#include <string.h>

#include "reference/oracle/pair_reference.h"

/* Sign, exponent and fraction of a small format, put together by the definition. */
static double float_from_fields(unsigned bits, int exponent_bits, int fraction_bits)
{
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    unsigned exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1);
    unsigned sign = bits >> (fraction_bits + exponent_bits);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double magnitude;
    if (exponent == 0)
        magnitude = ldexp(fraction, 1 - bias - fraction_bits);
    else
        magnitude = ldexp(fraction + (1u << fraction_bits), (int)exponent - bias - fraction_bits);
    return sign ? -magnitude : magnitude;
}

/* IEEE formats keep the largest exponent for infinity and NaN. */
static double ieee_from_fields(unsigned bits, int exponent_bits, int fraction_bits)
{
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    unsigned exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1);
    unsigned sign = bits >> (fraction_bits + exponent_bits);
    if (exponent + 1 == 1u << exponent_bits)
        return fraction ? NAN : sign ? -INFINITY : INFINITY;
    return float_from_fields(bits, exponent_bits, fraction_bits);
}

static tdc_wide extended_value(const unsigned char *bytes)
{
    uint64_t mantissa = 0;
    for (int i = 7; i >= 0; i--)
        mantissa = mantissa << 8 | bytes[i];
    int exponent = (bytes[9] & 0x7f) << 8 | bytes[8];
    bool negative = bytes[9] >> 7;
    tdc_wide value;
    if (exponent != 0 && mantissa >> 63 == 0) {
        return NAN;
    } else if (exponent == 0x7fff) {
        value = (mantissa & 0x7fffffffffffffff) != 0 ? NAN : INFINITY;
    } else {
        tdc_wide exact = (tdc_wide)mantissa;
        int shift = (exponent == 0 ? 1 : exponent) - 16446;
        for (; shift > 0; shift--)
            exact *= 2;
        for (; shift < 0 && exact != 0; shift++)
            exact /= 2;
        value = exact;
    }
    return negative ? -value : value;
}

#define RETURN_AS(type)                                                                            \
    do {                                                                                           \
        type value;                                                                                \
        memcpy(&value, element, sizeof value);                                                     \
        return (double)value;                                                                      \
    } while (0)

static double integer_or_ieee(tdc_dtype dtype, const void *element)
{
    switch (dtype) {
    case TDC_I8:
        RETURN_AS(int8_t);
    case TDC_I16:
        RETURN_AS(int16_t);
    case TDC_I32:
        RETURN_AS(int32_t);
    case TDC_I64:
        RETURN_AS(int64_t);
    case TDC_U8:
        RETURN_AS(uint8_t);
    case TDC_U16:
        RETURN_AS(uint16_t);
    case TDC_U32:
        RETURN_AS(uint32_t);
    case TDC_U64:
        RETURN_AS(uint64_t);
    case TDC_F32:
    case TDC_C64:
        RETURN_AS(float);
    default:
        RETURN_AS(double);
    }
}

double tdc_reference_value(tdc_dtype dtype, const void *element, double *imaginary)
{
    const unsigned char *bytes = element;
    *imaginary = 0;
    switch (dtype) {
    case TDC_BOOL:
        return bytes[0] ? 1 : 0;
    case TDC_F8_E4M3:
        return (bytes[0] & 0x7f) == 0x7f ? (double)NAN : float_from_fields(bytes[0], 4, 3);
    case TDC_F8_E5M2:
        return ieee_from_fields(bytes[0], 5, 2);
    case TDC_F16:
    case TDC_BF16: {
        uint16_t bits;
        memcpy(&bits, element, sizeof bits);
        return dtype == TDC_F16 ? ieee_from_fields(bits, 5, 10) : ieee_from_fields(bits, 8, 7);
    }
    case TDC_F80:
        return (double)extended_value(bytes);
    case TDC_C64:
        *imaginary = integer_or_ieee(TDC_F32, bytes + 4);
        return integer_or_ieee(dtype, element);
    case TDC_C128:
        *imaginary = integer_or_ieee(TDC_F64, bytes + 8);
        return integer_or_ieee(dtype, element);
    default:
        return integer_or_ieee(dtype, element);
    }
}

tdc_wide tdc_reference_wide_value(tdc_dtype dtype, const void *element)
{
    double imaginary;
    int64_t whole;
    if (dtype == TDC_F80)
        return extended_value(element);
    if (dtype != TDC_I64 && dtype != TDC_U64)
        return (tdc_wide)tdc_reference_value(dtype, element, &imaginary);
    memcpy(&whole, element, sizeof whole);
    return dtype == TDC_I64 ? (tdc_wide)whole : (tdc_wide)(uint64_t)whole;
}

double tdc_reference_round_to_f16(double value)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent = ilogb(value);
    int step = (exponent < -14 ? -14 : exponent) - 10;
    double rounded = ldexp(rint(ldexp(value, -step)), step);
    return fabs(rounded) > 65504 ? copysign(INFINITY, value) : rounded;
}
