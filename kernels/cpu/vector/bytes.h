/*
 * bytes.h - a block of pairs of bytes, i8, u8 or bool, as integers: what pair_impl_small.h is made
 * of. Written for AVX2 and used with AVX-512, too: the loops wait for the shorter vectors' units
 * either way. Sums and the rest have a loop each, or there would not be registers for all.
 */
#ifndef TDC_KERNELS_CPU_VECTOR_BYTES_H
#define TDC_KERNELS_CPU_VECTOR_BYTES_H

#include <immintrin.h>

#include "kernels/cpu/vector/vector.h"

/* What is seen of a block, all exact. */
struct small_view {
    int64_t nb, nn, bb, abs;
    unsigned distance;    /* highest |n-b| */
    unsigned beyond_zero; /* highest |n| where b is 0 */
    bool rises;           /* |n-b| / |b|, or 1 where b alone is 0, may be above the ratio */
    size_t reached[4];    /* pairs with |n-b| not 0 and k |n-b| >= |b|, k = 1000, 200, 100, 10 */
};

/*
 * A ratio as a fraction of small whole numbers, so that quotients are compared with it exactly, by
 * multiplication.
 */
struct small_ratio {
    double of;
    int over, under;
};

/*
 * The fraction of whole numbers up to `largest` that `ratio` is when rounded, or else one below it.
 * There is one at most, and it is among the convergents of the ratio. From `highest` on, which no
 * quotient surpasses, it is infinite.
 */
static inline struct small_ratio small_ratio_of(double ratio, int largest, double highest)
{
    if (ratio >= highest)
        return (struct small_ratio){ratio, 1, 0};
    int over = 1, under = 0, over_before = 0, under_before = 1;
    for (double rest = ratio; rest <= (double)largest;) {
        int whole = (int)rest;
        int p = whole * over + over_before, q = whole * under + under_before;
        if (p > largest || q > largest)
            break;
        if ((double)p / (double)q == ratio)
            return (struct small_ratio){ratio, p, q};
        over_before = over;
        under_before = under;
        over = p;
        under = q;
        rest = 1 / (rest - (double)whole);
    }
    under = ratio < 1 ? largest : (int)((double)largest / ratio);
    under = under > 0 ? under : 1;
    double below = ratio * (double)under * (1 - 0x1p-40);
    over = below < (double)largest ? (int)below : largest;
    return (struct small_ratio){ratio, over, under};
}

#define BYTE_STEP 32

/* The sum of lanes of 32 bits. */
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
    __m128i x = _mm_max_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    uint8_t parts[16];
    unsigned highest = 0;
    memcpy(parts, &x, sizeof parts);
    for (size_t i = 0; i < 16; i++)
        highest = parts[i] > highest ? parts[i] : highest;
    return highest;
}

/* The sum of bytes that are no more than BLOCK / BYTE_STEP. */
static inline size_t byte_count(__m256i bytes)
{
    return (size_t)byte_total(_mm256_sad_epu8(bytes, _mm256_setzero_si256()));
}

ALWAYS_INLINE __m256i byte_load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Sixteen of them. */
ALWAYS_INLINE __m256i byte_widen(bool has_sign, const uint8_t *from)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
    return has_sign ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

/* |n-b|, without sign. */
ALWAYS_INLINE __m256i byte_distance(bool has_sign, __m256i x, __m256i y)
{
    return has_sign ? _mm256_sub_epi8(_mm256_max_epi8(x, y), _mm256_min_epi8(x, y))
                    : _mm256_sub_epi8(_mm256_max_epu8(x, y), _mm256_min_epu8(x, y));
}

