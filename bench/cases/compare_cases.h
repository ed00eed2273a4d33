/* compare_cases.h - the cases of `tdcmp bench compare`. */
#ifndef TDC_BENCH_COMPARE_CASES_H
#define TDC_BENCH_COMPARE_CASES_H

#include "bench/tools/option_values.h"
#include "bench/tools/bench_options.h"
#include "bench/cases/dump_pair.h"
#include "bench/tools/report.h"

enum tdc_compare_case {
    TDC_CASE_LARGE,      /* few large tensors beside a bare read */
    TDC_CASE_EQUAL,      /* the same of equal types, the sides equal to the bit */
    TDC_CASE_SMALL,      /* many tensors of 4 KB */
    TDC_CASE_STATISTICS, /* csv beside Python's json.load, xlsx beside libxlsxwriter */
    TDC_CASE_COLD,       /* files out of memory beside direct reads */
    TDC_CASE_SCALING,    /* all threads beside one, data in the processor's cache */
    TDC_CASE_GRAPH,      /* dumps of GE beside npy files of the same bytes */
    TDC_CASES
};

struct tdc_cases_settings {
    struct tdc_bench_options bench;
    bool cases[TDC_CASES];
    struct tdc_dtype_pair pairs[TDC_MOST_PAIRS]; /* of large */
    size_t pair_count;
    uint64_t size, tensors; /* of large and cold */
    uint64_t small_tensors, statistics_tensors;
};

/* Runs the chosen cases in a place and reports each. */
tdc_status tdc_cases_run(const struct tdc_cases_settings *settings,
                         const struct tdc_bench_place *place, struct tdc_report *report,
                         struct tdc_error *error);

#endif
