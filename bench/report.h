/* report.h - figures of `tdcmp bench` as a table for people. */
#ifndef TDC_BENCH_REPORT_H
#define TDC_BENCH_REPORT_H

#include "bench/compare_case.h"

/* How it was measured: printed above the table. */
struct tdc_report_head {
    const char *title;
    int threads;
    tdc_rules_id rules;
    unsigned repeat;
    const char *folder;
    const char *file_state; /* "warm" */
};

void tdc_report_start(const struct tdc_report_head *head);
/* One row; written: "csv". */
void tdc_report_compare(const char *name, const struct tdc_compare_figures *figures,
                        const char *written);
/* What the columns mean. */
void tdc_report_end(void);

#endif
