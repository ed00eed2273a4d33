/* prepared_comparison.h - one rank on its way to a table: loaded, matched, ready to be compared. */
#ifndef TDC_BENCH_PREPARED_COMPARISON_H
#define TDC_BENCH_PREPARED_COMPARISON_H

#include "bench/tools/measure.h"

/* Through the public header alone. */
struct tdc_prepared_comparison {
    tdc_dump *npu, *bench;
    tdc_match *match;
    tdc_table *table;
};

/* Adds the seconds of both steps to *load and *match. To be freed in any case. */
tdc_status tdc_comparison_prepare(struct tdc_prepared_comparison *prepared,
                                  const struct tdc_task *task, const struct tdc_options *options,
                                  double *load, double *match, struct tdc_error *error);
void tdc_comparison_free(struct tdc_prepared_comparison *prepared);

#endif
