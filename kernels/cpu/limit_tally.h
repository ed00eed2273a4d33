/*
 * limit_tally.h - how many pairs of a block reach each limit of the relative error: for whole
 * numbers inverse[k] up to 1000, the pairs with inverse[k] d >= b, without rounding, and d not 0. d
 * and b are magnitudes and no NaN; d may be infinite. Instruction sets with a shorter way define
 * their own.
 */
#ifndef TDC_KERNELS_CPU_LIMIT_TALLY_H
#define TDC_KERNELS_CPU_LIMIT_TALLY_H

#include "kernels/cpu/vector/vector.h"
#include "kernels/pair.h"

#if !HAS_LIMIT_TALLY
struct limit_tally {
    struct f32_tally reached[TDC_PAIR_LIMITS];
};

ALWAYS_INLINE void limit_tally_start(struct limit_tally *tally)
{
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        f32_tally_start(&tally->reached[k]);
}

/* `at` is the index of the first pair. */
ALWAYS_INLINE void limit_tally_add(struct limit_tally *tally, size_t at,
                                   const float inverse[TDC_PAIR_LIMITS], f32v d, f32v b)
{
    f32v gap = f32_nan_where_zero(d);
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        f32_tally_add(&tally->reached[k], at, f32_reaches(f32_splat(inverse[k]), gap, b));
}

static inline void limit_tally_totals(const struct limit_tally *tally, size_t count,
                                      size_t totals[TDC_PAIR_LIMITS])
{
    for (size_t k = 0; k < TDC_PAIR_LIMITS; k++)
        totals[k] = f32_tally_total(&tally->reached[k], count);
}
#endif

#endif
