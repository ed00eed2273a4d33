/*
 * compat_zero_d.c - 0-d tensors in the arithmetic of numpy
 * (docs/msprobe.md#tensors-without-dimensions).
 *
 * The absolute error is taken in the type numpy promotes the two to: narrow integers wrap around,
 * f16 rounds, complex numbers use the modulus of the complex difference. No NaN or infinity is
 * masked here.
 */
#include <math.h>
#include <string.h>

#include "host/judge/rules.h"

/* An integer type by width and sign. */
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

/* |n - b| wrapped to the promoted integer type; false when that is a float. */
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
    case TDC_F8_E4M3: /* read as f32, as bf16 is */
    case TDC_F8_E5M2:
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

/*
 * |re + i im| as numpy's vector code for complex numbers takes it: scaled by the larger part, each
 * step rounded. Up to one unit in the last place from hypot, which shows in the 12 decimals of the
 * cell.
 */
static double modulus(double re, double im, int width)
{
    double larger = fmax(fabs(re), fabs(im)), smaller = fmin(fabs(re), fabs(im));
    if (isinf(larger) || isnan(re) || isnan(im))
        return isinf(larger) ? INFINITY : NAN;
    if (larger == 0)
        return 0;
    double ratio = in_width(smaller / larger, width);
    double root = in_width(sqrt(in_width(fma(ratio, ratio, 1), width)), width);
    return in_width(larger * root, width);
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
    return modulus(real, in_width(n_imaginary - b_imaginary, width), width);
}

/* The classes of docs/msprobe.md#relative-errors: what is not f16 or f32 of this byte order counts
 * as float64. */
static int relative_width(tdc_dtype dtype, bool swapped)
{
    if (swapped)
        return 64;
    if (dtype == TDC_F16)
        return 16;
    bool single =
        dtype == TDC_F32 || dtype == TDC_BF16 || dtype == TDC_F8_E4M3 || dtype == TDC_F8_E5M2;
    return single ? 32 : 64;
}

static double relative_error(const struct tdc_outcome *outcome, bool promoted)
{
    double imaginary;
    double n = tdc_element_value(outcome->n_dtype, outcome->n_element, &imaginary);
    double b = tdc_element_value(outcome->b_dtype, outcome->b_element, &imaginary);
    int n_width = relative_width(outcome->n_dtype, outcome->n_swapped);
    int b_width = relative_width(outcome->b_dtype, outcome->b_swapped);
    int width = n_width > b_width ? n_width : b_width;
    double epsilon = 0x1p-52;
    if (promoted) {
        n_width = b_width = width = width == 64 ? 64 : 32;
        epsilon = width == 64 ? 0x1p-52 : 0x1p-23;
    }
    if (b == 0) {
        n = in_width(n + epsilon, n_width);
        b = in_width(b + epsilon, b_width);
    }
    return fabs(in_width(in_width(n - b, width) / b, width));
}

static void make_f64(tdc_dtype *dtype, unsigned char element[16])
{
    double imaginary, value = tdc_element_value(*dtype, element, &imaginary);
    memcpy(element, &value, sizeof value);
    *dtype = TDC_F64;
}

/*
 * A bool on the NPU side makes both float64. On the bench side it becomes what faces it: an integer
 * of that type, or beside a float an i8, which every float holds.
 */
static void promote_bool(struct tdc_outcome *pair)
{
    int bits;
    bool is_signed;
    if (pair->n_dtype == TDC_BOOL) {
        make_f64(&pair->n_dtype, pair->n_element);
        make_f64(&pair->b_dtype, pair->b_element);
    } else if (pair->b_dtype == TDC_BOOL) {
        bool truth = pair->b_element[0] != 0;
        memset(pair->b_element, 0, sizeof pair->b_element);
        pair->b_element[0] = truth; /* little-endian */
        pair->b_dtype = integer_type(pair->n_dtype, &bits, &is_signed) ? pair->n_dtype : TDC_I8;
    }
}

void tdc_compat_zero_d(const struct tdc_outcome *outcome, enum tdc_relative_rule rule,
                       double *max_abs, double *max_rel)
{
    struct tdc_outcome plain = *outcome;
    /* numbers stored as text were gathered as float64 */
    if (plain.n_dtype == TDC_TEXT)
        plain.n_dtype = TDC_F64;
    if (plain.b_dtype == TDC_TEXT)
        plain.b_dtype = TDC_F64;
    promote_bool(&plain);
    if (!integer_difference(&plain, max_abs))
        *max_abs = float_difference(&plain);
    *max_rel = relative_error(&plain, rule == TDC_RELATIVE_PROMOTED);
}
