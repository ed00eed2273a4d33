/*
 * rank_calls.h - the table of one rank call by call: as JSON, and as calls of the graph.
 *
 * `compare_result_rank<N>_*.json` holds an object per call: whether it is the same on both sides,
 * and its rows with all columns of the table.
 */
#ifndef TDC_ANALYSIS_RANK_CALLS_H
#define TDC_ANALYSIS_RANK_CALLS_H

#include "host/analysis/communication/comm_graph.h"
#include "host/table/table.h"
#include "io/base/text.h"

struct tdc_stack_lines;

/* How calls are judged. */
struct tdc_call_rules {
    bool outputs_only; /* msprobe 26: only outputs make a call differ, and calls whose names have
                          fewer than four parts are left out */
    bool nan_counts;   /* a statistic that only the NPU has as NaN is a difference */
};

struct tdc_rank_calls {
    long rank;
    tdc_table *table;                    /* compared */
    const struct tdc_stack_lines *lines; /* NULL: none */
    struct tdc_call_rules rules;
    size_t nan_rows;      /* with a NaN on one side alone */
    const char *nan_name; /* the first */
};

/* Appends the JSON of all calls to out and the calls to the graph. */
tdc_status tdc_rank_calls_write(struct tdc_rank_calls *calls, struct tdc_comm_graph *graph,
                                struct tdc_text *out, struct tdc_error *error);

#endif
