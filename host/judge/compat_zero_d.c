/*
 * compat_zero_d.c - 0-d tensors in the arithmetic of numpy (spec 5.4).
 *
 * The absolute error is taken in the type numpy promotes the two to: narrow integers wrap around,
 * f16 rounds, complex numbers use the modulus of the complex difference. No NaN or infinity is
 * masked here.
 */
#include <math.h>
#include <string.h>

#include "host/judge/rules.h"

/* An integer type by width and sign; bool counts as float64 (the original converts it first). */
static bool integer_type(tdc_dtype dtype, int *bits, bool *is_signed)
{
    switch (dtype) {
    case TDC_I8:
    case TDC_U8:
        *bits = 8;
        break;
    case TDC_I16:
    case TDC_U16:
        *bits = 16;
        break;
    case TDC_I32:
    case TDC_U32:
        *bits = 32;
        break;
    case TDC_I64:
    case TDC_U64:
        *bits = 64;
        break;
    default:
        return false;
    }
    *is_signed = dtype == TDC_I8 || dtype == TDC_I16 || dtype == TDC_I32 || dtype == TDC_I64;
    return true;
}

static __int128 integer_value(const unsigned char *element, int bits, bool is_signed)
{
    uint64_t raw = 0;
    memcpy(&raw, element, (size_t)bits / 8);
    if (is_signed && bits < 64 && (raw >> (bits - 1)) != 0)
        raw |= ~(uint64_t)0 << bits;
    return is_signed ? (__int128)(int64_t)raw : (__int128)raw;
}

/* |n - b| wrapped to the promoted integer type; false when numpy promotes to float64. */
static bool integer_difference(const struct tdc_outcome *outcome, double *difference)
{
    int n_bits, b_bits;
    bool n_signed, b_signed;
    if (!integer_type(outcome->n_dtype, &n_bits, &n_signed) ||
        !integer_type(outcome->b_dtype, &b_bits, &b_signed))
        return false;
    int bits = n_bits > b_bits ? n_bits : b_bits;
    bool is_signed = n_signed || b_signed;
    if (n_signed != b_signed) {
        int unsigned_bits = n_signed ? b_bits : n_bits;
        if (unsigned_bits == 64)
            return false;
        if (bits == unsigned_bits)
            bits *= 2;
    }
    __int128 d = integer_value(outcome->n_element, n_bits, n_signed) -
                 integer_value(outcome->b_element, b_bits, b_signed);
    uint64_t wrapped = (uint64_t)d;
    if (bits < 64)
        wrapped &= ((uint64_t)1 << bits) - 1;
    unsigned char bytes[8];
    memcpy(bytes, &wrapped, sizeof bytes);
    __int128 value = integer_value(bytes, bits, is_signed);
    *difference = fabs((double)value);
    return true;
}

/* Precision of the arithmetic a type takes part in: 16, 32 or 64 bits of float. */
static int float_width(tdc_dtype dtype)
{
    switch (dtype) {
    case TDC_F16:
    case TDC_I8:
    case TDC_U8:
        return 16;
    case TDC_F32:
    case TDC_BF16:
    case TDC_C64:
    case TDC_I16:
    case TDC_U16:
        return 32;
    default:
        return 64;
    }
}

static double in_width(double value, int width)
{
    if (width == 16)
        return (double)tdc_round_to_f16((float)value);
    return width == 32 ? (double)(float)value : value;
}

static double float_difference(const struct tdc_outcome *outcome)
{
    double n_imaginary, b_imaginary;
    double n = tdc_element_value(outcome->n_dtype, outcome->n_element, &n_imaginary);
    double b = tdc_element_value(outcome->b_dtype, outcome->b_element, &b_imaginary);
    int n_width = float_width(outcome->n_dtype), b_width = float_width(outcome->b_dtype);
    int width = n_width > b_width ? n_width : b_width;
    double real = in_width(n - b, width);
    if (outcome->n_dtype != TDC_C64 && outcome->n_dtype != TDC_C128 &&
        outcome->b_dtype != TDC_C64 && outcome->b_dtype != TDC_C128)
        return fabs(real);
    return in_width(hypot(real, in_width(n_imaginary - b_imaginary, width)), width);
}

/* The classes of spec 5.1: what is not f16 or f32 counts as float64. */
static int relative_width(tdc_dtype dtype)
{
    if (dtype == TDC_F16)
        return 16;
    return dtype == TDC_F32 || dtype == TDC_BF16 ? 32 : 64;
}

static double relative_error(const struct tdc_outcome *outcome)
{
    double imaginary;
    double n = tdc_element_value(outcome->n_dtype, outcome->n_element, &imaginary);
    double b = tdc_element_value(outcome->b_dtype, outcome->b_element, &imaginary);
    int n_width = relative_width(outcome->n_dtype), b_width = relative_width(outcome->b_dtype);
    if (b == 0) {
        n = in_width(n + 0x1p-52, n_width);
        b = in_width(b + 0x1p-52, b_width);
    }
    int width = n_width > b_width ? n_width : b_width;
    return fabs(in_width(in_width(n - b, width) / b, width));
}

void tdc_compat_zero_d(const struct tdc_outcome *outcome, double *max_abs, double *max_rel)
{
    struct tdc_outcome plain = *outcome;
    /* numbers stored as text were gathered as float64 */
    if (plain.n_dtype == TDC_TEXT)
        plain.n_dtype = TDC_F64;
    if (plain.b_dtype == TDC_TEXT)
        plain.b_dtype = TDC_F64;
    if (!integer_difference(&plain, max_abs))
        *max_abs = float_difference(&plain);
    *max_rel = relative_error(&plain);
}
