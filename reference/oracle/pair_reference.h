/*
 * pair_reference.h - kernels/pair.h once more, one element at a time: the yardstick of the kernels.
 *
 * Shares no code with the kernels. Sums are kept in at least 113 bits where the compiler has such a
 * type and rounded once, so they are the right answer to half a unit in the last place for any
 * tensor a test can hold.
 */
#ifndef TDC_REFERENCE_PAIR_REFERENCE_H
#define TDC_REFERENCE_PAIR_REFERENCE_H

#include "kernels/pair.h"

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 tdc_wide;
#else
typedef long double tdc_wide; /* 113 bits on aarch64 */
#endif

/* Sums of the magnitudes of what the fields of the same name in tdc_pair_sums add up: the error of
 * a float64 sum is bounded by a multiple of these. May be infinite. */
struct tdc_pair_magnitudes {
    double nb, nn, bb, dd, n, b, abs;
};

/* Any count. The dtypes must be ones that tdc_pair_plan_make accepts. */
void tdc_pair_reference(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule,
                        const void *n, const void *b, size_t count, struct tdc_pair_sums *sums,
                        struct tdc_pair_magnitudes *magnitudes);

/* tdc_element_value and tdc_round_to_f16 by other means. */
double tdc_reference_value(tdc_dtype dtype, const void *element, double *imaginary);
/* Real types with all their digits. */
tdc_wide tdc_reference_wide_value(tdc_dtype dtype, const void *element);
double tdc_reference_round_to_f16(double value);

#endif
