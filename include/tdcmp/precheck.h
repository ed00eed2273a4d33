/* precheck.h - the operators of one dump against the same calls computed in float64. */
#ifndef TDCMP_PRECHECK_H
#define TDCMP_PRECHECK_H

#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/*
 * Judges the operators of one dump: each API call's outputs, forward and backward, against the same
 * call computed from its recorded inputs in float64. Where the dump holds statistics alone, inputs
 * are drawn from them and the call is run in the recorded dtype on this machine.
 */

typedef enum {
    TDC_PROFILE_NONE = 0,
    TDC_PROFILE_COMPAT,  /* msprobe's verdicts, its blind spots included */
    TDC_PROFILE_EXTENDED /* without them: docs/precheck.md lists the rules */
} tdc_profile;

/* Is the reference rounded to the dtype of the tested tensor before it is compared? */
typedef enum {
    TDC_ROUND_AUTO = 0, /* when that is float16 or bfloat16 */
    TDC_ROUND_NEVER,
    TDC_ROUND_TESTED
} tdc_bench_round;

typedef enum {
    TDC_STANDARD_NONE = 0,
    TDC_STANDARD_COSINE, /* Cosine, MaxAbsErr, MaxRelativeErr (MindSpore's run_ut) */
    TDC_STANDARD_PYTORCH /* a standard per API: binary, absolute threshold, ULP, ... */
} tdc_standard;

/* Where the tested side comes from. */
typedef enum {
    TDC_TESTED_AUTO = 0, /* recorded for task tensor, executed for task statistics */
    TDC_TESTED_RECORDED, /* the outputs in the dump; refused for task statistics */
    TDC_TESTED_EXECUTED  /* the call run again in its dtype's own arithmetic */
} tdc_tested;

/* Verdict of a slot, of a direction of a call, or of a call. */
typedef enum {
    TDC_CHECK_NONE = 0, /* nothing to compare */
    TDC_CHECK_PASS,
    TDC_CHECK_WARNING, /* TDC_STANDARD_PYTORCH only */
    TDC_CHECK_ERROR,
    TDC_CHECK_SKIP, /* could not be rebuilt or computed */
    TDC_CHECKS      /* how many there are in this version */
} tdc_check;

/* Bits of tdc_precheck_options.flags. */
enum {
    TDC_PRECHECK_THRESHOLDS = 1,  /* judge by max_abs_err and cosine in the extended profile, too */
    TDC_PRECHECK_DISTINCT = 2,    /* leave out calls that repeat an earlier one's arguments, but for
                                     Max and Min */
    TDC_PRECHECK_JSON = 4,        /* details as JSON too */
    TDC_PRECHECK_KEEP_ERRORS = 8, /* keep tensors of failing calls that were executed */
    TDC_PRECHECK_CHECK_FILES = 16, /* msprobe's conditions on files: owner, no links, characters */
    TDC_PRECHECK_ANY_FRAMEWORK = 32, /* PyTorch dumps too */
    TDC_PRECHECK_STANDARDS26 = 64    /* TDC_STANDARD_PYTORCH as msprobe 26.2 has it */
};

/* A slot of a call that was judged: an output, or a gradient. */
struct tdc_precheck_row {
    const char *call, *api; /* "Mint.add.0", "Mint.add" */
    bool backward;
    bool measured; /* the four numbers and the position are set; they are NaN and 0 otherwise */
    size_t slot;
    tdc_check verdict;
    const char *bench_dtype, *tested_dtype, *shape, *message;
    double cosine, max_abs, max_relative;
    double max_ulp; /* in units of the tested dtype; NaN where it is not floating */
    uint64_t max_abs_at;
};

struct tdc_precheck_options {
    size_t size; /* of this struct: set by tdc_precheck_options_init */
    tdc_profile profile;
    unsigned flags; /* TDC_PRECHECK_... */
    tdc_bench_round bench_round;
    tdc_standard standard;
    tdc_tested tested;
    int threads;            /* as in struct tdc_options */
    int lanes;              /* groups of threads that each own every n-th call; 0 or 1: none */
    double max_abs_err;     /* pass when MaxAbsErr is below: 0.0001 */
    double cosine;          /* pass when Cosine is above: 0.99 */
    const char *output;     /* folder of the result files */
    const char *result_csv; /* go on with this result file of an earlier run; NULL: new files */
    const char
        *error_data; /* folder in which to make ut_error_dataSTAMP; NULL: OUTPUT/error_data */
    /* Names of APIs ("add"): calls of those in the black list, or outside a white list that is not
     * empty, are skipped. */
    const char *const *white_list, *const *black_list;
    size_t white_count, black_count;

    void *context; /* of the functions, each of which may be NULL */
    tdc_message_function message;
    void (*progress)(void *context, uint64_t calls); /* calls done or skipped since the last time */
    const struct tdc_cancel *cancel;                 /* as in struct tdc_options */
    /* Called for each slot when its call is judged, from any thread, several at a time; the row and
     * its texts live until it returns. */
    void (*row)(void *context, const struct tdc_precheck_row *row);
};

/* Thresholds as above, standard cosine, rounding and tested auto; extended adds JSON and
 * ANY_FRAMEWORK, compat CHECK_FILES. size: sizeof(struct tdc_precheck_options). */
void tdc_precheck_options_init(struct tdc_precheck_options *options, size_t size,
                               tdc_profile profile);

