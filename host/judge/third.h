/*
 * third.h - a third run beside the two that are compared: a truth, of which one side may be nearer,
 * or the reference once more, whose distance from itself is the noise that a difference is judged
 * by. docs/third.md has the rules.
 */
#ifndef TDC_HOST_THIRD_H
#define TDC_HOST_THIRD_H

#include "tdcmp.h"

/* Sums over the elements of three tensors in C order; merged chunk by chunk. */
struct tdc_third_sums {
    uint64_t count, finite;
    double aa, bb, ab;     /* (a - c)^2, (b - c)^2, (a - b)^2 */
    double a_ulps, b_ulps; /* squares */
    uint64_t a_nearer, b_nearer;
    bool a_lost, b_lost, ab_apart; /* not finite where c is; one of a and b alone is not */
};

/* How fine a type is: bits of its significand and the smallest normal exponent; 0 bits: exact. */
struct tdc_grain {
    int bits, least;
};
struct tdc_grain tdc_grain_of(tdc_dtype dtype);

/* Adds a block of elements. */
void tdc_third_add(struct tdc_third_sums *sums, const double *a, const double *b, const double *c,
                   size_t count, struct tdc_grain a_grain, struct tdc_grain b_grain);
void tdc_third_merge(struct tdc_third_sums *sums, const struct tdc_third_sums *other);

/* What the sums say. */
void tdc_third_settle(const struct tdc_third_sums *sums, struct tdc_third_row *row);

/* A difference of up to so many times the noise is none. */
#define TDC_NOISE_LIMIT 3.0

#endif
