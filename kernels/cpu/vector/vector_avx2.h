/* vector_avx2.h - vector.h for AVX2, FMA and F16C. */
#ifndef TDC_KERNELS_CPU_VECTOR_VECTOR_AVX2_H
#define TDC_KERNELS_CPU_VECTOR_VECTOR_AVX2_H

#include <immintrin.h>

#define F32_LANES 8
#define F64_LANES 4
/* Ten of sixteen registers hold sums: the relative errors wait for a second pass. */
#define FUSE_PASSES      0
#define HAS_SMALL_FLOATS 1
#define HAS_LIMIT_TALLY  1
#define HAS_NEAR_GROUPS  1
#define HAS_HALF_BLOCKS  1

typedef __m256 f32v;
typedef __m256d f64v;
typedef __m256 f32_mask; /* all bits of a lane alike */
typedef __m256d f64_mask;

struct f32_tally {
    __m256i lanes;
};
struct f64_tally {
    __m256i lanes;
};

ALWAYS_INLINE f32v f32_load(const f32_unaligned *from)
{
    return _mm256_loadu_ps((const void *)from);
}

ALWAYS_INLINE f32v f32_load_f16(const u16_unaligned *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
}

ALWAYS_INLINE f32v f32_load_bf16(const u16_unaligned *from)
{
    __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)from);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

ALWAYS_INLINE void f32_store(float *to, f32v value)
{
    _mm256_storeu_ps(to, value);
}

ALWAYS_INLINE f32v f32_splat(float value)
{
    return _mm256_set1_ps(value);
}

ALWAYS_INLINE f32v f32_abs(f32v x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

ALWAYS_INLINE f32v f32_max(f32v x, f32v y)
{
    return _mm256_max_ps(x, y);
}

ALWAYS_INLINE f32v f32_min(f32v x, f32v y)
{
    return _mm256_min_ps(x, y);
}

ALWAYS_INLINE f32v f32_shortfall(f32v bound, f32v b, f32v d)
{
    return _mm256_fmsub_ps(bound, b, d);
}

ALWAYS_INLINE bool f32_any_negative(f32v x)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ)) != 0;
}

ALWAYS_INLINE f32_mask f32_reaches(f32v inverse, f32v d, f32v b)
{
    return _mm256_cmp_ps(_mm256_fmsub_ps(inverse, d, b), _mm256_setzero_ps(), _CMP_GE_OQ);
}

ALWAYS_INLINE f32v f32_or(f32v x, f32v y)
{
    return _mm256_or_ps(x, y);
}

ALWAYS_INLINE bool f32_any_sign(f32v x)
{
    return _mm256_movemask_ps(x) != 0;
}

ALWAYS_INLINE bool f32_any_at_least(f32v x, float limit)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_set1_ps(limit), _CMP_GE_OQ)) != 0;
}

ALWAYS_INLINE f32_mask f32_at_least(f32v x, f32v limit)
{
    return _mm256_cmp_ps(x, limit, _CMP_GE_OQ);
}

ALWAYS_INLINE f32_mask f32_is_nan(f32v x)
{
    return _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
}

ALWAYS_INLINE f32v f32_add_where_zero(f32v x, f32v b, f32v addend)
{
    f32_mask zero = _mm256_cmp_ps(b, _mm256_setzero_ps(), _CMP_EQ_OQ);
    return _mm256_add_ps(x, _mm256_and_ps(zero, addend));
}

