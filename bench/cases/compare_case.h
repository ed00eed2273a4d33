/*
 * compare_case.h - one comparison measured: the parts of a whole run beside yardsticks.
 *
 * The work is done through the public header alone: load, match, table, compare and write. A first
 * run is not timed: it warms up and its memory is watched.
 */
#ifndef TDC_BENCH_COMPARE_CASE_H
#define TDC_BENCH_COMPARE_CASE_H

#include "bench/yardsticks/bare_read.h"
#include "bench/yardsticks/file_state.h"
#include "bench/tools/measure.h"

enum tdc_compare_lap {
    TDC_LAP_WHOLE,
    TDC_LAP_LOAD,    /* both dump.json */
    TDC_LAP_MATCH,   /* and the table */
    TDC_LAP_COMPARE, /* reading and comparing tensors; rows are written meanwhile */
    TDC_LAP_TABLES   /* that, to the finished file */
};

struct tdc_compare_setup {
    struct tdc_options options; /* threads of 0 are for tdc_compare to choose */
    const tdc_tasks *tasks;
    size_t task_count;
    const struct tdc_bare_files *files; /* tensor files of the dumps; none for statistics */
    bool cold;                          /* the files are dropped from memory before each run */
    const char *result; /* files to write, one per task: a number follows; overwritten */
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
    uint64_t memory_bytes; /* of the files, read from memory; 0: not done */
    double memory_seconds;
    uint64_t peak_bytes;  /* of its own memory beyond the tables while comparing and writing */
    struct tdc_drop drop; /* cold: the worst of all drops */
    unsigned runs;
};

/* Measures the comparison in turns with the bare read of its files and with another work (NULL:
 * none), whose `best` is filled. */
tdc_status tdc_compare_measure(const struct tdc_compare_setup *setup, struct tdc_work *other,
                               struct tdc_compare_figures *figures, struct tdc_error *error);

/* A work for `other`: the same comparison with another number of threads. */
struct tdc_compare_other {
    struct tdc_compare_setup setup;
    struct tdc_compare_figures figures; /* rows, bytes */
};
tdc_status tdc_compare_run_other(void *other, double laps[TDC_LAPS], struct tdc_error *error);

/* "cold", "not cold", ... or "warm" */
const char *tdc_compare_state(const struct tdc_compare_setup *setup,
                              const struct tdc_compare_figures *figures);

#endif
