/* trace_origins.h - what a trace knows of the dumps of all ranks. Internal to host/analysis/trace.
 */
#ifndef TDC_ANALYSIS_TRACE_ORIGINS_H
#define TDC_ANALYSIS_TRACE_ORIGINS_H

#include "io/base/arena.h"
#include "io/base/text.h"
#include "tdcmp.h"

/* What the float64 reference says. */
enum trace_verdict {
    TRACE_NOT_JUDGED,
    TRACE_NO_REFERENCE,
    TRACE_NPU_OFF,
    TRACE_BENCH_OFF,
    TRACE_BOTH_OFF,
    TRACE_NPU_FARTHER, /* both are within their bounds, and the inputs were the same */
    TRACE_BENCH_FARTHER,
    TRACE_ROUNDING
};

struct trace_origin {
    size_t task;
    tdc_origin_kind kind;
    bool backward, consequence;
    bool arrived; /* a communication brought it from another rank */
    const char *row, *call;
    const char *worst;            /* its worst element, in words */
    const char *stack;            /* first line of its stack, NULL: none */
    const char *module;           /* that the call stands in, NULL: not known */
    size_t communications, place; /* communication calls of the rank before it; its row */
    double distance, element;     /* relative distance, worst element */
    double input_distance;
    enum trace_verdict verdict;
    double npu_ulp, bench_ulp; /* negative: not measured */
    const char *reason;        /* of TRACE_NO_REFERENCE */
};

/* The first call of a side that makes NaN or infinity of finite inputs, or meets them first. */
struct trace_abnormal {
    const char *call; /* NULL: none */
    bool made;        /* by this call; else it came in with its inputs */
};

struct trace_growth {
    const char *call;
    double distance; /* largest of its outputs */
    bool backward;
};

struct trace_task {
    const struct tdc_task *task;
    struct trace_abnormal abnormal[2]; /* NPU, bench */
    struct trace_growth *growth;       /* calls in the order of the dump */
    size_t growth_count;
    uint64_t rows, different;
    tdc_mode mode;
};

struct tdc_trace {
    struct tdc_arena arena;
    struct trace_task *tasks;
    size_t task_count;
    struct trace_origin *origins; /* in network order over all ranks */
    size_t origin_count, origin_capacity;
    size_t arrived; /* of them consequences of another rank's, at the end of the list */
    struct tdc_text text, json;
};

/* Compares one task and adds what is found. */
tdc_status trace_add_task(struct tdc_trace *trace, const struct tdc_task *task, const char *from,
                          const struct tdc_options *options, struct tdc_error *error);
/* Network order over all ranks; what another rank's origin explains goes to the end. */
void trace_sort(struct tdc_trace *trace);
/* Asks the reference about the first `top` origins. */
void trace_judge(struct tdc_trace *trace, size_t top, const struct tdc_options *options);
/* Fill trace->text and trace->json. */
void trace_tell(struct tdc_trace *trace, size_t top);
void trace_put_json(struct tdc_trace *trace);
/* "test is off: ..." */
void trace_add_verdict(struct tdc_text *out, const struct trace_origin *origin);

#endif
