/*
 * vector_plain.h - vector.h in the vector extensions of GCC and clang, 16 bytes wide and without
 * fused multiply-add: for SSE2 and anything that has no file of its own. The compilers do not see
 * a maximum in a selection, hence the few words of SSE2.
 */
#ifndef TDC_KERNELS_CPU_VECTOR_VECTOR_PLAIN_H
#define TDC_KERNELS_CPU_VECTOR_VECTOR_PLAIN_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define F32_LANES        4
#define F64_LANES        2
#define FUSE_PASSES      0
#define HAS_SMALL_FLOATS 0
#define HAS_LIMIT_TALLY  0
#define HAS_NEAR_GROUPS  0
#define HAS_HALF_BLOCKS  0

typedef float f32v __attribute__((vector_size(16)));
typedef double f64v __attribute__((vector_size(16)));
typedef int32_t f32_mask __attribute__((vector_size(16))); /* all bits of a lane alike */
typedef int64_t f64_mask __attribute__((vector_size(16)));

struct f32_tally {
    f32_mask lanes;
};
struct f64_tally {
    f64_mask lanes;
};

ALWAYS_INLINE f32v f32_load(const f32_unaligned *from)
{
    f32v value;
    memcpy(&value, from, sizeof value);
    return value;
}

ALWAYS_INLINE f32v f32_splat(float value)
{
    return (f32v){value, value, value, value};
}

ALWAYS_INLINE f32v f32_select(f32_mask mask, f32v x, f32v y)
{
    return (f32v)((mask & (f32_mask)x) | (~mask & (f32_mask)y));
}

ALWAYS_INLINE f32v f32_abs(f32v x)
{
    return (f32v)((f32_mask)x & 0x7fffffff);
}

ALWAYS_INLINE f32v f32_max(f32v x, f32v y)
{
#if defined(__SSE2__)
    return _mm_max_ps(x, y);
#else
    return f32_select(x > y, x, y);
#endif
}

ALWAYS_INLINE f32v f32_min(f32v x, f32v y)
{
#if defined(__SSE2__)
    return _mm_min_ps(x, y);
#else
    return f32_select(x < y, x, y);
#endif
}

ALWAYS_INLINE f32v f32_nan_where_zero(f32v d)
{
    return (f32v)((f32_mask)d | (d == 0));
}

ALWAYS_INLINE f32_mask f32_reaches(f32v inverse, f32v d, f32v b)
{
    /*
     * Both products are exact, and so is the subtraction unless the sides are so far apart that the
     * lower digits do not matter. Where d is infinite, `upper` is and `lower` is NaN: that is why
     * the comparison is the wrong way round. A NaN leaves by the last term.
     */
    f32v upper = (f32v)((f32_mask)d & ~0x3ff), lower = d - upper;
    return ~(inverse * upper - b < -(inverse * lower)) & (d == d);
}

ALWAYS_INLINE f32v f32_shortfall(f32v bound, f32v b, f32v d)
{
    /* The subtraction makes up for what a product of tiny numbers may have lost; inf - inf counts.
     */
    f32v rest = f32_max(bound * b - 0x1p-125f, f32_splat(0)) - d;
    return (f32v)(~(rest >= 0) & (f32_mask)f32_splat(-1));
}

