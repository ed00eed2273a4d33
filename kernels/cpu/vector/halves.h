/*
 * halves.h - groups of pairs of bf16, or of f16, numbers: what block_half.h is made of.
 *
 * Written for AVX2 and used with AVX-512, too: registers of 64 bytes convert no more numbers to f64
 * in a cycle than two of 32, and nothing else here waits for them.
 *
 * A step of 16 pairs becomes two registers of f32 numbers a side, in order (f16) or those of even
 * and of odd index (bf16, which then take a shift and a mask). In f64 they are four quads, of which
 * HALF_REGISTER names the register of sums: lanes 0 to 3 and 4 to 7, or the even and the odd ones.
 * Either way a lane gets its pairs in their order.
 */
#ifndef TDC_KERNELS_CPU_VECTOR_HALVES_H
#define TDC_KERNELS_CPU_VECTOR_HALVES_H

#include <immintrin.h>

#include "kernels/cpu/vector/vector.h"

#define HALF_STEP                  16
#define HALF_REGISTER(brain, quad) ((brain) ? (quad) / 2 : (quad) % 2)

/* Limits of the quotient, in every lane: four as the keys next below, or two as numbers. */
struct half_limits {
    __m256i keys[4];
    __m256 numbers[2];
};

/* One side of a block, dense or in groups wherever they lie. */
struct half_side {
    const void *elements;
    const void *const *groups; /* of HALF_GROUP numbers; or NULL */
};

#define HALF_GROUP 64

ALWAYS_INLINE const u16_unaligned *half_group(const struct half_side *side, size_t i)
{
    return side->groups == NULL ? (const u16_unaligned *)side->elements + i
                                : side->groups[i / HALF_GROUP];
}

/* The numbers from i on, a step at least. */
ALWAYS_INLINE const u16_unaligned *half_step(const struct half_side *side, size_t i)
{
    return half_group(side, i - i % HALF_GROUP) + i % HALF_GROUP;
}

/* What comes from memory meanwhile: the lines of a group from `at` + 2 i on, or where it lies. */
struct half_ahead {
    uintptr_t at;
    const uintptr_t *groups; /* or NULL */
};

ALWAYS_INLINE void half_prefetch(const struct half_ahead *ahead, size_t i)
{
    uintptr_t at = ahead->groups == NULL ? ahead->at + 2 * i : ahead->groups[i / HALF_GROUP];
    __builtin_prefetch((const void *)at);
    __builtin_prefetch((const void *)(at + 64));
}

/* What is seen of the pairs of a block. */
struct half_view {
    float distance, quotient; /* highest |n-b|, and |n-b| / |b| */
    unsigned least;           /* lowest |n| or |b|, its bits */
    size_t reached[4];        /* pairs that reach a limit */
    double abs[8];            /* sums of |n-b| by lane, if they are exact */
    /* the bits of the highest b that has no sign and of the lowest that has one; of others if there
     * is none. If they are wanted */
    unsigned positive, negative;
};

/* The same on the way, counts and bits in lanes of 16. */
struct half_watch {
    __m256 distance, quotient;
    __m256i least, reached[4];
    __m256i positive, negative; /* highest bits of b with and without regard to the sign */
};

/* ---- out of registers ------------------------------------------------------------------------ */

/* Lanes of sums in index order. */
ALWAYS_INLINE void half_store_lanes(bool brain, const __m256d lanes[2], double out[8])
{
    __m256d first = lanes[0], second = lanes[1];
    if (brain) {
        __m256d low = _mm256_unpacklo_pd(lanes[0], lanes[1]); /* 0, 1, 4, 5 */
        __m256d high = _mm256_unpackhi_pd(lanes[0], lanes[1]);
        first = _mm256_permute2f128_pd(low, high, 0x20);
        second = _mm256_permute2f128_pd(low, high, 0x31);
    }
    _mm256_storeu_pd(out, first);
    _mm256_storeu_pd(out + 4, second);
}

/* The four quads of sums that may be added in any order. */
ALWAYS_INLINE void half_store_quads(bool brain, const __m256d quads[4], double out[8])
{
    __m256d lanes[2] = {_mm256_add_pd(quads[0], quads[brain ? 1 : 2]),
                        _mm256_add_pd(quads[brain ? 2 : 1], quads[3])};
    half_store_lanes(brain, lanes, out);
}

static inline float half_highest(__m256 values)
{
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    x = _mm_max_ss(x, _mm_movehdup_ps(x));
    return _mm_cvtss_f32(x);
}