/* The sums and the highest |n-b|. A block of BLOCK bytes is asked for from the places ahead. */
ALWAYS_INLINE void byte_add(bool has_sign, const uint8_t *n, const uint8_t *b, uintptr_t n_ahead,
                            uintptr_t b_ahead, struct small_view *view)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i nb = zero, nn = zero, bb = zero, abs = zero, top = zero;
    for (size_t i = 0; i < BLOCK; i += BYTE_STEP) {
        if (i % 64 == 0) {
            __builtin_prefetch((const void *)(n_ahead + i));
            __builtin_prefetch((const void *)(b_ahead + i));
        }
        for (size_t half = 0; half < BYTE_STEP; half += 16) {
            __m256i p = byte_widen(has_sign, n + i + half), q = byte_widen(has_sign, b + i + half);
            nb = _mm256_add_epi32(nb, _mm256_madd_epi16(p, q));
            nn = _mm256_add_epi32(nn, _mm256_madd_epi16(p, p));
            bb = _mm256_add_epi32(bb, _mm256_madd_epi16(q, q));
        }
        __m256i d = byte_distance(has_sign, byte_load(n + i), byte_load(b + i));
        abs = _mm256_add_epi32(abs, _mm256_sad_epu8(d, zero));
        top = _mm256_max_epu8(top, d);
    }
    view->nb = byte_total(nb);
    view->nn = byte_total(nn);
    view->bb = byte_total(bb);
    view->abs = byte_total(abs);
    view->distance = byte_highest(top);
}

/*
 * What is reached of the lower limits: 1/k is if |n-b| is above (|b| - 1) / k rounded down, or 0
 * where b is 0; that of k = 10 by ten times |n-b|, at most 255. Without the sign |b| is 128 at
 * most, so that 1/200 is reached where 1/1000 is.
 */
ALWAYS_INLINE void byte_limits(bool has_sign, size_t limits, __m256i d, __m256i modulus,
                               __m256i missed[4])
{
    const __m256i one = _mm256_set1_epi8(1), zero = _mm256_setzero_si256();
    __m256i above_200 = zero;
    missed[0] = _mm256_sub_epi8(missed[0], _mm256_cmpeq_epi8(d, zero));
    if (!has_sign) {
        above_200 = _mm256_min_epu8(_mm256_subs_epu8(modulus, _mm256_set1_epi8((char)200)), one);
        missed[1] =
            _mm256_sub_epi8(missed[1], _mm256_cmpeq_epi8(_mm256_subs_epu8(d, above_200), zero));
    }
    if (limits == 2)
        return;
    __m256i least = _mm256_min_epu8(_mm256_subs_epu8(modulus, _mm256_set1_epi8(100)), one);
    least = has_sign ? least : _mm256_add_epi8(least, above_200);
    missed[2] = _mm256_sub_epi8(missed[2], _mm256_cmpeq_epi8(_mm256_subs_epu8(d, least), zero));
    __m256i twice = _mm256_adds_epu8(d, d), four = _mm256_adds_epu8(twice, twice);
    __m256i ten = _mm256_adds_epu8(_mm256_adds_epu8(four, four), twice);
    /* 0 counts as 1; of this one: reached */
    __m256i rest = _mm256_subs_epu8(_mm256_max_epu8(modulus, one), ten);
    missed[3] = _mm256_sub_epi8(missed[3], _mm256_cmpeq_epi8(rest, zero));
}

/* The rest. Numbers of the ratio are up to BYTE_RATIO: over |b| - under |n-b| fits 16 bits. */
#define BYTE_RATIO         127
#define BYTE_RATIO_HIGHEST 254.0 /* 255 against 1 */

