/*
 * predicate.h - conditions over the metrics of a row: "cosine >= 0.999 and not (max_abs > 0.1)".
 *
 *     or < and < not < comparison; parentheses; < <= > >= == != between two of number and metric
 *
 * A comparison with NaN is false, != too.
 */
#ifndef TDC_HOST_PREDICATE_H
#define TDC_HOST_PREDICATE_H

#include "io/base/arena.h"
#include "tdcmp.h"

enum tdc_metric {
    TDC_METRIC_COSINE,
    TDC_METRIC_MAX_ABS,
    TDC_METRIC_MAX_REL,
    TDC_METRIC_MEAN_ABS,
    TDC_METRIC_RMSE,
    TDC_METRIC_REL_L2,
    TDC_METRIC_REL_DIFF,
    TDC_METRIC_ELEMENTS,
    TDC_METRIC_NONFINITE_APART,
    TDC_METRICS
};

struct tdc_predicate;

/* NULL with *error set, "cannot read the predicate 'P'" or "'x' in the predicate 'P' is not known":
 * TDC_ERR_ARGUMENT; or TDC_ERR_MEMORY. The text must outlive the predicate. */
const struct tdc_predicate *tdc_predicate_read(const char *text, struct tdc_arena *arena,
                                               struct tdc_error *error);
bool tdc_predicate_holds(const struct tdc_predicate *predicate, const double metrics[TDC_METRICS]);
/* Is the metric in it? */
bool tdc_predicate_uses(const struct tdc_predicate *predicate, enum tdc_metric metric);

#endif
