/*
 * vector.h - the few vector operations of the kernels, in one file per instruction set.
 *
 * A register holds F32_LANES floats (f32v) or F64_LANES doubles (f64v); +, -, * and / work on them
 * as on numbers. Every operation gives the same bits in every file unless its comment below says
 * otherwise, and none depends on the order of lanes.
 *
 *   f32_max(x, y)                   x > y ? x : y, so y where one is NaN; likewise the others
 *   f32_nan_where_zero(d)           NaN where d is 0, else d
 *   f32_reaches(inverse, d, b)      mask: inverse d >= b without rounding. For whole numbers
 *                                   `inverse` up to 1000; false where d is NaN
 *   f32_shortfall(bound, b, d)      negative where d > bound b, perhaps also where they are within
 *                                   2^-22 of each other or tiny: the one result that may vary
 *   f32_any_sign(x)                 whether a sign is set, be it that of 0
 *   f32_add_where_zero(x, b, c)     x + c where b is 0, else x
 *   f32_round_to_f16(magnitude)     to the nearest half, ties to even
 *   f64_widen(p)                    F64_LANES floats from p on as doubles
 *   f64_add_product(sum, x, y)      sum + x y, the product being exact
 *   f64_may_exceed(r, half, b, d)   whether d/b rounded may be above r in any lane; `half` is a bit
 *                                   less than half a unit in the last place of r. May vary
 *   f64_replace_zero(b, d)          d where b is 0, else b
 *   f32_tally, f64_tally            counts of lanes in masks over one block: start, then add with
 *                                   the index of the first lane, then total
 */
#ifndef TDC_KERNELS_CPU_VECTOR_VECTOR_H
#define TDC_KERNELS_CPU_VECTOR_VECTOR_H

#include <float.h>
#include <stdbool.h>

#include "kernels/cpu/vector/decode.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Two buffers of f64 fill half of a 32 KB first-level cache. Half or twice as many is no faster. */
#define BLOCK 1024
/* A multiple of the lanes of every loop. */
#define PADDING 32

/* Tensors may start at any address. */
typedef float f32_unaligned __attribute__((aligned(1), may_alias));
typedef double f64_unaligned __attribute__((aligned(1), may_alias));
typedef int16_t i16_unaligned __attribute__((aligned(1), may_alias));
typedef int32_t i32_unaligned __attribute__((aligned(1), may_alias));
typedef int64_t i64_unaligned __attribute__((aligned(1), may_alias));
typedef uint16_t u16_unaligned __attribute__((aligned(1), may_alias));
typedef uint32_t u32_unaligned __attribute__((aligned(1), may_alias));
typedef uint64_t u64_unaligned __attribute__((aligned(1), may_alias));

#if defined(__AVX512F__)
#include "kernels/cpu/vector/vector_avx512.h"
#elif defined(__AVX2__)
#include "kernels/cpu/vector/vector_avx2.h"
#elif defined(__aarch64__)
#include "kernels/cpu/vector/vector_neon.h"
#else
#include "kernels/cpu/vector/vector_plain.h"
#endif

/* Halving the lanes again and again lets the compiler use vectors here, too. */
static inline float f32_highest(f32v values)
{
    float lanes[F32_LANES];
    memcpy(lanes, &values, sizeof lanes);
    for (size_t half = F32_LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
    return lanes[0];
}

static inline double f64_highest(f64v values)
{
    double lanes[F64_LANES];
    memcpy(lanes, &values, sizeof lanes);
    for (size_t half = F64_LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
    return lanes[0];
}

#endif