static inline unsigned half_lowest(__m256i values)
{
    __m128i x = _mm_min_epu16(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
    return (unsigned)_mm_extract_epi16(_mm_minpos_epu16(x), 0);
}

/* Both of the highest bits that a lane has: as numbers with a sign, and without. */
static inline unsigned half_highest_signed(__m256i values)
{
    return half_lowest(_mm256_xor_si256(values, _mm256_set1_epi16(0x7fff))) ^ 0x7fff;
}

static inline unsigned half_highest_unsigned(__m256i values)
{
    return half_lowest(_mm256_xor_si256(values, _mm256_set1_epi16(-1))) ^ 0xffff;
}

static inline size_t half_total(__m256i counts)
{
    __m256i pairs = _mm256_madd_epi16(counts, _mm256_set1_epi16(1));
    __m128i x = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1));
    return (size_t)(unsigned)_mm_cvtsi128_si32(x);
}

/* ---- quotients ------------------------------------------------------------------------------- */

ALWAYS_INLINE __m256 half_magnitude(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

/* The numbers of even and of odd index. */
ALWAYS_INLINE void half_split(__m256i numbers, __m256 out[2])
{
    out[0] = _mm256_castsi256_ps(_mm256_slli_epi32(numbers, 16));
    out[1] = _mm256_castsi256_ps(_mm256_and_si256(numbers, _mm256_set1_epi32(-0x10000)));
}

ALWAYS_INLINE void half_load(bool brain, bool extremes, const u16_unaligned *n,
                             const u16_unaligned *b, struct half_watch *watch, __m256 x[2],
                             __m256 y[2])
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff);
    __m256i p = _mm256_loadu_si256((const __m256i *)(const void *)n);
    __m256i q = _mm256_loadu_si256((const __m256i *)(const void *)b);
    watch->least = _mm256_min_epu16(
        _mm256_min_epu16(_mm256_and_si256(p, magnitude), _mm256_and_si256(q, magnitude)),
        watch->least);
    if (extremes) {
        watch->positive = _mm256_max_epi16(q, watch->positive);
        watch->negative = _mm256_max_epu16(q, watch->negative);
    }
    if (brain) {
        half_split(p, x);
        half_split(q, y);
        return;
    }
    for (size_t k = 0; k < 2; k++) {
        x[k] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(n + 8 * k)));
        y[k] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(b + 8 * k)));
    }
}

/*
 * The bits of a quotient that matter, 12 after the leading one, as numbers of 16 bits that grow
 * with it from 2^-11 on; below that, and where it is NaN for 0/0 (the machine's own, which has a
 * sign), they are negative.
 */
#define HALF_KEY_LEAST 0x3a000000
#define HALF_KEY_SHIFT 11

static inline int16_t half_key(float quotient)
{
    return (int16_t)(((int32_t)f32_to_bits(quotient) - HALF_KEY_LEAST) >> HALF_KEY_SHIFT);
}

ALWAYS_INLINE __m256i half_keys(__m256 quotients)
{
    return _mm256_srai_epi32(
        _mm256_sub_epi32(_mm256_castps_si256(quotients), _mm256_set1_epi32(HALF_KEY_LEAST)),
        HALF_KEY_SHIFT);
}

ALWAYS_INLINE void half_count(bool by_keys, const struct half_limits *limits, const __m256 e[2],
                              __m256i reached[4])
{
    if (by_keys) {
        __m256i keys = _mm256_packs_epi32(half_keys(e[0]), half_keys(e[1]));
        for (size_t k = 0; k < 4; k++)
            reached[k] = _mm256_sub_epi16(reached[k], _mm256_cmpgt_epi16(keys, limits->keys[k]));
        return;
    }
    for (size_t k = 0; k < 2; k++) {
        __m256 limit = limits->numbers[k];
        __m256i first = _mm256_castps_si256(_mm256_cmp_ps(e[0], limit, _CMP_GE_OQ));
        __m256i second = _mm256_castps_si256(_mm256_cmp_ps(e[1], limit, _CMP_GE_OQ));
        reached[k] = _mm256_sub_epi16(reached[k], _mm256_packs_epi32(first, second));
    }
}

/* Sums of |n-b| in f32 that become sums in f64: of so many pairs in each lane. */
#define HALF_RUN 16

/* Where a block lies, and as much that comes next. */
struct half_block_at {
    struct half_side n, b;
    struct half_ahead n_ahead, b_ahead;
};

