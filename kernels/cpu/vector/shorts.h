/*
 * shorts.h - a block of pairs of i16 or u16 as integers: what pair_impl_small.h is made of, as
 * bytes.h is.
 *
 * It is for blocks whose numbers and differences fit 16 bits with a sign and are not the lowest
 * such number. Then four squares together are below 2^32: 32 pairs give lanes of 32 bits without
 * sign, which are summed in 64. The sum of n b is half of what those of squares leave.
 */
#ifndef TDC_KERNELS_CPU_VECTOR_SHORTS_H
#define TDC_KERNELS_CPU_VECTOR_SHORTS_H

#include "kernels/cpu/vector/bytes.h"

#define SHORT_STEP 16

/* A sum of lanes of half the width without sign: in whole lanes, and of the upper halves. */
struct short_sum {
    __m256i all, upper;
};

ALWAYS_INLINE void short_sum_start(struct short_sum *sum)
{
    sum->all = sum->upper = _mm256_setzero_si256();
}

ALWAYS_INLINE void short_sum_add_32(struct short_sum *sum, __m256i lanes)
{
    sum->all = _mm256_add_epi64(sum->all, lanes);
    sum->upper = _mm256_add_epi64(sum->upper, _mm256_srli_epi64(lanes, 32));
}

ALWAYS_INLINE void short_sum_add_16(struct short_sum *sum, __m256i lanes)
{
    sum->all = _mm256_add_epi32(sum->all, lanes);
    sum->upper = _mm256_add_epi32(sum->upper, _mm256_srli_epi32(lanes, 16));
}

static inline int64_t short_total_32(const struct short_sum *sum)
{
    uint64_t all[4], upper[4], total = 0;
    memcpy(all, &sum->all, sizeof all);
    memcpy(upper, &sum->upper, sizeof upper);
    for (size_t i = 0; i < 4; i++)
        total += (all[i] - (upper[i] << 32)) + upper[i];
    return (int64_t)total;
}

static inline int64_t short_total_16(const struct short_sum *sum)
{
    __m256i lower = _mm256_sub_epi32(sum->all, _mm256_slli_epi32(sum->upper, 16));
    return byte_total(_mm256_add_epi32(lower, sum->upper));
}

static inline unsigned short_highest(__m256i shorts)
{
    __m128i x = _mm_max_epu16(_mm256_castsi256_si128(shorts), _mm256_extracti128_si256(shorts, 1));
    __m128i rest = _mm_minpos_epu16(_mm_xor_si128(x, _mm_set1_epi16(-1)));
    return 0xffffu - (unsigned)_mm_extract_epi16(rest, 0);
}

/* The sum of counts of no more than BLOCK / SHORT_STEP. */
static inline size_t short_count(__m256i shorts)
{
    return (size_t)byte_total(_mm256_madd_epi16(shorts, _mm256_set1_epi16(1)));
}

ALWAYS_INLINE __m256i short_load(const void *from)
{
    return _mm256_loadu_si256(from);
}

ALWAYS_INLINE __m256i short_distance(__m256i x, __m256i y)
{
    return _mm256_sub_epi16(_mm256_max_epi16(x, y), _mm256_min_epi16(x, y));
}

ALWAYS_INLINE __m256i short_square(const __m256i x[2])
{
    return _mm256_add_epi32(_mm256_madd_epi16(x[0], x[0]), _mm256_madd_epi16(x[1], x[1]));
}

/* The sums and the highest |n-b|; false if the block is not for this file. */
ALWAYS_INLINE bool short_add(bool has_sign, const u16_unaligned *n, const u16_unaligned *b,
                             uintptr_t n_ahead, uintptr_t b_ahead, struct small_view *view)
{
    struct short_sum nn, bb, dd, abs;
    short_sum_start(&nn);
    short_sum_start(&bb);
    short_sum_start(&dd);
    short_sum_start(&abs);
    __m256i top = _mm256_setzero_si256(), low = top;
    for (size_t i = 0; i < BLOCK; i += 2 * SHORT_STEP) {
        __builtin_prefetch((const void *)(n_ahead + 2 * i));
        __builtin_prefetch((const void *)(b_ahead + 2 * i));
        __m256i x[2], y[2], d[2];
        for (size_t k = 0; k < 2; k++) {
            x[k] = short_load(n + i + k * SHORT_STEP);
            y[k] = short_load(b + i + k * SHORT_STEP);
            __m256i least = _mm256_min_epi16(x[k], y[k]);
            d[k] = _mm256_sub_epi16(_mm256_max_epi16(x[k], y[k]), least);
            low = _mm256_min_epi16(low, least);
            top = _mm256_max_epu16(top, d[k]);
        }
        short_sum_add_32(&nn, short_square(x));
        short_sum_add_32(&bb, short_square(y));
        short_sum_add_32(&dd, short_square(d));
        short_sum_add_16(&abs, _mm256_add_epi16(d[0], d[1]));
    }
    view->nn = short_total_32(&nn);
    view->bb = short_total_32(&bb);
    view->nb = (view->nn + view->bb - short_total_32(&dd)) / 2;
    view->abs = short_total_16(&abs);
    view->distance = short_highest(top);
    unsigned depth = short_highest(_mm256_sub_epi16(_mm256_setzero_si256(), low));
    return view->distance < 0x8000 && depth < (has_sign ? 0x8000 : 1);
}

