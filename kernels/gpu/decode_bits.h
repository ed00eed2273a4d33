/*
 * decode_bits.h - the value of one element, by whole numbers and float64 alone.
 *
 * A device may flush subnormal numbers of float32, or divide them inexactly; float64 it must not.
 * So nothing here is a float32. Where the code of the dtype is a constant, all decisions are taken
 * by the compiler.
 */
#ifndef TDC_GPU_DECODE_BITS_H
#define TDC_GPU_DECODE_BITS_H

#define GPU_INFINITY_BITS 0x7ff0000000000000ul
#define GPU_SIGN_BIT      0x8000000000000000ul

struct gpu_value {
    double re, im;
    gpu_u64 whole;  /* the bits of an integer, extended by its sign */
    gpu_u32 beyond; /* re is rounded */
};

/* 2^exponent, of a normal number. */
GPU_INLINE double gpu_power(int exponent)
{
    return GPU_AS_DOUBLE((gpu_u64)(exponent + 1023) << 52);
}

/* Both halves are exact, their sum rounds once. */
GPU_INLINE double gpu_from_unsigned(gpu_u64 value)
{
    double upper =
        GPU_AS_DOUBLE((value >> 32) | 0x4530000000000000ul) - GPU_AS_DOUBLE(0x4530000000000000ul);
    double lower = GPU_AS_DOUBLE((value & 0xfffffffful) | 0x4330000000000000ul) -
                   GPU_AS_DOUBLE(0x4330000000000000ul);
    return upper + lower;
}

GPU_INLINE double gpu_from_signed(gpu_u64 value)
{
    return value >> 63 ? -gpu_from_unsigned(0ul - value) : gpu_from_unsigned(value);
}

/* Whether it has more than 53 digits. */
GPU_INLINE gpu_u32 gpu_is_beyond(gpu_u64 magnitude)
{
    gpu_u64 lowest = magnitude & (0ul - magnitude);
    return magnitude != 0ul && (magnitude >> 53) >= lowest ? 1u : 0u;
}

/* Any IEEE number of up to 64 bits. */
GPU_INLINE double gpu_from_float(gpu_u64 bits, gpu_u32 digits, gpu_u32 exponent_bits, gpu_u32 fn)
{
    if (digits == 52u)
        return GPU_AS_DOUBLE(bits);
    int bias = (1 << (exponent_bits - 1u)) - 1;
    gpu_u64 magnitude = bits & ((1ul << (digits + exponent_bits)) - 1ul);
    gpu_u64 sign = (bits >> (digits + exponent_bits) & 1ul) << 63;
    gpu_u64 exponent = magnitude >> digits, highest = (1ul << exponent_bits) - 1ul;
    gpu_u64 shifted = magnitude << (52u - digits);
    gpu_u64 normal = shifted + ((gpu_u64)(1023 - bias) << 52);
    gpu_u64 odd = shifted | GPU_INFINITY_BITS;
    if (fn != 0u) {
        odd =
            magnitude == ((1ul << (digits + exponent_bits)) - 1ul) ? 0x7ff8000000000000ul : normal;
    }
    gpu_u64 value = exponent == highest ? odd : normal;
    if (exponent == 0ul) /* exact: few digits times a power of two */
        value = GPU_AS_BITS(gpu_from_unsigned(magnitude) * gpu_power(1 - bias - (int)digits));
    return GPU_AS_DOUBLE(value | sign);
}