typedef struct tdc_precheck tdc_precheck;

/* Reads dump.json. What the options point to must outlive the precheck. */
tdc_status tdc_precheck_open(const char *dump_json, const struct tdc_precheck_options *options,
                             tdc_precheck **precheck, struct tdc_error *error);
void tdc_precheck_free(tdc_precheck *precheck);
/* Calls that will be checked, those an earlier run has done included. */
size_t tdc_precheck_calls(const tdc_precheck *precheck);

/*
 * Checks all calls. Rows are appended to the result files as calls finish, in the order of the
 * dump; a run that ends early leaves files that result_csv can name. A call that cannot be rebuilt
 * is a row with the reason, not a failure.
 */
tdc_status tdc_precheck_run(tdc_precheck *precheck, struct tdc_error *error);

/* Of one direction of the calls. */
struct tdc_precheck_counts {
    uint64_t records; /* of API calls, checkable or not */
    uint64_t checked; /* of those, with a verdict */
    uint64_t failing; /* of those, with a failing slot */
    uint64_t skipped; /* of the records */
};

/* What a run has found, calls of earlier runs not included. */
/* What the threads of a precheck do. */
typedef enum {
    TDC_WORK_READING = 0, /* opening tensor files and bringing them to memory */
    TDC_WORK_WIDENING,    /* their elements to eight bytes each */
    TDC_WORK_COMPUTING,   /* the reference, its bounds, and what else a call needs */
    TDC_WORK_JUDGING,     /* metrics and verdicts */
    TDC_WORK_WRITING,     /* rows */
    TDC_WORKS
} tdc_precheck_work;

struct tdc_precheck_summary {
    uint64_t calls;
    struct tdc_precheck_counts forward, backward;
    uint64_t unsupported; /* calls of APIs without a reference */
    uint64_t unreadable;  /* calls with a tensor file that exists and cannot be read */
    uint64_t slots, failed_slots;
    uint64_t resumed;     /* calls that an earlier run had done */
    const char *executor; /* that ran the calls; NULL: the tested side was recorded */
    bool drawn;           /* the dump has no tensors, inputs were drawn */
    int threads;          /* that were used; fewer than asked for when there was no room for more */
    double seconds;
    uint64_t verdicts[16]; /* of calls, by tdc_check: the worst of both directions, SKIP only if all
                              is */
    uint64_t bytes;        /* of tensor data that was read */
    double work[8];        /* seconds of all threads together, by tdc_precheck_work */
};
void tdc_precheck_summary(const tdc_precheck *precheck, struct tdc_precheck_summary *summary,
                          size_t size);

/* One API kind ("Mint.add"), worst first: by share of failing calls, then by error. */
struct tdc_precheck_api {
    const char *name;
    uint64_t calls, failing, skipped;
    double worst_ulp;        /* over floating slots; negative when nothing was measured */
    double worst_abs;        /* over all slots, the same */
    const char *worst_call;  /* NULL when nothing was measured */
    const char *skip_reason; /* of the first call skipped, NULL when there is none */
    /* The largest error of an element beyond its limit (extended profile), and that limit; negative
     * where calls fail for another reason, or none does. */
    double error, limit;
};
size_t tdc_precheck_apis(const tdc_precheck *precheck);
const struct tdc_precheck_api *tdc_precheck_api(const tdc_precheck *precheck, size_t index);

/* Why records were not checked, most records first. */
struct tdc_precheck_gap {
    const char *reason;
    const char *first;          /* call, or record, of which it holds */
    uint64_t forward, backward; /* records */
    bool is_module; /* of networks and their layers, which are not among summary.records */
};
size_t tdc_precheck_gaps(const tdc_precheck *precheck);
const struct tdc_precheck_gap *tdc_precheck_gap(const tdc_precheck *precheck, size_t index);

typedef enum {
    TDC_FILE_NONE = 0,
    TDC_FILE_RESULT,
    TDC_FILE_DETAILS,
    TDC_FILE_JSON /* the details as JSON */
} tdc_precheck_file_kind;

/* Name of a result file; NULL when it was not written. */
const char *tdc_precheck_file(const tdc_precheck *precheck, tdc_precheck_file_kind kind);

/* Everything about one call for a person to read: inputs, verdicts, the worst elements. Valid until
 * the next call; NULL with *error set when there is no such call. */
const char *tdc_precheck_explain(tdc_precheck *precheck, const char *call, struct tdc_error *error);

/* Each API there is a reference for: "Mint.add", its family, its arguments. Stops at false. */
void tdc_precheck_list(bool (*visit)(void *context, const char *api, const char *family,
                                     const char *arguments),
                       void *context);

/*
 * Judges the details file of a device run by that of a GPU run (both by TDC_STANDARD_PYTORCH) and
 * writes api_precision_compare_result_STAMP.csv and ..._details_STAMP.csv to the folder, by the
 * standards of msprobe 2025 (TDC_RULES_COMPAT) or 26.2 (TDC_RULES_COMPAT26). Rows without a partner
 * are told as warnings; a repeated row is TDC_ERR_REFUSED, for 26.2 only one of the GPU.
 */
tdc_status tdc_precision_compare(const char *npu_details, const char *gpu_details,
                                 const char *folder, tdc_rules_id rules,
                                 tdc_message_function message, void *context,
                                 struct tdc_error *error);

TDC_INTERFACE_END
#endif
