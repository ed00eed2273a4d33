/*
 * bytes.h - a block of pairs of bytes, i8, u8 or bool, as integers: what pair_impl_byte.h is made
 * of. Written for AVX2 and used with AVX-512, too: the loop waits for the shorter vectors' units
 * either way.
 */
#ifndef TDC_KERNELS_CPU_VECTOR_BYTES_H
#define TDC_KERNELS_CPU_VECTOR_BYTES_H

#include <immintrin.h>

#include "kernels/cpu/vector/vector.h"

enum byte_kind {
    BYTE_SIGNED,
    BYTE_UNSIGNED,
    BYTE_TRUTH /* 0 or not */
};

/* A whole block, all exact. */
struct byte_view {
    int64_t nb, nn, bb, abs;
    unsigned distance;    /* highest |n-b| */
    unsigned beyond_zero; /* highest |n| where b is 0 */
    bool rises;           /* |n-b| / |b| may be above the ratio somewhere, b of 0 counting as 1 */
    size_t reached[4];    /* pairs with |n-b| not 0 and k |n-b| >= |b|, k = 1000, 200, 100, 10 */
};

#define BYTE_STEP 32

/* The sum of lanes of 32 bits, none negative in all. */
static inline int64_t byte_total(__m256i lanes)
{
    int32_t parts[8];
    int64_t total = 0;
    memcpy(parts, &lanes, sizeof parts);
    for (size_t i = 0; i < 8; i++)
        total += parts[i];
    return total;
}

static inline unsigned byte_highest(__m256i bytes)
{
    uint8_t parts[32];
    unsigned highest = 0;
    memcpy(parts, &bytes, sizeof parts);
    for (size_t i = 0; i < 32; i++)
        highest = parts[i] > highest ? parts[i] : highest;
    return highest;
}

/* The sum of bytes that are no more than BLOCK / BYTE_STEP. */
static inline size_t byte_count(__m256i bytes)
{
    return (size_t)byte_total(_mm256_sad_epu8(bytes, _mm256_setzero_si256()));
}

ALWAYS_INLINE __m256i byte_load(enum byte_kind kind, const uint8_t *from)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)from);
    return kind == BYTE_TRUTH ? _mm256_min_epu8(bytes, _mm256_set1_epi8(1)) : bytes;
}

/* Sixteen of them. */
ALWAYS_INLINE __m256i byte_widen(enum byte_kind kind, __m256i bytes, int half)
{
    __m128i part = half ? _mm256_extracti128_si256(bytes, 1) : _mm256_castsi256_si128(bytes);
    return kind == BYTE_SIGNED ? _mm256_cvtepi8_epi16(part) : _mm256_cvtepu8_epi16(part);
}

/*
 * A ratio to compare |n-b| / |b| with: factor 2^(shift - 16), rounded down; below 1 the shift is 0.
 * It was one of such bytes. If another is above it, then by 1/255 at least, so that products with
 * 2^8 differ by more than `margin` even if they are rounded.
 */
struct byte_ratio {
    __m256i factor, margin; /* lanes of 16 */
    __m128i shift;
};

static inline struct byte_ratio byte_ratio_of(double ratio)
{
    int shift = 0;
    while (shift < 8 && ratio >= (double)(1 << shift))
        shift++;
    double factor = ratio * (double)(1 << (16 - shift));
    return (struct byte_ratio){
        _mm256_set1_epi16((int16_t)(uint16_t)(factor < 65535 ? factor : 65535)),
        _mm256_set1_epi16(shift == 0 ? 1 : 0),
        _mm_cvtsi32_si128(shift),
    };
}

ALWAYS_INLINE __m256i byte_excess_of(__m256i d, __m256i modulus, const struct byte_ratio *ratio)
{
    __m256i bound = _mm256_add_epi16(_mm256_mulhi_epu16(modulus, ratio->factor), ratio->margin);
    return _mm256_subs_epu16(_mm256_srl_epi16(d, ratio->shift), bound);
}

/* Lanes of 16 that are not 0 if |n-b| / |b| may be above the ratio. */
ALWAYS_INLINE __m256i byte_excess(__m256i d, __m256i modulus, const struct byte_ratio *ratio)
{
    const __m256i zero = _mm256_setzero_si256();
    return _mm256_or_si256(
        byte_excess_of(_mm256_unpacklo_epi8(zero, d), _mm256_unpacklo_epi8(zero, modulus), ratio),
        byte_excess_of(_mm256_unpackhi_epi8(zero, d), _mm256_unpackhi_epi8(zero, modulus), ratio));
}