ALWAYS_INLINE void byte_relate(bool has_sign, size_t limits, const uint8_t *n, const uint8_t *b,
                               const struct small_ratio *ratio, struct small_view *view)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i factors = _mm256_set1_epi16(
        (int16_t)(uint16_t)((unsigned)ratio->under | (unsigned)(uint8_t)-ratio->over << 8));
    __m256i bare = zero, excess = zero, missed[4] = {zero, zero, zero, zero};
    for (size_t i = 0; i < BLOCK; i += BYTE_STEP) {
        __m256i y = byte_load(b + i), d = byte_distance(has_sign, byte_load(n + i), y);
        __m256i modulus = has_sign ? _mm256_abs_epi8(y) : y;
        __m256i alone = _mm256_and_si256(_mm256_cmpeq_epi8(y, zero), d);
        bare = _mm256_max_epu8(bare, alone);
        byte_limits(has_sign, limits, d, modulus, missed);
        modulus = _mm256_or_si256(modulus, alone);
        __m256i low = _mm256_unpacklo_epi8(d, modulus), high = _mm256_unpackhi_epi8(d, modulus);
        excess = _mm256_max_epi16(excess, _mm256_maddubs_epi16(low, factors));
        excess = _mm256_max_epi16(excess, _mm256_maddubs_epi16(high, factors));
    }
    view->beyond_zero = byte_highest(bare);
    view->rises = !_mm256_testz_si256(excess, excess);
    view->reached[0] = BLOCK - byte_count(missed[0]);
    view->reached[1] = has_sign ? view->reached[0] : BLOCK - byte_count(missed[1]);
    view->reached[2] = BLOCK - byte_count(missed[2]);
    view->reached[3] = byte_count(missed[3]);
}

/* 1 for what is true. */
ALWAYS_INLINE __m256i truth_load(const uint8_t *from)
{
    return _mm256_min_epu8(byte_load(from), _mm256_set1_epi8(1));
}

/* All of a block of truths: sums are counts, and where the sides differ every limit is reached. */
static inline void truth_relate(const uint8_t *n, const uint8_t *b, uintptr_t n_ahead,
                                uintptr_t b_ahead, const struct small_ratio *ratio,
                                struct small_view *view)
{
    __m256i nn = _mm256_setzero_si256(), bb = nn, nb = nn, bare = nn;
    for (size_t i = 0; i < BLOCK; i += BYTE_STEP) {
        if (i % 64 == 0) {
            __builtin_prefetch((const void *)(n_ahead + i));
            __builtin_prefetch((const void *)(b_ahead + i));
        }
        __m256i x = truth_load(n + i), y = truth_load(b + i);
        nn = _mm256_add_epi8(nn, x);
        bb = _mm256_add_epi8(bb, y);
        nb = _mm256_add_epi8(nb, _mm256_and_si256(x, y));
        bare = _mm256_or_si256(bare, _mm256_andnot_si256(y, x));
    }
    view->nn = (int64_t)byte_count(nn);
    view->bb = (int64_t)byte_count(bb);
    view->nb = (int64_t)byte_count(nb);
    view->abs = view->nn + view->bb - 2 * view->nb;
    view->distance = view->abs > 0 ? 1 : 0;
    view->beyond_zero = byte_highest(bare);
    view->rises = view->abs > 0 && ratio->of < 1;
    for (size_t k = 0; k < 4; k++)
        view->reached[k] = (size_t)view->abs;
}

/* The sum of squares of a block. */
ALWAYS_INLINE int64_t byte_squares(bool has_sign, const uint8_t *n, uintptr_t n_ahead,
                                   uintptr_t b_ahead)
{
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t i = 0; i < BLOCK; i += 64) {
        __builtin_prefetch((const void *)(n_ahead + i));
        __builtin_prefetch((const void *)(b_ahead + i));
        for (size_t part = 0; part < 4; part++) {
            __m256i x = byte_widen(has_sign, n + i + 16 * part);
            sums[part % 2] = _mm256_add_epi32(sums[part % 2], _mm256_madd_epi16(x, x));
        }
    }
    return byte_total(sums[0]) + byte_total(sums[1]);
}

static inline int64_t truth_squares(const uint8_t *n, uintptr_t n_ahead, uintptr_t b_ahead)
{
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < BLOCK; i += 64) {
        __builtin_prefetch((const void *)(n_ahead + i));
        __builtin_prefetch((const void *)(b_ahead + i));
        sum = _mm256_add_epi8(sum, truth_load(n + i));
        sum = _mm256_add_epi8(sum, truth_load(n + i + 32));
    }
    return (int64_t)byte_count(sum);
}

#endif
