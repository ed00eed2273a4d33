/* vector_neon.h - vector.h for aarch64, where NEON and fused multiply-add are always there. */
#ifndef TDC_KERNELS_CPU_VECTOR_VECTOR_NEON_H
#define TDC_KERNELS_CPU_VECTOR_VECTOR_NEON_H

#include <arm_neon.h>

#define F32_LANES 4
#define F64_LANES 2
/* Twenty of thirty-two registers hold sums: the relative errors wait for a second pass. */
#define FUSE_PASSES      0
#define HAS_SMALL_FLOATS 1
#define HAS_LIMIT_TALLY  0
#define HAS_NEAR_GROUPS  0
#define HAS_HALF_BLOCKS  0

typedef float32x4_t f32v;
typedef float64x2_t f64v;
typedef uint32x4_t f32_mask; /* all bits of a lane alike */
typedef uint64x2_t f64_mask;

struct f32_tally {
    uint32x4_t lanes;
};
struct f64_tally {
    uint64x2_t lanes;
};

ALWAYS_INLINE f32v f32_load(const f32_unaligned *from)
{
    f32v value;
    memcpy(&value, from, sizeof value);
    return value;
}

ALWAYS_INLINE f32v f32_load_f16(const u16_unaligned *from)
{
    float16x4_t halves;
    memcpy(&halves, from, sizeof halves);
    return vcvt_f32_f16(halves);
}

ALWAYS_INLINE f32v f32_load_bf16(const u16_unaligned *from)
{
    uint16x4_t halves;
    memcpy(&halves, from, sizeof halves);
    return vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
}

ALWAYS_INLINE void f32_store(float *to, f32v value)
{
    vst1q_f32(to, value);
}

ALWAYS_INLINE f32v f32_splat(float value)
{
    return vdupq_n_f32(value);
}

ALWAYS_INLINE f32v f32_abs(f32v x)
{
    return vabsq_f32(x);
}

ALWAYS_INLINE f32v f32_max(f32v x, f32v y)
{
    return vbslq_f32(vcgtq_f32(x, y), x, y);
}

ALWAYS_INLINE f32v f32_min(f32v x, f32v y)
{
    return vbslq_f32(vcltq_f32(x, y), x, y);
}

ALWAYS_INLINE f32v f32_nan_where_zero(f32v d)
{
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(d), vceqzq_f32(d)));
}

ALWAYS_INLINE f32_mask f32_reaches(f32v inverse, f32v d, f32v b)
{
    return vcgezq_f32(vfmaq_f32(vnegq_f32(b), inverse, d));
}

ALWAYS_INLINE f32v f32_shortfall(f32v bound, f32v b, f32v d)
{
    return vfmaq_f32(vnegq_f32(d), bound, b);
}

ALWAYS_INLINE bool f32_any_negative(f32v x)
{
    return vmaxvq_u32(vcltzq_f32(x)) != 0;
}

ALWAYS_INLINE bool f32_any_at_least(f32v x, float limit)
{
    return vmaxvq_u32(vcgeq_f32(x, vdupq_n_f32(limit))) != 0;
}

ALWAYS_INLINE f32_mask f32_at_least(f32v x, f32v limit)
{
    return vcgeq_f32(x, limit);
}

ALWAYS_INLINE f32_mask f32_is_nan(f32v x)
{
    return vmvnq_u32(vceqq_f32(x, x));
}

ALWAYS_INLINE f32v f32_add_where_zero(f32v x, f32v b, f32v addend)
{
    uint32x4_t added = vandq_u32(vceqzq_f32(b), vreinterpretq_u32_f32(addend));
    return vaddq_f32(x, vreinterpretq_f32_u32(added));
}

ALWAYS_INLINE f32v f32_round_to_f16(f32v magnitude)
{
    return vcvt_f32_f16(vcvt_f16_f32(magnitude));
}

ALWAYS_INLINE void f32_tally_start(struct f32_tally *tally)
{
    tally->lanes = vdupq_n_u32(0);
}

ALWAYS_INLINE void f32_tally_add(struct f32_tally *tally, size_t at, f32_mask mask)
{
    (void)at;
    tally->lanes = vsubq_u32(tally->lanes, mask);
}

static inline size_t f32_tally_total(const struct f32_tally *tally, size_t count)
{
    (void)count;
    return vaddvq_u32(tally->lanes);
}

ALWAYS_INLINE f64v f64_load(const f64_unaligned *from)
{
    f64v value;
    memcpy(&value, from, sizeof value);
    return value;
}

ALWAYS_INLINE f64v f64_widen(const f32_unaligned *from)
{
    float32x2_t narrow;
    memcpy(&narrow, from, sizeof narrow);
    return vcvt_f64_f32(narrow);
}

ALWAYS_INLINE f64v f64_splat(double value)
{
    return vdupq_n_f64(value);
}

ALWAYS_INLINE f64v f64_abs(f64v x)
{
    return vabsq_f64(x);
}

ALWAYS_INLINE f64v f64_max(f64v x, f64v y)
{
    return vbslq_f64(vcgtq_f64(x, y), x, y);
}

ALWAYS_INLINE f64v f64_min(f64v x, f64v y)
{
    return vbslq_f64(vcltq_f64(x, y), x, y);
}

ALWAYS_INLINE f64v f64_zero_if_nan(f64v x)
{
    return vreinterpretq_f64_u64(vandq_u64(vceqq_f64(x, x), vreinterpretq_u64_f64(x)));
}

ALWAYS_INLINE f64v f64_add_product(f64v sum, f64v x, f64v y)
{
    return vfmaq_f64(sum, x, y);
}

ALWAYS_INLINE bool f64_any(f64_mask mask)
{
    return (vgetq_lane_u64(mask, 0) | vgetq_lane_u64(mask, 1)) != 0;
}

ALWAYS_INLINE bool f64_may_exceed(f64v maximum, f64v half, f64v b, f64v d)
{
    return f64_any(vcgtq_f64(vfmsq_f64(d, maximum, b), vmulq_f64(b, half)));
}

ALWAYS_INLINE bool f64_any_above(f64v x, double limit)
{
    return f64_any(vcgtq_f64(x, vdupq_n_f64(limit)));
}

ALWAYS_INLINE f64_mask f64_at_least(f64v x, f64v limit)
{
    return vcgeq_f64(x, limit);
}

ALWAYS_INLINE f64_mask f64_is_nan(f64v x)
{
    return veorq_u64(vceqq_f64(x, x), vdupq_n_u64(UINT64_MAX));
}

ALWAYS_INLINE f64v f64_add_where_zero(f64v x, f64v b, f64v addend)
{
    uint64x2_t added = vandq_u64(vceqzq_f64(b), vreinterpretq_u64_f64(addend));
    return vaddq_f64(x, vreinterpretq_f64_u64(added));
}

ALWAYS_INLINE f64v f64_replace_zero(f64v b, f64v d)
{
    return f64_add_where_zero(b, b, d);
}

ALWAYS_INLINE f64v f64_round_to_f32(f64v x)
{
    return vcvt_f64_f32(vcvt_f32_f64(x));
}

ALWAYS_INLINE void f64_tally_start(struct f64_tally *tally)
{
    tally->lanes = vdupq_n_u64(0);
}

ALWAYS_INLINE void f64_tally_add(struct f64_tally *tally, size_t at, f64_mask mask)
{
    (void)at;
    tally->lanes = vsubq_u64(tally->lanes, mask);
}

static inline size_t f64_tally_total(const struct f64_tally *tally, size_t count)
{
    (void)count;
    return (size_t)vaddvq_u64(tally->lanes);
}

#endif