/* A block: its numbers as f32, and what is seen of them. As much is asked for from the places
 * ahead. */
ALWAYS_INLINE void half_relate(bool brain, bool by_keys, bool extremes,
                               const struct half_limits *limits, const struct half_block_at *at,
                               float *n_out, float *b_out, struct half_view *view)
{
    struct half_watch w = {.least = _mm256_set1_epi16(-1), .positive = _mm256_set1_epi16(-0x8000)};
    __m256d abs[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (size_t run = 0; run < BLOCK; run += 8 * HALF_RUN) {
        __m256 sums[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
        const u16_unaligned *n = NULL, *b = NULL;
        for (size_t i = run; i < run + 8 * HALF_RUN; i += HALF_STEP) {
            __m256 x[2], y[2], d[2], e[2];
            if (i % HALF_GROUP == 0) {
                n = half_group(&at->n, i);
                b = half_group(&at->b, i);
                half_prefetch(&at->n_ahead, i);
                half_prefetch(&at->b_ahead, i);
            }
            half_load(brain, extremes, n + i % HALF_GROUP, b + i % HALF_GROUP, &w, x, y);
            for (size_t k = 0; k < 2; k++) {
                _mm256_store_ps(n_out + i + 8 * k, x[k]);
                _mm256_store_ps(b_out + i + 8 * k, y[k]);
                d[k] = half_magnitude(_mm256_sub_ps(x[k], y[k]));
                w.distance = _mm256_max_ps(d[k], w.distance);
                sums[k] = _mm256_add_ps(sums[k], d[k]);
                e[k] = _mm256_div_ps(d[k], half_magnitude(y[k]));
                w.quotient = _mm256_max_ps(e[k], w.quotient); /* that so far where e is NaN */
            }
            half_count(by_keys, limits, e, w.reached);
        }
        for (size_t quad = 0; quad < 4; quad++) {
            __m256 both = sums[quad / 2];
            __m128 low = _mm256_castps256_ps128(both), high = _mm256_extractf128_ps(both, 1);
            size_t r = HALF_REGISTER(brain, quad);
            abs[r] = _mm256_add_pd(abs[r], _mm256_cvtps_pd(quad % 2 ? high : low));
        }
    }
    view->distance = half_highest(w.distance);
    view->quotient = half_highest(w.quotient);
    view->least = half_lowest(w.least);
    for (size_t k = 0; k < (by_keys ? 4 : 2); k++)
        view->reached[k] = half_total(w.reached[k]);
    half_store_lanes(brain, abs, view->abs);
    if (extremes) {
        view->positive = half_highest_signed(w.positive);
        view->negative = half_highest_unsigned(w.negative);
    }
}

/* ---- the sums of a block --------------------------------------------------------------------- */

/* By lane. */
struct half_sums {
    double nb[8], nn[8], bb[8], dd[8], abs[8];
    double n[8], b[8]; /* if they are wanted */
};

/* The bits of the lowest |n| or |b| of a block but for zeros; 0xffff if there is none. */
static inline unsigned half_least_not_zero(const struct half_block_at *at)
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff), one = _mm256_set1_epi16(1);
    __m256i least = _mm256_set1_epi16(-1);
    for (size_t i = 0; i < BLOCK; i += HALF_STEP) {
        __m256i p = _mm256_loadu_si256((const __m256i *)(const void *)half_step(&at->n, i));
        __m256i q = _mm256_loadu_si256((const __m256i *)(const void *)half_step(&at->b, i));
        p = _mm256_sub_epi16(_mm256_and_si256(p, magnitude), one);
        q = _mm256_sub_epi16(_mm256_and_si256(q, magnitude), one);
        least = _mm256_min_epu16(_mm256_min_epu16(p, q), least);
    }
    unsigned below = half_lowest(least);
    return below == 0xffff ? below : below + 1;
}

/* The bits of the lowest and of the highest number of one side of a block. */
static inline void half_extremes(const struct half_side *side, unsigned *lowest, unsigned *highest)
{
    __m256i positive = _mm256_set1_epi16(-0x8000), negative = _mm256_setzero_si256();
    __m256i least = _mm256_set1_epi16(-1);
    for (size_t i = 0; i < BLOCK; i += HALF_STEP) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)half_step(side, i));
        positive = _mm256_max_epi16(x, positive);
        negative = _mm256_max_epu16(x, negative);
        least = _mm256_min_epu16(x, least);
    }
    *highest = half_highest_signed(positive);
    *lowest = half_highest_unsigned(negative);
    if (*highest >= 0x8000) /* all have the sign: the one next to 0 */
        *highest = half_lowest(least);
    if (*lowest < 0x8000)
        *lowest = half_lowest(least);
}