ALWAYS_INLINE f32v f32_round_to_f16(f32v magnitude)
{
    return _mm256_cvtph_ps(
        _mm256_cvtps_ph(magnitude, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

ALWAYS_INLINE void f32_tally_start(struct f32_tally *tally)
{
    tally->lanes = _mm256_setzero_si256();
}

ALWAYS_INLINE void f32_tally_add(struct f32_tally *tally, size_t at, f32_mask mask)
{
    (void)at;
    tally->lanes = _mm256_sub_epi32(tally->lanes, _mm256_castps_si256(mask));
}

static inline size_t f32_tally_total(const struct f32_tally *tally, size_t count)
{
    (void)count;
    uint32_t lanes[F32_LANES], total = 0;
    memcpy(lanes, &tally->lanes, sizeof lanes);
    for (size_t lane = 0; lane < F32_LANES; lane++)
        total += lanes[lane];
    return total;
}

/*
 * limit_tally.h for four limits. A pair that does not reach a limit leaves inverse d - b negative,
 * and so it does where both are 0 if 0 is the smallest number instead, which changes no other sign:
 * inverse d is 0 or larger than that. The signs of four limits fit into a byte each, and a block
 * has 128 of them in every lane.
 */
struct limit_tally {
    __m256i below; /* bytes: four of each limit in either half */
};

ALWAYS_INLINE void limit_tally_start(struct limit_tally *tally)
{
    tally->below = _mm256_setzero_si256();
}

ALWAYS_INLINE void limit_tally_add(struct limit_tally *tally, size_t at, const float inverse[4],
                                   f32v d, f32v b)
{
    (void)at;
    f32v y = _mm256_max_ps(b, _mm256_set1_ps(0x1p-149f));
    __m256i r[4];
    for (size_t k = 0; k < 4; k++)
        r[k] = _mm256_castps_si256(_mm256_fmsub_ps(_mm256_set1_ps(inverse[k]), d, y));
    __m256i signs =
        _mm256_packs_epi16(_mm256_packs_epi32(r[0], r[1]), _mm256_packs_epi32(r[2], r[3]));
    tally->below = _mm256_sub_epi8(tally->below, _mm256_cmpgt_epi8(_mm256_setzero_si256(), signs));
}

static inline void limit_tally_totals(const struct limit_tally *tally, size_t count,
                                      size_t totals[4])
{
    uint8_t below[32];
    memcpy(below, &tally->below, sizeof below);
    for (size_t k = 0; k < 4; k++) {
        totals[k] = count;
        for (size_t i = 0; i < 4; i++)
            totals[k] -= (size_t)below[4 * k + i] + below[16 + 4 * k + i];
    }
}

ALWAYS_INLINE f64v f64_load(const f64_unaligned *from)
{
    return _mm256_loadu_pd((const void *)from);
}

ALWAYS_INLINE f64v f64_widen(const f32_unaligned *from)
{
    return _mm256_cvtps_pd(_mm_loadu_ps((const void *)from));
}

ALWAYS_INLINE f64v f64_splat(double value)
{
    return _mm256_set1_pd(value);
}

ALWAYS_INLINE f64v f64_abs(f64v x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

ALWAYS_INLINE f64v f64_max(f64v x, f64v y)
{
    return _mm256_max_pd(x, y);
}

ALWAYS_INLINE f64v f64_min(f64v x, f64v y)
{
    return _mm256_min_pd(x, y);
}

ALWAYS_INLINE f64v f64_zero_if_nan(f64v x)
{
    return _mm256_and_pd(_mm256_cmp_pd(x, x, _CMP_ORD_Q), x);
}

ALWAYS_INLINE f64v f64_add_product(f64v sum, f64v x, f64v y)
{
    return _mm256_fmadd_pd(x, y, sum);
}

ALWAYS_INLINE bool f64_may_exceed(f64v maximum, f64v half, f64v b, f64v d)
{
    f64v rest = _mm256_fnmadd_pd(maximum, b, d);
    return _mm256_movemask_pd(_mm256_cmp_pd(rest, _mm256_mul_pd(b, half), _CMP_GT_OQ)) != 0;
}

ALWAYS_INLINE bool f64_any_above(f64v x, double limit)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(x, _mm256_set1_pd(limit), _CMP_GT_OQ)) != 0;
}

ALWAYS_INLINE f64_mask f64_at_least(f64v x, f64v limit)
{
    return _mm256_cmp_pd(x, limit, _CMP_GE_OQ);
}

ALWAYS_INLINE f64_mask f64_is_nan(f64v x)
{
    return _mm256_cmp_pd(x, x, _CMP_UNORD_Q);
}

ALWAYS_INLINE f64v f64_replace_zero(f64v b, f64v d)
{
    return _mm256_add_pd(b, _mm256_and_pd(_mm256_cmp_pd(b, _mm256_setzero_pd(), _CMP_EQ_OQ), d));
}

ALWAYS_INLINE f64v f64_add_where_zero(f64v x, f64v b, f64v addend)
{
    f64_mask zero = _mm256_cmp_pd(b, _mm256_setzero_pd(), _CMP_EQ_OQ);
    return _mm256_add_pd(x, _mm256_and_pd(zero, addend));
}

ALWAYS_INLINE f64v f64_round_to_f32(f64v x)
{
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(x));
}

ALWAYS_INLINE void f64_tally_start(struct f64_tally *tally)
{
    tally->lanes = _mm256_setzero_si256();
}

ALWAYS_INLINE void f64_tally_add(struct f64_tally *tally, size_t at, f64_mask mask)
{
    (void)at;
    tally->lanes = _mm256_sub_epi64(tally->lanes, _mm256_castpd_si256(mask));
}

static inline size_t f64_tally_total(const struct f64_tally *tally, size_t count)
{
    (void)count;
    uint64_t lanes[F64_LANES], total = 0;
    memcpy(lanes, &tally->lanes, sizeof lanes);
    for (size_t lane = 0; lane < F64_LANES; lane++)
        total += lanes[lane];
    return (size_t)total;
}

#endif
