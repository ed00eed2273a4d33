/*
 * standard_metrics.h - the metrics of msprobe's PyTorch standards.
 *
 * They are computed in the arithmetic numpy uses for the two arrays: float64 when one of them is,
 * else float32, or float16 when both are. bfloat16 is float32 there.
 */
#ifndef TDC_PRECHECK_STANDARD_METRICS_H
#define TDC_PRECHECK_STANDARD_METRICS_H

#include "host/precheck/standards/slot_standard.h"

/* The two sides of a floating slot. */
struct tdc_sides {
    const double *bench, *device;
    const double *cast; /* bench in the device dtype */
    uint64_t count;
    tdc_dtype dtype;      /* of the device */
    tdc_dtype bench_type; /* TDC_F16, TDC_F32 or TDC_F64 */
    tdc_dtype arithmetic; /* of their differences */
    double epsilon;       /* of the bench dtype */
};

void tdc_metrics_of_standard(enum tdc_api_standard standard, const struct tdc_sides *sides,
                             struct tdc_standard_row *row);

void tdc_set_metric(struct tdc_standard_row *row, enum tdc_standard_metric metric, double value,
                    enum tdc_metric_form form);
/* The form of a number in the arithmetic of the sides. */
enum tdc_metric_form tdc_form_of(const struct tdc_sides *sides);
double tdc_absolute_error(const struct tdc_sides *sides, uint64_t i);
double tdc_relative_error(const struct tdc_sides *sides, uint64_t i);
/* Share of elements with a relative error below `limit`. */
double tdc_share_below(const struct tdc_sides *sides, double limit);

#endif
