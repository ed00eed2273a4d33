/*
 * third.h - what is known of two tensors by a third: a truth, of which one side may be nearer, or
 * the reference once more, whose distance from itself is the noise that a difference is judged by.
 * The truth is a third run, or a call computed in float64. docs/third.md has the rules.
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

/* The elements of one side, those of its truth, and the type that the side was stored in. The two
 * sides of a row have one truth, unless it was computed from the inputs of each. */
struct tdc_third_side {
    const double *values, *truth;
    struct tdc_grain grain;
};

/* Adds a block of elements. */
void tdc_third_add(struct tdc_third_sums *sums, const struct tdc_third_side *a,
                   const struct tdc_third_side *b, size_t count);
void tdc_third_merge(struct tdc_third_sums *sums, const struct tdc_third_sums *other);

/* What the sums say. */
void tdc_third_settle(const struct tdc_third_sums *sums, struct tdc_third_row *row);

/* ---- the columns, wherever they are written ------------------------------------------------- */

enum {
    TDC_TRUTH_COLUMNS = 10
};
extern const char *const tdc_truth_columns[TDC_TRUTH_COLUMNS];
/* The cells of a row that is known. */
void tdc_truth_cells(const char *name, const struct tdc_third_row *row,
                     struct tdc_cell cells[TDC_TRUTH_COLUMNS]);

/* A difference of up to so many times the noise is none. */
#define TDC_NOISE_LIMIT 3.0

#endif
