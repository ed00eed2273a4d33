/*
 * slot_loops.h - the loops of judging that every element of a large dump goes through, by vectors
 * where the CPU has AVX2. The same bits with and without.
 *
 * Each gives false when the elements are not all plain, finite numbers: what it found is worth
 * nothing then, and they are to be looked at one by one.
 */
#ifndef TDC_PRECHECK_SLOT_LOOPS_H
#define TDC_PRECHECK_SLOT_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All |t| are finite and all |b| at most `largest`. */
bool tdc_slot_finite(const double *b, const double *t, size_t n, double largest);

/* The largest |b - t|, and the largest of it relative to |b|, or to `epsilon` where that is 0. */
bool tdc_slot_maxima(const double *b, const double *t, size_t n, double epsilon, double *most,
                     double *relative);

/* The largest |b - t| in units of 2^(exponent - digits), the exponent being that of the larger of
 * the two and `least` at least, which is larger than digits - 1023. */
bool tdc_slot_units(const double *b, const double *t, size_t n, int least, int digits,
                    double *most);

/* |t - b| over the bound last |b| + unit max(error, factor |b|) + rest; *exact is set when an error
 * is 0, where that says nothing. */
struct tdc_slot_limits {
    double last, unit, factor, rest;
};
bool tdc_slot_ratios(const double *b, const double *t, const double *error, size_t n,
                     const struct tdc_slot_limits *limits, double *ratios, double *most,
                     bool *exact);

/* All t are b rounded to float32. */
bool tdc_slot_rounded(const double *b, const double *t, size_t n);

/* x rounded to float32 and then to bfloat16. */
bool tdc_slot_to_brains(const double *x, size_t n, double *to);

#endif
