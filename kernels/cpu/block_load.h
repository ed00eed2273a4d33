/*
 * block_load.h - a block of either tensor as f32 or f64 numbers.
 *
 * A block that is already of the wanted type and needs no padding is used where it lies; any other
 * is converted into a buffer of BLOCK numbers and padded with zeros to a multiple of PADDING.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_LOAD_H
#define TDC_KERNELS_CPU_BLOCK_LOAD_H

#include "kernels/cpu/vector/vector.h"
#include "kernels/pair.h"

static inline size_t padded_count(size_t count)
{
    return (count + PADDING - 1) & ~(size_t)(PADDING - 1);
}

#define CONVERT(type, expression)                                                                  \
    do {                                                                                           \
        const type *from = source;                                                                 \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++) to[i] = (expression);               \
    } while (0)

#if HAS_SMALL_FLOATS
#define CONVERT_SMALL(load, decode)                                                                \
    do {                                                                                           \
        const u16_unaligned *from = source;                                                        \
        size_t i = 0;                                                                              \
        for (; i + F32_LANES <= count; i += F32_LANES)                                             \
            f32_store(to + i, load(from + i));                                                     \
        for (; i < count; i++)                                                                     \
            to[i] = decode(from[i]);                                                               \
    } while (0)
#else
#define CONVERT_SMALL(load, decode) CONVERT(u16_unaligned, decode(from[i]))
#endif

/* Where there is an instruction for it, the compilers need not find it. */
#if defined(__AVX512DQ__) || defined(__aarch64__)
#define CONVERT_WIDE(type, decode) CONVERT(type, (double)from[i])
#else
#define CONVERT_WIDE(type, decode) CONVERT(type, decode(from[i]))
#endif

#if HAS_SMALL_FLOATS
/* By way of f16, for which there is an instruction: an e5m2 number is the upper half of one, an
 * e4m3 number 2^8 times one whose exponent has a bit more. */
static void convert_f8(bool e4m3, const uint8_t *from, size_t count, float *restrict to)
{
    uint16_t halves[BLOCK] __attribute__((aligned(64)));
    f32v scale = f32_splat(e4m3 ? 256 : 1);
    size_t i = 0;
    if (e4m3) {
#pragma omp simd
        for (size_t k = 0; k < count; k++) {
            uint32_t magnitude = from[k] & 0x7fu, sign = (from[k] & 0x80u) << 8;
            halves[k] = (uint16_t)((magnitude == 0x7f ? 0x7e00u : magnitude << 7) | sign);
        }
    } else {
#pragma omp simd
        for (size_t k = 0; k < count; k++)
            halves[k] = (uint16_t)(from[k] << 8);
    }
    for (; i + F32_LANES <= count; i += F32_LANES)
        f32_store(to + i, f32_load_f16(halves + i) * scale);
    for (; i < count; i++)
        to[i] = e4m3 ? decode_f8_e4m3(from[i]) : decode_f8_e5m2(from[i]);
}
#define CONVERT_F8(e4m3, decode) convert_f8(e4m3, source, count, to)
#else
#define CONVERT_F8(e4m3, decode) CONVERT(uint8_t, decode(from[i]))
#endif

/* For the dtypes whose every value is an f32 number. */
static void convert_f32(tdc_dtype dtype, const void *source, size_t count, float *restrict to)
{
    switch (dtype) {
    case TDC_BOOL:
        CONVERT(uint8_t, from[i] != 0 ? 1.0f : 0.0f);
        break;
    case TDC_I8:
        CONVERT(int8_t, (float)from[i]);
        break;
    case TDC_I16:
        CONVERT(i16_unaligned, (float)from[i]);
        break;
    case TDC_U8:
        CONVERT(uint8_t, (float)from[i]);
        break;
    case TDC_U16:
        CONVERT(u16_unaligned, (float)from[i]);
        break;
    case TDC_F8_E4M3:
        CONVERT_F8(true, decode_f8_e4m3);
        break;
    case TDC_F8_E5M2:
        CONVERT_F8(false, decode_f8_e5m2);
        break;
    case TDC_F16:
        CONVERT_SMALL(f32_load_f16, decode_f16);
        break;
    case TDC_BF16:
        CONVERT_SMALL(f32_load_bf16, decode_bf16);
        break;
    default:
        memcpy(to, source, count * sizeof(float));
        break;
    }
}

static void convert_f64(tdc_dtype dtype, const void *source, size_t count, double *restrict to)
{
    switch (dtype) {
    case TDC_I32:
        CONVERT(i32_unaligned, (double)from[i]);
        break;
    case TDC_U32:
        CONVERT(u32_unaligned, (double)from[i]);
        break;
    case TDC_I64:
        CONVERT_WIDE(i64_unaligned, decode_i64);
        break;
    case TDC_U64:
        CONVERT_WIDE(u64_unaligned, decode_u64);
        break;
    case TDC_F64:
        memcpy(to, source, count * sizeof(double));
        break;
    case TDC_F80:
        for (size_t i = 0; i < count; i++)
            to[i] = decode_f80((const char *)source + 16 * i);
        break;
    case TDC_C64:
        CONVERT(f32_unaligned, (double)from[2 * i]);
        break;
    case TDC_C128:
        CONVERT(f64_unaligned, from[2 * i]);
        break;
    default: {
        float narrow[BLOCK] __attribute__((aligned(64)));
        convert_f32(dtype, source, count, narrow);
        for (size_t i = 0; i < count; i++)
            to[i] = (double)narrow[i];
        break;
    }
    }
}

static void convert_imaginary(tdc_dtype dtype, const void *source, size_t count,
                              double *restrict to)
{
    if (dtype == TDC_C64)
        CONVERT(f32_unaligned, (double)from[2 * i + 1]);
    else if (dtype == TDC_C128)
        CONVERT(f64_unaligned, from[2 * i + 1]);
    else
        memset(to, 0, count * sizeof *to);
}

/* 64 bits of a whole number; U64 as it is, every other dtype in two's complement. */
static void convert_integer(tdc_dtype dtype, const void *source, size_t count,
                            uint64_t *restrict to)
{
    if (dtype == TDC_I64 || dtype == TDC_U64) {
        memcpy(to, source, count * sizeof *to);
        return;
    }
    double narrow[BLOCK] __attribute__((aligned(64)));
    convert_f64(dtype, source, count, narrow);
    for (size_t i = 0; i < count; i++)
        to[i] = (uint64_t)(int64_t)narrow[i];
}

#undef CONVERT
#undef CONVERT_SMALL
#undef CONVERT_F8
#undef CONVERT_WIDE

static inline void pad_f32(float *buffer, size_t count, float value)
{
    for (size_t i = count; i < padded_count(count); i++)
        buffer[i] = value;
}

static inline void pad_f64(double *buffer, size_t count, double value)
{
    for (size_t i = count; i < padded_count(count); i++)
        buffer[i] = value;
}

static const f32_unaligned *load_f32(tdc_dtype dtype, const void *source, size_t count,
                                     float *buffer)
{
    if (dtype == TDC_F32 && count % PADDING == 0)
        return source;
    convert_f32(dtype, source, count, buffer);
    pad_f32(buffer, count, 0);
    return buffer;
}

static const f64_unaligned *load_f64(tdc_dtype dtype, const void *source, size_t count,
                                     double *buffer)
{
    if (dtype == TDC_F64 && count % PADDING == 0)
        return source;
    convert_f64(dtype, source, count, buffer);
    pad_f64(buffer, count, 0);
    return buffer;
}

#endif
