/*
 * precision.h - what a dtype can promise: unit roundoff and the limits of the levels.
 *
 * The limits were found by running correct and faulty pairs of small real networks in every one of
 * these dtypes; docs/verdicts.md has the runs. float64 and float8 are by analogy.
 */
#ifndef TDC_HOST_PRECISION_H
#define TDC_HOST_PRECISION_H

#include <stdbool.h>

/* From fine to coarse. */
enum tdc_precision {
    TDC_PRECISION_EXACT, /* integers and bools: equal or not */
    TDC_PRECISION_F64,
    TDC_PRECISION_F32,
    TDC_PRECISION_F16,
    TDC_PRECISION_BF16,
    TDC_PRECISION_F8,
    TDC_PRECISIONS
};

/* Largest relative distance of a level; the worst element may be so many times as far. */
#define TDC_WORST_TIMES 4
struct tdc_level_limits {
    double rounding, close;
};

/* Of a dtype as dumps write it: "torch.bfloat16", "BFloat16", "mindspore.float32", "complex64". */
enum tdc_precision tdc_precision_of(const char *dtype);

/* Half the distance from 1 to the next number. */
double tdc_unit_roundoff(enum tdc_precision precision);

/* "float32": for messages. */
const char *tdc_precision_name(enum tdc_precision precision);

struct tdc_level_limits tdc_level_limits(enum tdc_precision precision, bool gradient);

/* Is the arithmetic of the dtype that of float16 and coarser? */
static inline bool tdc_precision_half(enum tdc_precision precision)
{
    return precision >= TDC_PRECISION_F16;
}

#endif
