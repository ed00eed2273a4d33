/* vector_avx512.h - vector.h for AVX-512 F, BW, CD, DQ, VL. */
#ifndef TDC_KERNELS_CPU_VECTOR_VECTOR_AVX512_H
#define TDC_KERNELS_CPU_VECTOR_VECTOR_AVX512_H

#include <immintrin.h>

#define F32_LANES 16
#define F64_LANES 8
/* There are registers enough to take sums and relative errors in one pass over a block. */
#define FUSE_PASSES      1
#define HAS_SMALL_FLOATS 1
#define HAS_LIMIT_TALLY  0
#define HAS_NEAR_GROUPS  1
#define HAS_HALF_BLOCKS  1

typedef __m512 f32v;
typedef __m512d f64v;
typedef __mmask16 f32_mask;
typedef __mmask8 f64_mask;

/* Storing masks keeps the counting away from the two ports that do the arithmetic. */
struct f32_tally {
    __mmask16 masks[BLOCK / F32_LANES];
};
struct f64_tally {
    __mmask8 masks[BLOCK / F64_LANES];
};

/* `bytes` is a multiple of 4. */
static inline size_t count_bits(const void *masks, size_t bytes)
{
    size_t total = 0, at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t bits;
        memcpy(&bits, (const char *)masks + at, sizeof bits);
        total += (size_t)__builtin_popcountll(bits);
    }
    if (at < bytes) {
        uint32_t bits;
        memcpy(&bits, (const char *)masks + at, sizeof bits);
        total += (size_t)__builtin_popcount(bits);
    }
    return total;
}

ALWAYS_INLINE f32v f32_load(const f32_unaligned *from)
{
    return _mm512_loadu_ps((const void *)from);
}

ALWAYS_INLINE f32v f32_load_f16(const u16_unaligned *from)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

ALWAYS_INLINE f32v f32_load_bf16(const u16_unaligned *from)
{
    __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)from);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

ALWAYS_INLINE void f32_store(float *to, f32v value)
{
    _mm512_storeu_ps(to, value);
}

ALWAYS_INLINE f32v f32_splat(float value)
{
    return _mm512_set1_ps(value);
}

ALWAYS_INLINE f32v f32_abs(f32v x)
{
    return _mm512_abs_ps(x);
}

ALWAYS_INLINE f32v f32_max(f32v x, f32v y)
{
    return _mm512_max_ps(x, y);
}

ALWAYS_INLINE f32v f32_min(f32v x, f32v y)
{
    return _mm512_min_ps(x, y);
}

ALWAYS_INLINE f32v f32_nan_where_zero(f32v d)
{
    /* The third digit of the table is what becomes of zeros: 3 stands for NaN. */
    return _mm512_fixupimm_ps(d, d, _mm512_set1_epi32(0x300), 0);
}

ALWAYS_INLINE f32_mask f32_reaches(f32v inverse, f32v d, f32v b)
{
    return _mm512_cmp_ps_mask(_mm512_fmsub_ps(inverse, d, b), _mm512_setzero_ps(), _CMP_GE_OQ);
}

ALWAYS_INLINE f32v f32_shortfall(f32v bound, f32v b, f32v d)
{
    return _mm512_fmsub_ps(bound, b, d);
}

ALWAYS_INLINE bool f32_any_negative(f32v x)
{
    return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ) != 0;
}

ALWAYS_INLINE f32v f32_or(f32v x, f32v y)
{
    return _mm512_or_ps(x, y);
}

ALWAYS_INLINE bool f32_any_sign(f32v x)
{
    return _mm512_movepi32_mask(_mm512_castps_si512(x)) != 0;
}

ALWAYS_INLINE bool f32_any_at_least(f32v x, float limit)
{
    return _mm512_cmp_ps_mask(x, _mm512_set1_ps(limit), _CMP_GE_OQ) != 0;
}

ALWAYS_INLINE f32_mask f32_at_least(f32v x, f32v limit)
{
    return _mm512_cmp_ps_mask(x, limit, _CMP_GE_OQ);
}

