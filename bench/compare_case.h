/*
 * compare_case.h - one comparison measured: the parts of a whole run beside a bare read.
 *
 * The work is done through the public header alone: load, match, table, compare, write.
 */
#ifndef TDC_BENCH_COMPARE_CASE_H
#define TDC_BENCH_COMPARE_CASE_H

#include "bench/bare_read.h"
#include "bench/measure.h"

enum tdc_compare_lap {
    TDC_LAP_WHOLE,
    TDC_LAP_LOAD,  /* both dump.json */
    TDC_LAP_MATCH, /* and the table */
    TDC_LAP_COMPARE,
    TDC_LAP_WRITE
};

struct tdc_compare_setup {
    struct tdc_options options; /* threads of 0 are for tdc_compare to choose */
    const struct tdc_task *tasks;
    size_t task_count;
    const char *result; /* file to write, overwritten */
    tdc_format format;
    unsigned repeat;
    double budget; /* seconds after which no further round starts */
};

struct tdc_compare_figures {
    uint64_t rows, different;
    uint64_t bytes;        /* of tensor data, both sides */
    double laps[TDC_LAPS]; /* fastest seconds, by tdc_compare_lap */
    uint64_t bare_bytes;   /* of the tensor files; 0: there are none */
    double bare_seconds;
    unsigned runs;
};

/* bare: the tensor files of the dumps, read in turns with the comparison; none for statistics. */
tdc_status tdc_compare_measure(const struct tdc_compare_setup *setup,
                               const struct tdc_bare_files *bare,
                               struct tdc_compare_figures *figures, struct tdc_error *error);

#endif