/* What is reached of the limits: 1/k is if |n-b| is above (|b| - 1) / k rounded down, or 0 where b
 * is 0; that of k = 10 by ten times |n-b|, at most 255. */
ALWAYS_INLINE void byte_limits(__m256i d, __m256i modulus, __m256i missed[4])
{
    const __m256i one = _mm256_set1_epi8(1), zero = _mm256_setzero_si256();
    __m256i above_200 =
        _mm256_min_epu8(_mm256_subs_epu8(modulus, _mm256_set1_epi8((char)200)), one);
    __m256i above_100 = _mm256_min_epu8(_mm256_subs_epu8(modulus, _mm256_set1_epi8(100)), one);
    __m256i least_100 = _mm256_add_epi8(above_100, above_200);
    __m256i twice = _mm256_adds_epu8(d, d), four = _mm256_adds_epu8(twice, twice);
    __m256i ten = _mm256_adds_epu8(_mm256_adds_epu8(four, four), twice);
    const __m256i misses[4] = {
        _mm256_cmpeq_epi8(d, zero),
        _mm256_cmpeq_epi8(_mm256_subs_epu8(d, above_200), zero),
        _mm256_cmpeq_epi8(_mm256_subs_epu8(d, least_100), zero),
        /* the largest of both is |b| only if it is above: 0 counts as 1 */
        _mm256_cmpeq_epi8(_mm256_subs_epu8(_mm256_max_epu8(modulus, one), ten), zero),
    };
    missed[0] = _mm256_sub_epi8(missed[0], misses[0]);
    missed[1] = _mm256_sub_epi8(missed[1], misses[1]);
    missed[2] = _mm256_sub_epi8(missed[2], misses[2]);
    missed[3] = _mm256_sub_epi8(missed[3], misses[3]); /* of this one: reached */
}

ALWAYS_INLINE void byte_relate(enum byte_kind kind, const uint8_t *n, const uint8_t *b,
                               uintptr_t n_ahead, uintptr_t b_ahead, const struct byte_ratio *ratio,
                               struct byte_view *view)
{
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
    const __m256i flip = _mm256_set1_epi8(kind == BYTE_SIGNED ? -128 : 0);
    __m256i nb = zero, nn = zero, bb = zero, abs = zero, top = zero, bare = zero, excess = zero;
    __m256i missed[4] = {zero, zero, zero, zero};
    for (size_t i = 0; i < BLOCK; i += BYTE_STEP) {
        __builtin_prefetch((const void *)(n_ahead + i));
        __builtin_prefetch((const void *)(b_ahead + i));
        __m256i x = byte_load(kind, n + i), y = byte_load(kind, b + i);
        for (int half = 0; half < 2; half++) {
            __m256i p = byte_widen(kind, x, half), q = byte_widen(kind, y, half);
            nb = _mm256_add_epi32(nb, _mm256_madd_epi16(p, q));
            nn = _mm256_add_epi32(nn, _mm256_madd_epi16(p, p));
            bb = _mm256_add_epi32(bb, _mm256_madd_epi16(q, q));
        }
        __m256i u = _mm256_xor_si256(x, flip), v = _mm256_xor_si256(y, flip);
        __m256i d = _mm256_sub_epi8(_mm256_max_epu8(u, v), _mm256_min_epu8(u, v));
        __m256i modulus = kind == BYTE_SIGNED ? _mm256_abs_epi8(y) : y;
        abs = _mm256_add_epi32(abs, _mm256_sad_epu8(d, zero));
        top = _mm256_max_epu8(top, d);
        bare = _mm256_max_epu8(bare, _mm256_and_si256(_mm256_cmpeq_epi8(y, zero), d));
        byte_limits(d, modulus, missed);
        excess = _mm256_or_si256(excess, byte_excess(d, _mm256_max_epu8(modulus, one), ratio));
    }
    *view = (struct byte_view){
        .nb = byte_total(nb),
        .nn = byte_total(nn),
        .bb = byte_total(bb),
        .abs = byte_total(abs),
        .distance = byte_highest(top),
        .beyond_zero = byte_highest(bare),
        .rises = !_mm256_testz_si256(excess, excess),
        .reached = {BLOCK - byte_count(missed[0]), BLOCK - byte_count(missed[1]),
                    BLOCK - byte_count(missed[2]), byte_count(missed[3])},
    };
}

#endif
