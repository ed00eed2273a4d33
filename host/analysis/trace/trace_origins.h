/* trace_origins.h - what a trace knows of the dumps of all ranks. Internal to host/analysis/trace.
 */
#ifndef TDC_ANALYSIS_TRACE_ORIGINS_H
#define TDC_ANALYSIS_TRACE_ORIGINS_H

#include "host/analysis/call_partners.h"
#include "host/judge/third.h"
#include "io/base/arena.h"
#include "io/base/text.h"
#include "tdcmp.h"
#include "tdcmp/share.h"

/* What the float64 reference says. */
enum trace_verdict {
    TRACE_NOT_JUDGED,
    TRACE_NO_REFERENCE,
    TRACE_NPU_OFF,
    TRACE_BENCH_OFF,
    TRACE_BOTH_OFF,
    TRACE_ROUNDING /* both are within their bounds */
};

/* What the columns of a truth (host/judge/third.h) were computed against. */
enum trace_truth {
    TRACE_NO_TRUTH,
    TRACE_TRUTH_REFERENCE, /* the call in float64, from the inputs of each side */
    TRACE_TRUTH_RUN        /* a third run */
};

/* When something was done, in the time that ranks have in common. */
struct trace_time {
    size_t step;     /* its place among the steps */
    uint64_t event;  /* twice the time of the last communication, and one more behind it */
    size_t position; /* calls of its rank since then */
};

#define TRACE_NO_ORIGIN SIZE_MAX

struct trace_origin {
    size_t task;
    tdc_origin_kind kind;
    bool backward, consequence;
    bool parameter; /* the row is a parameter, which no communication brings */
    bool arrived;   /* a communication brought it from another rank */
    bool repeated;  /* another rank has the same, which is told in its place */
    size_t cause; /* the number of the origin it came from or repeats, TRACE_NO_ORIGIN: not known */
    size_t number; /* its own: its place while ranks were read, and in the order at last */
    const char *row, *call;
    const char *worst;        /* its worst element, in words */
    const char *const *stack; /* lines, innermost first */
    size_t stack_count;
    const char *const *modules; /* that the call stands in, innermost first */
    size_t module_count;
    size_t entry; /* of the dump: where it stands in time */
    struct trace_time time;
    size_t place;             /* its row */
    double distance, element; /* relative distance, worst element */
    double input_distance;
    uint64_t explains; /* rows that are different and follow from it, on all ranks */
    size_t ranks;      /* other ranks it came to */
    size_t alike;      /* other ranks that have the same */
    size_t last_task;  /* the last of them while they are counted */
    enum trace_verdict verdict;
    double npu_ulp, bench_ulp; /* negative: not measured */
    const char *reason;        /* of TRACE_NO_REFERENCE */
    enum trace_truth truth_is;
    struct tdc_third_row truth; /* which side is nearer */
};

/* The first call of a side that makes NaN or infinity of finite inputs, or meets them first. */
struct trace_abnormal {
    const char *call; /* NULL: none */
    bool made;        /* by this call; else it came in with its inputs */
    size_t entry;
    struct trace_time time;
};

struct trace_growth {
    const char *call;
    const char *layer; /* NULL: not known */
    double distance;   /* largest of its outputs */
    bool backward;
    bool update; /* of parameters: no part of a layer */
};

/* A part of the network in one direction. */
struct trace_layer {
    const char *name;
    bool backward;
    size_t calls;
    double distance; /* largest of its calls */
};

/* A communication call of a rank. */
struct trace_exchange {
    size_t entry;
    uint32_t time;         /* of its communication, from 1 */
    bool differs;          /* its inputs are not identical, or could not be compared */
    double input_distance; /* largest */
};

struct trace_task {
    const struct tdc_task *task;
    const char *sides[2];              /* NPU and bench as members of the JSON */
    struct trace_abnormal abnormal[2]; /* NPU, bench */
    struct trace_growth *growth;       /* calls in the order of the dump */
    size_t growth_count;
    struct trace_layer *layers; /* forward, then backward, each in its order */
    size_t layer_count;
    struct trace_exchange *exchanges; /* in the order of the dump */
    size_t exchange_count;
    size_t first_origin, origin_count; /* until they are sorted */
    size_t step;                       /* its place among the steps */
    uint64_t rows, different, unread, unmatched;
    tdc_mode mode;
    bool in_graph; /* its communications are linked with those of other ranks */
};

/* The tasks of one step, whose communications are linked. */
struct trace_step {
    struct tdc_comm_graph *graph;
    size_t first_task, task_count;
    long last_rank;
};

struct tdc_trace {
    struct tdc_arena arena;
    struct trace_task *tasks;
    size_t task_count;
    size_t left_out;  /* tasks that could not be compared */
    tdc_share *share; /* NULL: none */
    bool part;        /* a share of the comparisons is all there is to do */
    struct trace_step *steps;
    size_t step_count;
    struct trace_origin *origins; /* in network order over all ranks */
    size_t origin_count, origin_capacity;
    size_t repeated; /* of them those that repeat another's, behind those that are told */
    size_t arrived;  /* of them consequences of another rank's, at the end of the list */
    struct tdc_text text, json;
    const char *command, *folder; /* as in struct tdc_table */
    const char *truth;            /* path of a third run, the caller's; NULL: none */
    size_t top;
    tdc_html_report *report; /* that rows and origins go to; the caller's, NULL: none */
};

tdc_status trace_no_memory(struct tdc_error *error);
/* A copy that lives as long as the trace; NULL of NULL, and when out of memory. */
const char *trace_keep(struct tdc_trace *trace, const char *text);

/* Compares one task and adds what is found. */
tdc_status trace_add_task(struct tdc_trace *trace, const struct tdc_task *task, const char *from,
                          const struct tdc_options *options, struct tdc_error *error);

struct tdc_table;
struct tdc_module_paths;
/* How differences grow, call by call and layer by layer; paths may be NULL. */
tdc_status trace_note_growth(struct tdc_trace *trace, struct trace_task *task,
                             const struct tdc_table *table, const struct tdc_module_paths *paths,
                             struct tdc_error *error);

/* Stacks of its origins alone: the file is read when there are some. */
tdc_status trace_note_stacks(struct tdc_trace *trace, const struct trace_task *task,
                             const struct tdc_options *options, struct tdc_error *error);

/* The communications of a rank, for its step. */
tdc_status trace_note_exchanges(struct tdc_trace *trace, size_t task, const struct tdc_table *table,
                                struct tdc_error *error);
/* When each origin came about and which of them another rank brought; sorts them: network order
 * over all ranks, what another rank's origin explains at the end. */
tdc_status trace_order(struct tdc_trace *trace, const struct tdc_options *options,
                       struct tdc_error *error);

/* Asks the reference about the first `top` origins. */
void trace_judge(struct tdc_trace *trace, const struct tdc_options *options);
/* Fill trace->text and trace->json. */
void trace_tell(struct tdc_trace *trace);
void trace_put_json(struct tdc_trace *trace);
/* The origins into trace->report, if there is one. */
tdc_status trace_put_report(const struct tdc_trace *trace, struct tdc_error *error);
/* "test is off: ..." */
void trace_add_verdict(struct tdc_text *out, const struct trace_origin *origin);
/* "nearer the truth: B, ..."; nothing where no truth is known. */
void trace_add_nearer(struct tdc_text *out, const struct trace_origin *origin);
bool trace_earlier(const struct trace_time *a, const struct trace_time *b);

#endif