ALWAYS_INLINE f32_mask f32_is_nan(f32v x)
{
    return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
}

ALWAYS_INLINE f32v f32_add_where_zero(f32v x, f32v b, f32v addend)
{
    f32_mask zero = _mm512_cmp_ps_mask(b, _mm512_setzero_ps(), _CMP_EQ_OQ);
    return _mm512_mask_add_ps(x, zero, x, addend);
}

ALWAYS_INLINE f32v f32_round_to_f16(f32v magnitude)
{
    return _mm512_cvtph_ps(
        _mm512_cvtps_ph(magnitude, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

ALWAYS_INLINE void f32_tally_start(struct f32_tally *tally)
{
    (void)tally;
}

ALWAYS_INLINE void f32_tally_add(struct f32_tally *tally, size_t at, f32_mask mask)
{
    _store_mask16(&tally->masks[at / F32_LANES], mask);
}

static inline size_t f32_tally_total(const struct f32_tally *tally, size_t count)
{
    return count_bits(tally->masks, count / 8);
}

ALWAYS_INLINE f64v f64_load(const f64_unaligned *from)
{
    return _mm512_loadu_pd((const void *)from);
}

ALWAYS_INLINE f64v f64_widen(const f32_unaligned *from)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps((const void *)from));
}

ALWAYS_INLINE f64v f64_splat(double value)
{
    return _mm512_set1_pd(value);
}

ALWAYS_INLINE f64v f64_abs(f64v x)
{
    return _mm512_abs_pd(x);
}

ALWAYS_INLINE f64v f64_max(f64v x, f64v y)
{
    return _mm512_max_pd(x, y);
}

ALWAYS_INLINE f64v f64_min(f64v x, f64v y)
{
    return _mm512_min_pd(x, y);
}

ALWAYS_INLINE f64v f64_zero_if_nan(f64v x)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), x);
}

ALWAYS_INLINE f64v f64_add_product(f64v sum, f64v x, f64v y)
{
    return _mm512_fmadd_pd(x, y, sum);
}

ALWAYS_INLINE bool f64_may_exceed(f64v maximum, f64v half, f64v b, f64v d)
{
    f64v rest = _mm512_fnmadd_pd(maximum, b, d);
    return _mm512_cmp_pd_mask(rest, _mm512_mul_pd(b, half), _CMP_GT_OQ) != 0;
}

ALWAYS_INLINE bool f64_any_above(f64v x, double limit)
{
    return _mm512_cmp_pd_mask(x, _mm512_set1_pd(limit), _CMP_GT_OQ) != 0;
}

ALWAYS_INLINE f64_mask f64_at_least(f64v x, f64v limit)
{
    return _mm512_cmp_pd_mask(x, limit, _CMP_GE_OQ);
}

ALWAYS_INLINE f64_mask f64_is_nan(f64v x)
{
    return _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q);
}

ALWAYS_INLINE f64v f64_replace_zero(f64v b, f64v d)
{
    f64_mask zero = _mm512_cmp_pd_mask(b, _mm512_setzero_pd(), _CMP_EQ_OQ);
    return _mm512_mask_mov_pd(b, zero, d);
}

ALWAYS_INLINE f64v f64_add_where_zero(f64v x, f64v b, f64v addend)
{
    f64_mask zero = _mm512_cmp_pd_mask(b, _mm512_setzero_pd(), _CMP_EQ_OQ);
    return _mm512_mask_add_pd(x, zero, x, addend);
}

ALWAYS_INLINE f64v f64_round_to_f32(f64v x)
{
    return _mm512_cvtps_pd(_mm512_cvtpd_ps(x));
}

ALWAYS_INLINE void f64_tally_start(struct f64_tally *tally)
{
    (void)tally;
}

ALWAYS_INLINE void f64_tally_add(struct f64_tally *tally, size_t at, f64_mask mask)
{
    _store_mask8(&tally->masks[at / F64_LANES], mask);
}

static inline size_t f64_tally_total(const struct f64_tally *tally, size_t count)
{
    return count_bits(tally->masks, count / 8);
}

#endif
