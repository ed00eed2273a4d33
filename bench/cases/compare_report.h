/* compare_report.h - the table of the commands that measure comparisons. */
#ifndef TDC_BENCH_COMPARE_REPORT_H
#define TDC_BENCH_COMPARE_REPORT_H

#include "bench/cases/compare_case.h"
#include "bench/tools/report.h"

/* The first TDC_COMPARE_COLUMNS describe the comparison, the last three what it stands beside. */
#define TDC_COMPARE_COLUMNS 14
#define TDC_BESIDE_COLUMNS  3
extern const struct tdc_report_column tdc_compare_columns[TDC_COMPARE_COLUMNS + TDC_BESIDE_COLUMNS];

/* A yardstick and how the comparison does by it. */
struct tdc_beside {
    const char *name;   /* NULL: none */
    double ratio;       /* NaN: not measured */
    const char *target; /* what the project asks for: ">= 0.85"; NULL: nothing */
};

/* One row; beside is used when the report has the columns. */
void tdc_compare_report(struct tdc_report *report, const char *name,
                        const struct tdc_compare_setup *setup,
                        const struct tdc_compare_figures *figures, const struct tdc_beside *beside);

/* What the columns mean. */
void tdc_compare_notes(struct tdc_report *report);

/* GB/s while comparing, and of the bare read; 0: none. */
double tdc_compare_speed(const struct tdc_compare_figures *figures);
double tdc_bare_speed(const struct tdc_compare_figures *figures);

#endif
