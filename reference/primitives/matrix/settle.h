/* settle.h - choosing, among bases of one space, the nearest to a recorded one. */
#ifndef TDC_REFERENCE_SETTLE_H
#define TDC_REFERENCE_SETTLE_H

#include "reference/evaluation.h"

/* Columns of x[rows, columns], and what was recorded for them, [rows, recorded_columns]. */
struct tdc_side {
    double *x;
    const double *recorded; /* NULL: not recorded */
    int64_t rows, columns, recorded_columns;
};

/* Columns [from, to) become those in the same space that are nearest to the recorded; both sides by
 * the same turn, so that their product stays what it is. b may be NULL. */
void tdc_settle(tdc_evaluation *e, const struct tdc_side *a, const struct tdc_side *b, int64_t from,
                int64_t to);

/* Values this close, relative to the largest, are one: float32 cannot tell their vectors apart. */
#define TDC_EQUAL_VALUES 2e-4

/* The end of the values equal to that at `from`, each to the one before; values are sorted. */
int64_t tdc_end_of_equals(const double *values, int64_t from, int64_t count, double scale);

#endif
