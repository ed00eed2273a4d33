/* page_case.h - the HTML page of a table beside its csv: the same rows, written from memory. */
#ifndef TDC_BENCH_PAGE_CASE_H
#define TDC_BENCH_PAGE_CASE_H

#include "bench/tools/measure.h"

struct tdc_page_figures {
    uint64_t rows;
    double page, csv; /* fastest seconds */
};

/* Compares once and writes both in turns; files at `result`, overwritten. */
tdc_status tdc_page_measure(const struct tdc_task *task, const struct tdc_options *options,
                            const char *result, unsigned repeat, double budget,
                            struct tdc_page_figures *figures, struct tdc_error *error);

#endif