/*
 * 1/k is reached if |n-b| is above (|b| - 1) / k rounded down, or 0 where b is 0. That is the upper
 * half of the product with c = 2^s / k rounded up, shifted by s - 16: right below 2^15, since 2^15
 * (c k - 2^s) < 2^s. 1/100 and 1/200 share a c.
 */
ALWAYS_INLINE void short_limits(size_t limits, __m256i d, __m256i modulus, __m256i reached[4])
{
    __m256i below = _mm256_subs_epu16(modulus, _mm256_set1_epi16(1));
    __m256i by_1000 = _mm256_mulhi_epu16(below, _mm256_set1_epi16((int16_t)33555)); /* s = 25 */
    __m256i by_100 = _mm256_mulhi_epu16(below, _mm256_set1_epi16((int16_t)41944));  /* 22, 23 */
    __m256i by_10 = _mm256_mulhi_epu16(below, _mm256_set1_epi16((int16_t)52429));   /* 19 */
    const __m256i least[4] = {_mm256_srli_epi16(by_1000, 9), _mm256_srli_epi16(by_100, 7),
                              _mm256_srli_epi16(by_100, 6), _mm256_srli_epi16(by_10, 3)};
    for (size_t k = 0; k < limits; k++)
        reached[k] = _mm256_sub_epi16(reached[k], _mm256_cmpgt_epi16(d, least[k]));
}

/* The rest. Numbers of the ratio are up to SHORT_RATIO: over |b| - under |n-b| fits 32 bits. */
#define SHORT_RATIO         32767
#define SHORT_RATIO_HIGHEST 32767.0

ALWAYS_INLINE void short_relate(size_t limits, const u16_unaligned *n, const u16_unaligned *b,
                                const struct small_ratio *ratio, struct small_view *view)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i factors =
        _mm256_set1_epi32((int32_t)((uint32_t)ratio->under | (uint32_t)-ratio->over << 16));
    __m256i bare = zero, excess = zero, reached[4] = {zero, zero, zero, zero};
    for (size_t i = 0; i < BLOCK; i += SHORT_STEP) {
        __m256i y = short_load(b + i), d = short_distance(short_load(n + i), y);
        __m256i modulus = _mm256_abs_epi16(y);
        __m256i alone = _mm256_and_si256(_mm256_cmpeq_epi16(y, zero), d);
        bare = _mm256_max_epi16(bare, alone);
        short_limits(limits, d, modulus, reached);
        modulus = _mm256_or_si256(modulus, alone);
        __m256i low = _mm256_unpacklo_epi16(d, modulus), high = _mm256_unpackhi_epi16(d, modulus);
        excess = _mm256_max_epi32(excess, _mm256_madd_epi16(low, factors));
        excess = _mm256_max_epi32(excess, _mm256_madd_epi16(high, factors));
    }
    view->beyond_zero = short_highest(bare);
    view->rises = !_mm256_testz_si256(excess, excess);
    for (size_t k = 0; k < limits; k++)
        view->reached[k] = short_count(reached[k]);
}

/* The sum of squares of a block; false if it is not for this file. */
ALWAYS_INLINE bool short_squares(bool has_sign, const u16_unaligned *n, uintptr_t n_ahead,
                                 uintptr_t b_ahead, int64_t *total)
{
    struct short_sum sums;
    short_sum_start(&sums);
    __m256i signs = _mm256_setzero_si256();
    for (size_t i = 0; i < BLOCK; i += 2 * SHORT_STEP) {
        __builtin_prefetch((const void *)(n_ahead + 2 * i));
        __builtin_prefetch((const void *)(b_ahead + 2 * i));
        for (size_t k = 0; k < 2; k++) {
            __m256i x = short_load(n + i + k * SHORT_STEP);
            short_sum_add_32(&sums, _mm256_madd_epi16(x, x));
            signs = has_sign ? signs : _mm256_or_si256(signs, x);
        }
    }
    *total = short_total_32(&sums);
    return _mm256_testz_si256(signs, _mm256_set1_epi16((int16_t)0x8000));
}

#endif