/* x87 extended, rounded once; what the x87 refuses is NaN. */
GPU_INLINE double gpu_from_f80(gpu_u64 mantissa, gpu_u64 head, gpu_u32 *beyond)
{
    gpu_u64 sign = (head >> 15 & 1ul) << 63;
    int exponent = (int)(head & 0x7ffful);
    gpu_u64 value;
    *beyond = 0u;
    if (exponent != 0 && (mantissa >> 63) == 0ul) {
        value = 0x7ff8000000000000ul;
    } else if (exponent == 0x7fff) {
        value = mantissa << 1 != 0ul ? 0x7ff8000000000000ul : GPU_INFINITY_BITS;
    } else if (exponent == 0) {
        *beyond = mantissa != 0ul ? 1u : 0u;
        value = 0ul;
    } else if (exponent - 16383 > 1023) {
        *beyond = 1u;
        value = GPU_INFINITY_BITS;
    } else {
        int power = exponent - 16383, lost = power < -1022 ? 11 + (-1022 - power) : 11;
        gpu_u64 kept = lost < 64 ? mantissa >> lost : 0ul;
        gpu_u64 rest = lost < 64 ? mantissa & ((1ul << lost) - 1ul) : mantissa;
        gpu_u64 half_unit = lost <= 64 ? 1ul << (lost - 1) : 0ul;
        gpu_u64 up = lost <= 64 && (rest > half_unit || (rest == half_unit && (kept & 1ul) != 0ul))
                         ? 1ul
                         : 0ul;
        /* the leading digit, if it is there, counts as one of the exponent */
        value = kept + (power < -1022 ? 0ul : (gpu_u64)(power + 1022) << 52) + up;
        *beyond = rest != 0ul ? 1u : 0u;
    }
    return GPU_AS_DOUBLE(value | sign);
}

/* `size` bytes as a number; dense elements are aligned. */
GPU_INLINE gpu_u64 gpu_raw(GPU_GLOBAL const gpu_u8 *side, gpu_u64 at, gpu_u32 size)
{
    if (size == 1u)
        return side[at];
    if (size == 2u)
        return ((GPU_GLOBAL const gpu_u16 *)side)[at];
    if (size == 4u)
        return ((GPU_GLOBAL const gpu_u32 *)side)[at];
    return ((GPU_GLOBAL const gpu_u64 *)side)[at];
}

GPU_INLINE struct gpu_value gpu_element(GPU_GLOBAL const gpu_u8 *side, gpu_u64 at, gpu_u32 code)
{
    struct gpu_value value;
    gpu_u32 kind = GPU_CODE_KIND(code), size = GPU_CODE_SIZE(code);
    gpu_u32 digits = GPU_CODE_DIGITS(code), exponent = GPU_CODE_EXPONENT(code);
    value.im = 0.0;
    value.whole = 0ul;
    value.beyond = 0u;
    if (kind == GPU_KIND_COMPLEX) {
        gpu_u32 half_size = size / 2u;
        value.re = gpu_from_float(gpu_raw(side, 2ul * at, half_size), digits, exponent, 0u);
        value.im = gpu_from_float(gpu_raw(side, 2ul * at + 1ul, half_size), digits, exponent, 0u);
    } else if (kind == GPU_KIND_F80) {
        value.re = gpu_from_f80(gpu_raw(side, 2ul * at, 8u), gpu_raw(side, 2ul * at + 1ul, 8u),
                                &value.beyond);
    } else if (kind == GPU_KIND_FLOAT || kind == GPU_KIND_FLOAT_FN) {
        value.re = gpu_from_float(gpu_raw(side, at, size), digits, exponent,
                                  kind == GPU_KIND_FLOAT_FN ? 1u : 0u);
    } else {
        gpu_u64 whole = gpu_raw(side, at, size);
        if (kind == GPU_KIND_TRUTH)
            whole = whole != 0ul ? 1ul : 0ul;
        if (kind == GPU_KIND_SIGNED) {
            gpu_u64 sign = 1ul << (8u * size - 1u);
            whole = (whole ^ sign) - sign;
            value.re = gpu_from_signed(whole);
            value.beyond = gpu_is_beyond(whole >> 63 ? 0ul - whole : whole);
        } else {
            value.re = gpu_from_unsigned(whole);
            value.beyond = gpu_is_beyond(whole);
        }
        value.whole = whole;
    }
    return value;
}

#endif
