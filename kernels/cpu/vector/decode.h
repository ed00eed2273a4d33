/*
 * decode.h - the value of one element, in expressions a compiler can turn into vector code.
 *
 * Every function but decode_f80 is free of branches and exact (64-bit integers round once, to
 * nearest even). None multiplies a subnormal number: that would trap to microcode on some CPUs.
 */
#ifndef TDC_KERNELS_CPU_VECTOR_DECODE_H
#define TDC_KERNELS_CPU_VECTOR_DECODE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float bits_to_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t f32_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double bits_to_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t f64_to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float decode_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
    uint32_t normal = magnitude + (112u << 23);
    /* The leading 1 that this adds is taken off again by an exact subtraction. */
    uint32_t subnormal = f32_to_bits(bits_to_f32(magnitude + (113u << 23)) - 0x1p-14f);
    uint32_t not_finite = magnitude + (224u << 23);
    uint32_t value = magnitude < (1u << 23) ? subnormal : normal;
    value = magnitude >= (31u << 23) ? not_finite : value;
    return bits_to_f32(value | sign);
}

static inline float decode_bf16(uint16_t bits)
{
    return bits_to_f32((uint32_t)bits << 16);
}

/* float8_e4m3fn: bias 7, no infinity */
static inline float decode_f8_e4m3(uint8_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x80u) << 24;
    uint32_t magnitude = (uint32_t)(bits & 0x7fu) << 20;
    uint32_t normal = magnitude + (120u << 23);
    uint32_t subnormal = f32_to_bits(bits_to_f32(magnitude + (121u << 23)) - 0x1p-6f);
    uint32_t value = magnitude < (1u << 23) ? subnormal : normal;
    value = magnitude == (0x7fu << 20) ? 0x7fc00000u : value;
    return bits_to_f32(value | sign);
}

/* float8_e5m2 is the upper half of a float16. */
static inline float decode_f8_e5m2(uint8_t bits)
{
    return decode_f16((uint16_t)(bits << 8));
}

/* Both halves are exact, their sum rounds once. */
static inline double decode_u64(uint64_t value)
{
    double upper = bits_to_f64((value >> 32) | 0x4530000000000000u) - 0x1p84;
    double lower = bits_to_f64((value & 0xffffffffu) | 0x4330000000000000u) - 0x1p52;
    return upper + lower;
}

/* The upper half is biased by 2^31 to make it unsigned. */
static inline double decode_i64(int64_t value)
{
    uint64_t biased = (uint64_t)value ^ 0x8000000000000000u;
    double upper = bits_to_f64((biased >> 32) | 0x4530000000000000u) - (0x1p84 + 0x1p63);
    double lower = bits_to_f64((biased & 0xffffffffu) | 0x4330000000000000u) - 0x1p52;
    return upper + lower;
}

/*
 * x87 extended, rounded once. Encodings the x87 refuses (integer bit clear on a normal number,
 * an infinity or a NaN) are NaN, as they are for it. Beyond float64 the value is infinite.
 */
static inline double decode_f80(const void *element)
{
    uint64_t mantissa;
    uint16_t head;
    memcpy(&mantissa, element, sizeof mantissa);
    memcpy(&head, (const char *)element + sizeof mantissa, sizeof head);
    int exponent = head & 0x7fff;
    double value;
    if (exponent != 0 && !(mantissa >> 63))
        value = NAN;
    else if (exponent == 0x7fff)
        value = mantissa << 1 ? NAN : INFINITY;
    else
        /* long double holds 64 bits and this range wherever it is wider than double. */
        value = (double)ldexpl((long double)mantissa, (exponent ? exponent : 1) - 16383 - 63);
    return head >> 15 ? -value : value;
}

/*
 * A magnitude (or NaN) to the nearest half, ties to even. Adding 2^13 times the power of two at or
 * below it leaves 11 digits, or those above 2^-24 where halves are subnormal, and lets the hardware
 * round; subtracting it again is exact.
 */
static inline float round_magnitude_to_f16(float magnitude)
{
    uint32_t power = f32_to_bits(magnitude) & 0x7f800000u;
    power = power < 0x38800000u ? 0x38800000u : power; /* 2^-14 */
    power = power > 0x48000000u ? 0x48000000u : power; /* 2^17: infinite as a half anyway */
    float shift = bits_to_f32(power + (13u << 23));
    float rounded = (magnitude + shift) - shift;
    /* From 2^16 on this overflows to infinity. A comparison instead keeps GCC 12 from vectorising.
     */
    return rounded * 0x1p112f * 0x1p-112f;
}

static inline float round_to_f16(float value)
{
    uint32_t sign = f32_to_bits(value) & 0x80000000u;
    return bits_to_f32(f32_to_bits(round_magnitude_to_f16(fabsf(value))) | sign);
}

#endif
