/* metrics.h - the numbers by which a tested tensor is judged against its reference. */
#ifndef TDC_PRECHECK_METRICS_H
#define TDC_PRECHECK_METRICS_H

#include "tdcmp.h"

struct tdc_metrics {
    double cosine;       /* (1e-8 + b.t) / (1e-8 + |b||t|) */
    double max_abs;      /* NaN when any difference is */
    double max_relative; /* |b - t| / |b|, 1e-8 for b where that is 0 */
    double max_ulp;      /* over finite pairs; only when asked for */
    uint64_t worst;      /* where max_abs is first found */
};

/*
 * Both sides as float64, count > 0. The sums have an order that does not depend on threads: blocks
 * of 4096, in each eight interleaved sums; relative error below 1e-12 for any count that fits in
 * memory. ulp_of: a floating dtype to count its units in, else TDC_DTYPE_NONE.
 *
 * any_scale: the cosine is right where squares leave the range of float64, too; the old tool's
 * is NaN or anything there.
 */
void tdc_measure_slot(const double *bench, const double *tested, uint64_t count, tdc_dtype ulp_of,
                      bool any_scale, struct tdc_metrics *metrics);

/* One unit in the last place of dtype at value; 1 for other dtypes. */
double tdc_unit_at(double value, tdc_dtype dtype);
/* The difference in units of dtype at the larger of the two, so that an error beside a reference of
 * zero counts as what it is and not in subnormal units. */
double tdc_units_apart(double bench, double tested, tdc_dtype dtype);

#endif