ALWAYS_INLINE __m256d half_quad(const float *from)
{
    return _mm256_cvtps_pd(_mm_load_ps(from));
}

/* The sums of products in any order: a register for each quad, as one alone would wait for every
 * addition to end. With those of n and b there is enough else to do. */
ALWAYS_INLINE void half_multiply(bool brain, bool extremes, const float *n, const float *b,
                                 struct half_sums *sums)
{
    __m256d nb[4], nn[4], bb[4], n_sum[2], b_sum[2];
    for (size_t k = 0; k < 4; k++)
        nb[k] = nn[k] = bb[k] = _mm256_setzero_pd();
    n_sum[0] = n_sum[1] = b_sum[0] = b_sum[1] = _mm256_setzero_pd();
    for (size_t i = 0; i < BLOCK; i += HALF_STEP)
        for (size_t quad = 0; quad < 4; quad++) {
            size_t r = HALF_REGISTER(brain, quad), k = extremes ? r : quad;
            __m256d x = half_quad(n + i + 4 * quad), y = half_quad(b + i + 4 * quad);
            nb[k] = _mm256_fmadd_pd(x, y, nb[k]);
            nn[k] = _mm256_fmadd_pd(x, x, nn[k]);
            bb[k] = _mm256_fmadd_pd(y, y, bb[k]);
            if (extremes) {
                n_sum[r] = _mm256_add_pd(n_sum[r], x);
                b_sum[r] = _mm256_add_pd(b_sum[r], y);
            }
        }
    if (extremes) {
        half_store_lanes(brain, nb, sums->nb);
        half_store_lanes(brain, nn, sums->nn);
        half_store_lanes(brain, bb, sums->bb);
        half_store_lanes(brain, n_sum, sums->n);
        half_store_lanes(brain, b_sum, sums->b);
        return;
    }
    half_store_quads(brain, nb, sums->nb);
    half_store_quads(brain, nn, sums->nn);
    half_store_quads(brain, bb, sums->bb);
}

/* All in the order of the pairs; without those of |n-b| where n - b is exact in f32, so that its
 * square is exact in f64. */
ALWAYS_INLINE void half_add(bool brain, bool exact, bool extremes, const float *n, const float *b,
                            struct half_sums *sums)
{
    __m256d nb[2], nn[2], bb[2], dd[2], abs[2], n_sum[2], b_sum[2];
    for (size_t r = 0; r < 2; r++)
        nb[r] = nn[r] = bb[r] = dd[r] = abs[r] = n_sum[r] = b_sum[r] = _mm256_setzero_pd();
    for (size_t i = 0; i < BLOCK; i += HALF_STEP)
        for (size_t k = 0; k < 4; k++) {
            size_t r = HALF_REGISTER(brain, k);
            __m256d x = half_quad(n + i + 4 * k), y = half_quad(b + i + 4 * k);
            __m256d d = _mm256_sub_pd(x, y);
            nb[r] = _mm256_fmadd_pd(x, y, nb[r]);
            nn[r] = _mm256_fmadd_pd(x, x, nn[r]);
            bb[r] = _mm256_fmadd_pd(y, y, bb[r]);
            if (extremes) {
                n_sum[r] = _mm256_add_pd(n_sum[r], x);
                b_sum[r] = _mm256_add_pd(b_sum[r], y);
            }
            if (exact) {
                dd[r] = _mm256_fmadd_pd(d, d, dd[r]);
                continue;
            }
            dd[r] = _mm256_add_pd(dd[r], _mm256_mul_pd(d, d));
            abs[r] = _mm256_add_pd(abs[r], _mm256_andnot_pd(_mm256_set1_pd(-0.0), d));
        }
    half_store_lanes(brain, nb, sums->nb);
    half_store_lanes(brain, nn, sums->nn);
    half_store_lanes(brain, bb, sums->bb);
    half_store_lanes(brain, dd, sums->dd);
    if (!exact)
        half_store_lanes(brain, abs, sums->abs);
    if (extremes) {
        half_store_lanes(brain, n_sum, sums->n);
        half_store_lanes(brain, b_sum, sums->b);
    }
}

#endif
