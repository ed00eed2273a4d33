/*
 * pair_values.h - tensors that are hard on kernels, the same on every machine: no expression calls
 * a random function twice, as the order would be the compiler's choice.
 */
#ifndef TDC_TESTS_PAIR_VALUES_H
#define TDC_TESTS_PAIR_VALUES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/pair.h"
#include "reference/oracle/pair_reference.h"

enum flavour {
    FLAVOUR_NEAR,      /* n a little off b */
    FLAVOUR_BITS,      /* any bit pattern */
    FLAVOUR_SPARSE,    /* zeros of both signs, equal values, zeros on one side */
    FLAVOUR_LIMITS,    /* relative errors on the limits and a few units beside them */
    FLAVOUR_RANGE,     /* very large against very small */
    FLAVOUR_TINY,      /* a few of the smallest f32 numbers, beside some ordinary ones */
    FLAVOUR_NONFINITE, /* near, with NaN and infinity here and there */
    FLAVOURS
};

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1du;
}

static inline double random_unit(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

static inline size_t random_below(size_t bound)
{
    return (size_t)(random_bits() >> 20) % bound;
}

static inline double random_sign(void)
{
    return random_below(2) ? 1 : -1;
}

/* Of either sign, below 2^(low + bound - 2) and about as often near any power of two. */
static inline double random_scaled(int low, size_t bound)
{
    double fraction = random_unit() - 0.5;
    return fraction * ldexp(1, low + (int)random_below(bound));
}

/* The largest magnitude not above |value| in a format whose patterns rise with the magnitude. */
static inline unsigned encode_small(tdc_dtype dtype, double value, unsigned sign, unsigned largest)
{
    unsigned low = 0, high = largest;
    while (low < high) {
        unsigned middle = (low + high + 1) / 2;
        uint16_t bits = (uint16_t)middle;
        double imaginary;
        if (tdc_reference_value(dtype, &bits, &imaginary) <= fabs(value))
            low = middle;
        else
            high = middle - 1;
    }
    return signbit(value) ? low | sign : low;
}

static inline void encode_f80(double value, unsigned char *to)
{
    int exponent = 0;
    uint64_t mantissa = 0;
    uint16_t head = 0;
    if (isnan(value) || isinf(value)) {
        mantissa = isnan(value) ? 0xc000000000000000u : 0x8000000000000000u;
        head = 0x7fff;
    } else if (value != 0) {
        mantissa = (uint64_t)ldexp(fabs(frexp(value, &exponent)), 64);
        head = (uint16_t)(exponent - 1 + 16383);
    }
    head = (uint16_t)(head | (signbit(value) ? 0x8000 : 0));
    memcpy(to, &mantissa, 8);
    memcpy(to + 8, &head, 2);
    memset(to + 10, 0xa5, 6); /* padding bytes mean nothing */
}

static inline double clamp(double value, double low, double high)
{
    return value != value ? 0 : value < low ? low : value > high ? high : value;
}

#define STORE(type, value)                                                                         \
    do {                                                                                           \
        type stored = (type)(value);                                                               \
        memcpy(to, &stored, sizeof stored);                                                        \
    } while (0)

static inline void encode_float(tdc_dtype dtype, double value, double imaginary, unsigned char *to)
{
    bool is_nan = isnan(value), is_inf = isinf(value);
    switch (dtype) {
    case TDC_F8_E4M3:
        STORE(uint8_t, is_nan || is_inf ? 0x7f : encode_small(dtype, value, 0x80, 0x7e));
        break;
    case TDC_F8_E5M2:
        STORE(uint8_t, is_nan ? 0x7e : encode_small(dtype, value, 0x80, is_inf ? 0x7c : 0x7b));
        break;
    case TDC_F16:
        STORE(uint16_t,
              is_nan ? 0x7e01 : encode_small(dtype, value, 0x8000, is_inf ? 0x7c00 : 0x7bff));
        break;
    case TDC_BF16: {
        float single = (float)value;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        STORE(uint16_t, bits >> 16);
        break;
    }
    case TDC_F32:
        STORE(float, value);
        break;
    case TDC_F80:
        encode_f80(value, to);
        break;
    case TDC_C64: {
        float parts[2] = {(float)value, (float)imaginary};
        memcpy(to, parts, sizeof parts);
        break;
    }
    case TDC_C128: {
        double parts[2] = {value, imaginary};
        memcpy(to, parts, sizeof parts);
        break;
    }
    default:
        STORE(double, value);
        break;
    }
}

static inline void encode(tdc_dtype dtype, double value, double imaginary, unsigned char *to)
{
    switch (dtype) {
    case TDC_BOOL:
        STORE(uint8_t, fabs(value) >= 1 ? 1 + random_below(255) : 0);
        break;
    case TDC_I8:
        STORE(int8_t, clamp(value, -128, 127));
        break;
    case TDC_I16:
        STORE(int16_t, clamp(value, -32768, 32767));
        break;
    case TDC_I32:
        STORE(int32_t, clamp(value, -0x1p31, 0x1p31 - 1));
        break;
    case TDC_I64:
        STORE(int64_t, clamp(value, -0x1p63, 0x1.fffffffffffffp62));
        break;
    case TDC_U8:
        STORE(uint8_t, clamp(fabs(value), 0, 255));
        break;
    case TDC_U16:
        STORE(uint16_t, clamp(fabs(value), 0, 65535));
        break;
    case TDC_U32:
        STORE(uint32_t, clamp(fabs(value), 0, 0x1p32 - 1));
        break;
    case TDC_U64:
        STORE(uint64_t, clamp(fabs(value), 0, 0x1.fffffffffffffp63));
        break;
    default:
        encode_float(dtype, value, imaginary, to);
        break;
    }
}

static inline double random_special(void)
{
    static const double special[] = {NAN, INFINITY, -INFINITY};
    return special[random_below(3)];
}

static inline void draw_sparse(double *n, double *b)
{
    static const double values[] = {0.0, -0.0, 1, -1, 200, 0x1p-149, 0x1p-24, 0x1p-52, -0x1p-52};
    *b = values[random_below(9)];
    *n = random_below(2) ? *b : values[random_below(9)];
}

static inline void draw_limits(double *n, double *b)
{
    static const double inverse[] = {1000, 200, 100, 10, 1, 2};
    double sign = random_sign();
    float base = (float)(sign * (double)(1 + random_below(1 << 24)));
    if (random_below(4) == 0)
        base = (float)(1000 * (1 + (int)random_below(60)));
    sign = random_sign();
    float other = (float)((double)base * (1 + sign / inverse[random_below(6)]));
    for (size_t steps = random_below(4); steps > 0; steps--)
        other = nextafterf(other, random_below(2) ? INFINITY : -INFINITY);
    *b = (double)base;
    *n = (double)other;
}

static inline void draw(enum flavour flavour, double *n, double *b)
{
    *b = random_scaled(0, 14);
    double off = random_unit();
    *n = *b * (1 + off * off * off * (random_below(2) ? 0.2 : -0.2));
    if (flavour == FLAVOUR_SPARSE)
        draw_sparse(n, b);
    if (flavour == FLAVOUR_LIMITS)
        draw_limits(n, b);
    if (flavour == FLAVOUR_RANGE) {
        *n = random_scaled(-1074, 2090);
        *b = random_scaled(-150, 280);
        if (random_below(2))
            *n = *b * (1 + random_unit());
        if (random_below(8) == 0)
            *n = -*b;
    }
    if (flavour == FLAVOUR_TINY && random_below(50)) {
        *n = ((double)random_below(80) - 20) * 0x1p-149;
        *b = ((double)random_below(80) - 20) * 0x1p-149;
    }
    if (flavour == FLAVOUR_NONFINITE && random_below(40) == 0) {
        *n = random_special();
        *b = random_below(3) ? *n : random_below(2) ? random_special() : 1;
        if (random_below(6) == 0)
            *n = 2;
    }
}

static inline void fill_pair(enum flavour flavour, tdc_dtype n_dtype, void *n, tdc_dtype b_dtype,
                             void *b, size_t count)
{
    size_t n_size = tdc_dtype_size(n_dtype), b_size = tdc_dtype_size(b_dtype);
    for (size_t i = 0; i < count; i++) {
        unsigned char *n_at = (unsigned char *)n + i * n_size;
        unsigned char *b_at = (unsigned char *)b + i * b_size;
        double n_re, b_re, n_im, b_im;
        draw(flavour, &n_re, &b_re);
        draw(flavour, &n_im, &b_im);
        encode(n_dtype, n_re, n_im, n_at);
        encode(b_dtype, b_re, b_im, b_at);
        if (flavour != FLAVOUR_BITS)
            continue;
        for (size_t k = 0; k < n_size; k++)
            n_at[k] = (unsigned char)random_bits();
        for (size_t k = 0; k < b_size; k++)
            b_at[k] = (unsigned char)random_bits();
        if (n_dtype == b_dtype && random_below(8) == 0)
            memcpy(n_at, b_at, n_size);
    }
}

#endif