ALWAYS_INLINE bool f32_any(f32_mask mask)
{
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

ALWAYS_INLINE bool f32_any_negative(f32v x)
{
    return f32_any(x < 0);
}

ALWAYS_INLINE bool f32_any_at_least(f32v x, float limit)
{
    return f32_any(x >= f32_splat(limit));
}

ALWAYS_INLINE f32_mask f32_at_least(f32v x, f32v limit)
{
    return x >= limit;
}

ALWAYS_INLINE f32_mask f32_is_nan(f32v x)
{
    return x != x;
}

ALWAYS_INLINE f32v f32_add_where_zero(f32v x, f32v b, f32v addend)
{
    return x + (f32v)((b == 0) & (f32_mask)addend);
}

/* As round_magnitude_to_f16. */
ALWAYS_INLINE f32v f32_round_to_f16(f32v magnitude)
{
    f32_mask power = (f32_mask)magnitude & 0x7f800000;
    f32_mask low = power<0x38800000, high = power> 0x48000000;
    power = (power & ~(low | high)) | (low & 0x38800000) | (high & 0x48000000);
    f32v shift = (f32v)(power + (13 << 23));
    return ((magnitude + shift) - shift) * 0x1p112f * 0x1p-112f;
}

ALWAYS_INLINE void f32_tally_start(struct f32_tally *tally)
{
    tally->lanes = (f32_mask){0};
}

ALWAYS_INLINE void f32_tally_add(struct f32_tally *tally, size_t at, f32_mask mask)
{
    (void)at;
    tally->lanes -= mask;
}

static inline size_t f32_tally_total(const struct f32_tally *tally, size_t count)
{
    (void)count;
    return (size_t)(tally->lanes[0] + tally->lanes[1] + tally->lanes[2] + tally->lanes[3]);
}

ALWAYS_INLINE f64v f64_load(const f64_unaligned *from)
{
    f64v value;
    memcpy(&value, from, sizeof value);
    return value;
}

ALWAYS_INLINE f64v f64_widen(const f32_unaligned *from)
{
    typedef float narrow __attribute__((vector_size(8)));
    narrow value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, f64v);
}

ALWAYS_INLINE f64v f64_splat(double value)
{
    return (f64v){value, value};
}

ALWAYS_INLINE f64v f64_abs(f64v x)
{
    return (f64v)((f64_mask)x & 0x7fffffffffffffff);
}

ALWAYS_INLINE f64v f64_max(f64v x, f64v y)
{
#if defined(__SSE2__)
    return _mm_max_pd(x, y);
#else
    f64_mask above = x > y;
    return (f64v)((above & (f64_mask)x) | (~above & (f64_mask)y));
#endif
}

ALWAYS_INLINE f64v f64_min(f64v x, f64v y)
{
#if defined(__SSE2__)
    return _mm_min_pd(x, y);
#else
    f64_mask below = x < y;
    return (f64v)((below & (f64_mask)x) | (~below & (f64_mask)y));
#endif
}

ALWAYS_INLINE f64v f64_zero_if_nan(f64v x)
{
    return (f64v)((x == x) & (f64_mask)x);
}

ALWAYS_INLINE f64v f64_add_product(f64v sum, f64v x, f64v y)
{
    return sum + x * y;
}

ALWAYS_INLINE bool f64_any_above(f64v x, double limit)
{
    return x[0] > limit || x[1] > limit;
}

ALWAYS_INLINE bool f64_may_exceed(f64v maximum, f64v half, f64v b, f64v d)
{
    (void)half;
    return f64_any_above(d / b, maximum[0]);
}

ALWAYS_INLINE f64_mask f64_at_least(f64v x, f64v limit)
{
    return x >= limit;
}

ALWAYS_INLINE f64_mask f64_is_nan(f64v x)
{
    return x != x;
}

ALWAYS_INLINE f64v f64_replace_zero(f64v b, f64v d)
{
    return b + (f64v)((b == 0) & (f64_mask)d);
}

ALWAYS_INLINE f64v f64_add_where_zero(f64v x, f64v b, f64v addend)
{
    return x + (f64v)((b == 0) & (f64_mask)addend);
}

ALWAYS_INLINE f64v f64_round_to_f32(f64v x)
{
    /* Written lane by lane, GCC 12 drops the rounding. */
    typedef float narrow __attribute__((vector_size(8)));
    return __builtin_convertvector(__builtin_convertvector(x, narrow), f64v);
}

ALWAYS_INLINE void f64_tally_start(struct f64_tally *tally)
{
    tally->lanes = (f64_mask){0};
}

ALWAYS_INLINE void f64_tally_add(struct f64_tally *tally, size_t at, f64_mask mask)
{
    (void)at;
    tally->lanes -= mask;
}

static inline size_t f64_tally_total(const struct f64_tally *tally, size_t count)
{
    (void)count;
    return (size_t)(tally->lanes[0] + tally->lanes[1]);
}

#endif
