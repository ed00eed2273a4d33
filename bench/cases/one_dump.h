/* one_dump.h - one rank on its way to a table: loaded, matched, ready to be compared. */
#ifndef TDC_BENCH_ONE_DUMP_H
#define TDC_BENCH_ONE_DUMP_H

#include "bench/tools/measure.h"

/* Through the public header alone. */
struct tdc_one_dump {
    tdc_dump *npu, *bench;
    tdc_match *match;
    tdc_table *table;
};

/* Adds the seconds of both steps to *load and *match. To be freed in any case. */
tdc_status tdc_one_dump_prepare(struct tdc_one_dump *dump, const struct tdc_task *task,
                                const struct tdc_options *options, double *load, double *match,
                                struct tdc_error *error);
void tdc_one_dump_free(struct tdc_one_dump *dump);

#endif
