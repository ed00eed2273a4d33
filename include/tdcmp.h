/*
 * tdcmp.h - compare two dumps of a neural network.
 *
 * The one public header of libtdcmp. The program `tdcmp` uses nothing else.
 *
 * Ownership: every `tdc_*_open`, `tdc_*_load` or `tdc_*_new` has a matching `_free` or `_close`,
 * which accepts NULL. Text returned by an accessor belongs to the object and lives as long as it
 * does. Threads: different objects may be used from different threads; one object from one thread
 * at a time. Failure: functions that can fail return a `tdc_status`, 0 on success, and describe the
 * failure in the `struct tdc_error` passed in (may be NULL).
 */
#ifndef TDCMP_H
#define TDCMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everything declared here is exported from the shared library, and nothing else. */
#pragma GCC visibility push(default)

#define TDC_VERSION_MAJOR 0
#define TDC_VERSION_MINOR 1
#define TDC_VERSION_PATCH 0

/* "0.1.0" */
const char *tdc_version(void);

/* ---- status and errors ------------------------------------------------------------------- */

/* Numbers are stable: a code is never reused or renumbered. */
typedef enum {
    TDC_OK = 0,
    TDC_ERR_MEMORY = 1,       /* out of memory, or a size limit of the library reached */
    TDC_ERR_ARGUMENT = 2,     /* a wrong option or combination of options */
    TDC_ERR_NOT_FOUND = 10,   /* no such file or directory */
    TDC_ERR_READ = 11,        /* exists but cannot be opened, read or mapped */
    TDC_ERR_CHANGED = 12,     /* a file shrank or vanished while it was being read */
    TDC_ERR_WRITE = 13,       /* a result could not be written */
    TDC_ERR_FORMAT = 20,      /* content is malformed, truncated or lies about its size */
    TDC_ERR_UNSUPPORTED = 21, /* well formed, but something this library does not handle */
    TDC_ERR_REFUSED = 22,     /* content that the comparison rules refuse */
    TDC_ERR_MISMATCH = 30,    /* the two dumps cannot be compared with each other */
    TDC_ERR_NOTHING = 31,     /* nothing to compare */
    TDC_ERR_INTERRUPTED = 40, /* the run was cancelled */
    TDC_ERR_SYSTEM = 50,      /* threads, signals, clocks */
    TDC_ERR_DEVICE = 51       /* an NPU that was asked for cannot be used */
} tdc_status;

struct tdc_error {
    tdc_status status;
    char message[1024]; /* one line, names the file and the reason; always terminated */
};

/* A short constant text for a status, for programs that print their own messages. */
const char *tdc_status_text(tdc_status status);

/* ---- elements ---------------------------------------------------------------------------- */

typedef enum {
    TDC_DTYPE_NONE = 0,
    TDC_BOOL,
    TDC_I8,
    TDC_I16,
    TDC_I32,
    TDC_I64,
    TDC_U8,
    TDC_U16,
    TDC_U32,
    TDC_U64,
    TDC_F8_E4M3, /* float8_e4m3fn: no infinity, 0x7f and 0xff are NaN */
    TDC_F8_E5M2,
    TDC_F16,
    TDC_BF16,
    TDC_F32,
    TDC_F64,
    TDC_F80,  /* x87 extended in 16 bytes, as numpy's longdouble on x86-64 */
    TDC_C64,  /* two f32 */
    TDC_C128, /* two f64 */
    TDC_TEXT, /* fixed-width numpy text ('U' or 'S'); only the npy reader produces it */
    TDC_DTYPE_COUNT
} tdc_dtype;

/* Bytes of one element; 0 for TDC_DTYPE_NONE and TDC_TEXT. */
size_t tdc_dtype_size(tdc_dtype dtype);
/* "float32", "bfloat16", ... */
const char *tdc_dtype_name(tdc_dtype dtype);

/* ---- cells of a result table --------------------------------------------------------------- */

typedef enum {
    TDC_CELL_TEXT,
    TDC_CELL_NUMBER,
    TDC_CELL_BOOL
} tdc_cell_kind;

struct tdc_cell {
    tdc_cell_kind kind;
    bool truth;       /* TDC_CELL_BOOL */
    double number;    /* TDC_CELL_NUMBER; may be NaN or infinite */
    const char *text; /* TDC_CELL_TEXT: UTF-8, `length` bytes, not necessarily terminated;
                         TDC_CELL_NUMBER: what csv shows, NULL: the number with 16 digits */
    size_t length;
};

typedef enum {
    TDC_COLOUR_NONE,
    TDC_COLOUR_YELLOW,
    TDC_COLOUR_RED
} tdc_colour;

typedef enum {
    TDC_FORMAT_XLSX = 1,
    TDC_FORMAT_CSV = 2,
    TDC_FORMAT_JSON = 4
} tdc_format;

/* ---- options --------------------------------------------------------------------------------- */

typedef enum {
    TDC_RULES_COMPAT,  /* the table of msprobe, September 2025, to the letter */
    TDC_RULES_SOUND,   /* what a careful engineer wants */
    TDC_RULES_COMPAT26 /* the table of msprobe 26 */
} tdc_rules_id;

typedef enum {
    TDC_MODE_TENSOR,     /* real data */
    TDC_MODE_STATISTICS, /* Max, Min, Mean, Norm of the dump */
    TDC_MODE_DIGEST      /* md5 (CRC-32) */
} tdc_mode;

typedef enum {
    TDC_MESSAGE_INFO,
    TDC_MESSAGE_WARNING,
    TDC_MESSAGE_ERROR
} tdc_message_level;

typedef enum {
    TDC_IO_AUTO,  /* mapped when in the page cache, past the cache when not */
    TDC_IO_MMAP,  /* always mapped */
    TDC_IO_PREAD, /* always read into buffers: for network file systems */
    TDC_IO_DIRECT /* always past the page cache where the file system allows it */
} tdc_io;

/* A way to translate NPU names; file may be NULL where the built-in rules are enough. */
struct tdc_mapping {
    bool use;
    const char *file; /* yaml */
};

struct tdc_options {
    tdc_rules_id rules;
    bool fuzzy;                      /* match names without call numbers */
    const char *data_mapping;        /* yaml file: NPU row name -> bench row name; NULL: none */
    struct tdc_mapping api_mapping;  /* MindSpore API names -> PyTorch API names */
    struct tdc_mapping cell_mapping; /* Cell names -> Module names */
    struct tdc_mapping
        layer_mapping; /* by the place in the network; needs stack and construct.json */
    /* Choose a mapping when the dumps are of different frameworks and none was asked for. */
    bool auto_mapping;
    /* The NPU side is a MindSpore dump, whatever it says (msprobe's -f mindspore). */
    bool mindspore;
    /* Both sides are PyTorch dumps, whatever they say (msprobe's -f pytorch). */
    bool pytorch;
    bool highlight; /* find the rows to colour */
    int threads;    /* 0: as many as the machine has. Without room for them fewer are started */
    tdc_io io;      /* how tensor files are read */
    /* Where tensors are compared: "cpu", "ascend" (card 0), "ascend:0,1", "ascend:all", or "auto"
     * (NULL too): an Ascend card if there is one and it proves faster. See tdc_device_valid. */
    const char *device;
    /* What a device fails to do is an error (TDC_ERR_DEVICE) and not done by the CPU. */
    bool no_fallback;

    /* One line each, without newline; may be called from one thread at a time. NULL: silent. */
    void (*message)(void *context, tdc_message_level level, const char *text);
    /* Called from any thread as rows and bytes are done. NULL: silent. */
    void (*progress)(void *context, uint64_t rows, uint64_t bytes);
    void *context;
    /* Set it to a non-zero value from anywhere, a signal handler included, to end the run early
     * with TDC_ERR_INTERRUPTED. NULL: never. */
    const volatile int *cancel;
};

/* Everything zero but the rules; highlight and auto_mapping are on for TDC_RULES_SOUND. */
void tdc_options_init(struct tdc_options *options, tdc_rules_id rules);

/* ---- load ------------------------------------------------------------------------------------ */

typedef struct tdc_dump tdc_dump;

/* Reads a dump.json or debug.json and makes its records. Tensor files are not touched. A .npy or
 * .pt file in the place of the json is a dump of one record, its tensor. */
tdc_status tdc_dump_load(const char *path, tdc_dump **dump, struct tdc_error *error);
void tdc_dump_free(tdc_dump *dump);
size_t tdc_dump_records(const tdc_dump *dump);
/* Row name, type and shape of a record. */
const char *tdc_dump_record_name(const tdc_dump *dump, size_t record);
const char *tdc_dump_record_dtype(const tdc_dump *dump, size_t record);
const char *tdc_dump_record_shape(const tdc_dump *dump, size_t record);
/* "tensor", "statistics", ...; NULL when the dump does not say. Likewise "pytorch", "mindspore". */
const char *tdc_dump_task(const tdc_dump *dump);
const char *tdc_dump_framework(const tdc_dump *dump);

/* ---- match ----------------------------------------------------------------------------------- */

typedef struct tdc_match tdc_match;

#define TDC_NO_RECORD SIZE_MAX

/*
 * Finds out how the two can be compared (TDC_ERR_MISMATCH, TDC_ERR_REFUSED) and which record faces
 * which. The dumps must outlive the match and everything made from it.
 */
tdc_status tdc_match_new(const tdc_dump *npu, const tdc_dump *bench,
                         const struct tdc_options *options, tdc_match **match,
                         struct tdc_error *error);
void tdc_match_free(tdc_match *match);
tdc_mode tdc_match_mode(const tdc_match *match);
size_t tdc_match_pairs(const tdc_match *match);
/* What led to the pairing of the run: "equal names", "layer mapping", ... */
const char *tdc_match_method(const tdc_match *match);
/* Why the two face each other, or why there is no partner, in one short text; valid until the next
 * call for the same match; NULL when out of memory. */
const char *tdc_match_reason(tdc_match *match, size_t pair);
/* Writes the names a layer mapping found as a data mapping (yaml), `{}` when the files it needs
 * were missing; TDC_ERR_NOTHING when there was no layer mapping. */
tdc_status tdc_match_write_mapping(const tdc_match *match, const char *path,
                                   struct tdc_error *error);
/* Layer mapping entries that would pair records without a partner, by equal shape and position:
 * yaml text, "" if there is none, NULL with *error set on failure. Valid until the next call. */
const char *tdc_match_suggest(tdc_match *match, struct tdc_error *error);
/* Record numbers of a pair; TDC_NO_RECORD on the side that has no partner. */
void tdc_match_pair(const tdc_match *match, size_t pair, size_t *npu, size_t *bench);

/* ---- compare --------------------------------------------------------------------------------- */

typedef struct tdc_table tdc_table;

/* One row per pair, nothing compared yet. stack_json may be NULL; then the table has no stack
 * column. */
tdc_status tdc_table_new(const tdc_match *match, const struct tdc_options *options,
                         const char *stack_json, tdc_table **table, struct tdc_error *error);
void tdc_table_free(tdc_table *table);

/* Rows and bytes that tdc_compare will have to read, for a progress display. */
void tdc_table_work(const tdc_table *table, uint64_t *rows, uint64_t *bytes);

/*
 * Compares all tables (one per rank) in one run over all threads. A tensor that cannot be read is a
 * row with an error text, not a failure. On TDC_ERR_INTERRUPTED the tables hold no result.
 */
tdc_status tdc_compare(tdc_table *const *tables, size_t count, const struct tdc_options *options,
                       struct tdc_error *error);

/* A file to write while comparing. */
struct tdc_output {
    tdc_table *table;
    tdc_format format;
    const char *path;
    bool exclusive; /* a file of that name is not replaced: TDC_ERR_WRITE */
};

/* tdc_compare, and each output is written while the rest is still being compared: rows follow as
 * they are done, in order. On failure no output is left behind. */
tdc_status tdc_compare_to(tdc_table *const *tables, size_t count, const struct tdc_output *outputs,
                          size_t output_count, const struct tdc_options *options,
                          struct tdc_error *error);

/* What became of a row, whatever the mode. The sound rules give levels, from TDC_ROW_IDENTICAL to
 * TDC_ROW_DIFFERENT in this order (docs/compare.md has their limits); the compat rules know
 * TDC_ROW_SAME and TDC_ROW_DIFFERENT. */
typedef enum {
    TDC_ROW_NONE = 0,  /* not compared: not yet, or nothing to judge (empty, no data kept) */
    TDC_ROW_SHOWN,     /* compared and shown, but its numbers mean nothing: no verdict */
    TDC_ROW_SAME,      /* within the tolerance of rules without levels */
    TDC_ROW_IDENTICAL, /* no element differs */
    TDC_ROW_ROUNDING,  /* within what the coarser dtype explains */
    TDC_ROW_CLOSE,     /* more than rounding, within tolerance */
    TDC_ROW_DIFFERENT, /* out of tolerance */
    TDC_ROW_UNMATCHED, /* one side only, or shapes that do not fit */
    TDC_ROW_ERROR,     /* could not be read */
    TDC_ROW_CLASSES
} tdc_row_class;

struct tdc_summary {
    uint64_t rows;
    uint64_t classes[TDC_ROW_CLASSES];
    uint64_t coloured[3]; /* by tdc_colour */
    uint64_t origins;     /* see tdc_table_origin */
    uint64_t entering;    /* parameters and inputs of the run that are not identical */
    uint64_t tensors;     /* rows of tensors that were judged */
    uint64_t no_data;     /* rows of tensors with elements that neither side has data of */
    uint64_t bytes;       /* of tensor data compared, both sides */
    double seconds;       /* that reading and comparing the data of the whole run took */
};

/* False when nothing was compared: no row was judged, or no tensor although there are some. Such a
 * run is no success, whatever its counts. */
bool tdc_summary_compared(const struct tdc_summary *summary);

/* ---- read rows ------------------------------------------------------------------------------- */

size_t tdc_table_rows(const tdc_table *table);
size_t tdc_table_columns(const tdc_table *table);
const char *tdc_table_column(const tdc_table *table, size_t column);
tdc_mode tdc_table_mode(const tdc_table *table);
/* What was found while the files of a row were compared, in words; "" if nothing. With
 * TDC_RULES_COMPAT26 it stands in no column. */
const char *tdc_table_remark(const tdc_table *table, size_t row);
tdc_row_class tdc_table_class(const tdc_table *table, size_t row);
tdc_colour tdc_table_colour(const tdc_table *table, size_t row);
void tdc_table_summary(const tdc_table *table, struct tdc_summary *summary);

/*
 * Fills all tdc_table_columns(table) cells of a row. Texts stay valid until the next call for the
 * same table.
 */
tdc_status tdc_table_row(tdc_table *table, size_t row, struct tdc_cell *cells,
                         struct tdc_error *error);

/* The number that condemns a row most and where it is, as one short text ("MaxAbsErr 0.5 at [3, 7]:
 * 1.5 against 1"); empty when there is none. Valid until the next call for the same table. */
const char *tdc_table_worst(tdc_table *table, size_t row);

/* ---- origins --------------------------------------------------------------------------------- */

/*
 * Where differences begin (sound rules): calls whose outputs differ more than their inputs can
 * explain, in network order. What follows from them is no origin. docs/compare.md has the rules.
 */
typedef enum {
    TDC_ORIGIN_NONE = 0,
    TDC_ORIGIN_OPERATOR, /* the inputs agree, an output does not */
    TDC_ORIGIN_ENTRY,    /* a parameter or input that no recorded call has produced */
    TDC_ORIGIN_ARGUMENT, /* an argument that is not a tensor */
    TDC_ORIGIN_RANDOM    /* a random operator in another state: told once */
} tdc_origin_kind;

struct tdc_origin {
    tdc_origin_kind kind;
    size_t row;             /* the output, input or argument that shows it */
    bool backward;          /* of a backward call or of gradients */
    bool consequence;       /* statistics: may come from an earlier one, which they cannot tell */
    double distance, worst; /* of the row: ||n-b|| / ||b||, max|n-b| / max|b| */
    double input_distance, input_worst; /* the largest of what went into the call */
};

/* Number of origins, and one of them; none before the table is filled or with compat rules. */
size_t tdc_table_origins(const tdc_table *table);
struct tdc_origin tdc_table_origin(const tdc_table *table, size_t index);
/* "operator", "entry", "argument", "random" */
const char *tdc_origin_text(tdc_origin_kind kind);
/* "identical", "rounding", ...: the word for a class in the tables of the sound rules. */
const char *tdc_level_text(tdc_row_class level);

/* ---- write ----------------------------------------------------------------------------------- */

/* Writes the table to path; complete or not at all. */
tdc_status tdc_table_write(tdc_table *table, tdc_format format, const char *path,
                           struct tdc_error *error);
/* Writes the advisor's three lines for the first suspicious row. */
tdc_status tdc_advice_write(tdc_table *table, const char *path, struct tdc_error *error);
/* The text alone, valid until the table is freed; NULL when out of memory. */
const char *tdc_advice_text(tdc_table *table);

/* ---- devices --------------------------------------------------------------------------------- */

/* Is it a text for tdc_options.device? Says nothing about whether the device exists. */
bool tdc_device_valid(const char *text);

/* What devices there are, or why there is none, line by line. TDC_ERR_NOT_FOUND: none is usable. */
tdc_status tdc_devices(void (*line)(void *context, const char *text), void *context);

/* Ends AscendCL in this process if this library started it, for good. To be called once at the end,
 * not from a destructor or atexit; without it the system cleans up. */
void tdc_devices_end(void);

/* What one pass over a pair of tensors yields; docs/kernels.md has the definitions. */
struct tdc_device_sums {
    uint64_t count, finite;            /* pairs; pairs with both values finite */
    double nb, nn, bb, dd, n, b, abs;  /* sums of n*b, n*n, b*b, (n-b)^2, n, b, |n-b| */
    double n_min, n_max, b_min, b_max; /* over finite pairs */
    double abs_max, rel_max;           /* maxima of |n-b| and of the relative error, -1: none */
    uint64_t abs_at, rel_at;           /* index of their first occurrence */
    uint64_t below_thousandth, below_five_thousandths; /* pairs by their relative error */
    uint64_t n_nan, b_nan, n_inf, b_inf;
    uint64_t tiles,
        rescued; /* pieces of 4096 pairs done by the device; of these again by the CPU */
};

typedef struct tdc_device tdc_device;

/*
 * For a process that has tensors on an Ascend device: AscendCL is running and the calling thread
 * has a current context. Loads the kernels of that device as they are needed. To be used and freed
 * in the same context.
 */
tdc_status tdc_device_new(tdc_device **device, struct tdc_error *error);
void tdc_device_free(tdc_device *device);

/*
 * Compares `count` elements at two device addresses without copying them out, on the caller's
 * stream: the work follows what the stream already holds, and the call returns when it is done.
 * Both tensors are dense. Tails, tiles with NaN or infinity and types the device has no kernel for
 * are copied to the host and done there. Equal to what a comparison of files yields.
 */
tdc_status tdc_compare_device(tdc_device *device, const void *n, tdc_dtype n_dtype, const void *b,
                              tdc_dtype b_dtype, uint64_t count, tdc_rules_id rules, void *stream,
                              struct tdc_device_sums *sums, struct tdc_error *error);

/* ---- find dumps ------------------------------------------------------------------------------ */

/* One comparison to do: two json files and the name of their rank ("" or "rank0"). */
struct tdc_task {
    char *npu, *bench; /* paths of the json files */
    char *stack;       /* stack.json beside the NPU json, NULL if there is none */
    char *rank;        /* name of the NPU rank folder ("rank0", "proc4711"), "" for single files */
    char *step;        /* "step0" when found below a dump root, else "" */
    char *folder; /* below the output folder, for mixed dumps: "graph", "graph/step0"; else "" */
    bool debug;   /* debug.json, not dump.json */
};

struct tdc_task_list {
    struct tdc_task *tasks;
    size_t count;
    size_t left_out; /* dumps of one side without a counterpart; each was named in a message */
    size_t empty;    /* rank, process and step folders without a dump; likewise */
};

/* msprobe's rules for compare.json's paths: two json files, or two step folders with rank folders
 * only. */
tdc_status tdc_tasks_strict(const char *npu, const char *bench, struct tdc_task_list *list,
                            struct tdc_error *error);
/* The rules of msprobe 26: two json files, two folders of ranks (other names are passed over) or of
 * one process each, or mixed dumps. Sets options->pytorch or options->mindspore by what the json
 * says; options->message gets its warnings. No task and TDC_OK: a first rank without a json. */
tdc_status tdc_tasks_2026(const char *npu, const char *bench, struct tdc_options *options,
                          struct tdc_task_list *list, struct tdc_error *error);
/* A json or tensor file, a rank or process folder, a step folder, a folder `graph` or `pynative` or
 * a dump root on either side. step < 0: the only step there is, or all steps both sides have.
 * Single processes face each other whatever their numbers; options->message says so. */
tdc_status tdc_tasks_find(const char *npu, const char *bench, int step,
                          const struct tdc_options *options, struct tdc_task_list *list,
                          struct tdc_error *error);
void tdc_tasks_free(struct tdc_task_list *list);

/* The dump.json files below one path, for what takes one dump at a time. */
struct tdc_dump_file {
    char *path;   /* of dump.json, or the file that was named */
    char *folder; /* below the path: "graph/step0/rank0"; "" for a file or a rank folder */
};

struct tdc_dump_files {
    struct tdc_dump_file *files; /* in the order of their steps and ranks */
    size_t count;
    size_t empty; /* rank, process and step folders without one; each was named in a message */
};

/* A file, or the dump.json of a folder as tdc_tasks_find looks for it. TDC_ERR_NOT_FOUND when there
 * is none. Takes the member message of the options alone. */
tdc_status tdc_dump_files_find(const char *path, const struct tdc_options *options,
                               struct tdc_dump_files *files, struct tdc_error *error);
void tdc_dump_files_free(struct tdc_dump_files *files);

/* ---- precheck -------------------------------------------------------------------------------- */

/*
 * Judges the operators of one dump: each API call's outputs, forward and backward, against the same
 * call computed from its recorded inputs in float64. Where the dump holds statistics alone, inputs
 * are drawn from them and the call is run in the recorded dtype on this machine.
 */

typedef enum {
    TDC_PROFILE_COMPAT,  /* msprobe's verdicts, its blind spots included */
    TDC_PROFILE_EXTENDED /* without them: docs/precheck.md lists the rules */
} tdc_profile;

/* Is the reference rounded to the dtype of the tested tensor before it is compared? */
typedef enum {
    TDC_ROUND_AUTO, /* when that is float16 or bfloat16 */
    TDC_ROUND_NONE,
    TDC_ROUND_TESTED
} tdc_bench_round;

typedef enum {
    TDC_STANDARD_COSINE, /* Cosine, MaxAbsErr, MaxRelativeErr (MindSpore's run_ut) */
    TDC_STANDARD_PYTORCH /* a standard per API: binary, absolute threshold, ULP, ... */
} tdc_standard;

/* Where the tested side comes from. */
typedef enum {
    TDC_MODE_AUTO,     /* recorded for task tensor, executed for task statistics */
    TDC_MODE_RECORDED, /* the outputs in the dump; refused for task statistics */
    TDC_MODE_EXECUTE   /* the call run again in its dtype's own arithmetic */
} tdc_precheck_mode;

/* Verdict of a slot, of a direction of a call, or of a call. */
typedef enum {
    TDC_CHECK_NONE, /* nothing to compare */
    TDC_CHECK_PASS,
    TDC_CHECK_WARNING, /* TDC_STANDARD_PYTORCH only */
    TDC_CHECK_ERROR,
    TDC_CHECK_SKIP, /* could not be rebuilt or computed */
    TDC_CHECKS
} tdc_check;

struct tdc_precheck_options {
    tdc_profile profile;
    tdc_bench_round bench_round;
    tdc_standard standard;
    tdc_precheck_mode mode;
    double max_abs_err;     /* pass when MaxAbsErr is below: 0.0001 */
    double cosine;          /* pass when Cosine is above: 0.99 */
    bool thresholds;        /* judge by these two in the extended profile as well */
    int threads;            /* as in struct tdc_options */
    int lanes;              /* groups of threads that each own every n-th call; 0 or 1: none */
    const char *output;     /* folder of the result files */
    const char *result_csv; /* go on with this result file of an earlier run; NULL: new files */
    /* Names of APIs ("add"): calls of those in the black list, or outside a white list that is not
     * empty, are skipped. */
    const char *const *white_list, *const *black_list;
    size_t white_count, black_count;
    bool distinct; /* leave out calls that repeat an earlier one's arguments, but for Max
                      and Min */
    const char
        *error_data;      /* folder in which to make ut_error_dataSTAMP; NULL: OUTPUT/error_data */
    bool json;            /* details as JSON too */
    bool save_error_data; /* keep tensors of failing calls that were executed */
    bool check_files;     /* msprobe's conditions on files: owner, no links, characters */
    bool any_framework;   /* PyTorch dumps too */
    void (*message)(void *context, tdc_message_level level, const char *text);
    void (*progress)(void *context, uint64_t calls); /* calls done or skipped since the last time */
    void *context;
    const volatile int *cancel; /* as in struct tdc_options */
};

/* Thresholds as above, rounding and mode auto; extended adds JSON and any_framework, compat
 * check_files. */
void tdc_precheck_options_init(struct tdc_precheck_options *options, tdc_profile profile);

typedef struct tdc_precheck tdc_precheck;

/* Reads dump.json. The options must outlive the precheck. */
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

/* What a run has found, calls of earlier runs not included. */
struct tdc_precheck_summary {
    uint64_t calls;
    uint64_t verdicts[TDC_CHECKS]; /* of calls: the worst of both directions, SKIP only if all is */
    uint64_t records[2];           /* of API calls, checkable or not: forward, backward */
    uint64_t checked[2];           /* of those, with a verdict */
    uint64_t failing[2];           /* of those, with a failing slot */
    uint64_t skipped[2];           /* of the records */
    uint64_t unsupported;          /* calls of APIs without a reference */
    uint64_t unreadable;           /* calls with a tensor file that exists and cannot be read */
    uint64_t slots, failed_slots;
    uint64_t resumed;     /* calls that an earlier run had done */
    const char *executor; /* that ran the calls; NULL: the tested side was recorded */
    bool drawn;           /* the dump has no tensors, inputs were drawn */
    double seconds;
    int threads; /* that were used; fewer than asked for when there was no room for more */
};
void tdc_precheck_summary(const tdc_precheck *precheck, struct tdc_precheck_summary *summary);

/* One API kind ("Mint.add"), worst first: by share of failing calls, then by error. */
struct tdc_precheck_api {
    const char *name;
    uint64_t calls, failing, skipped;
    double worst_ulp;        /* over floating slots; negative when nothing was measured */
    double worst_abs;        /* over all slots, the same */
    const char *worst_call;  /* NULL when nothing was measured */
    const char *skip_reason; /* of the first call skipped, NULL when there is none */
};
size_t tdc_precheck_apis(const tdc_precheck *precheck);
void tdc_precheck_api(const tdc_precheck *precheck, size_t index, struct tdc_precheck_api *api);

/* Why records were not checked, most records first. */
struct tdc_precheck_gap {
    const char *reason;
    const char *first;   /* call, or record, of which it holds */
    uint64_t records[2]; /* forward, backward */
    bool is_module;      /* of networks and their layers, which are not among summary.records */
};
size_t tdc_precheck_gaps(const tdc_precheck *precheck);
void tdc_precheck_gap(const tdc_precheck *precheck, size_t index, struct tdc_precheck_gap *gap);

/* Names of the files: 0 result, 1 details, 2 details as JSON. NULL when not written. */
const char *tdc_precheck_file(const tdc_precheck *precheck, int which);

/* Everything about one call for a person to read: inputs, verdicts, the worst elements. Valid until
 * the next call; NULL with *error set when there is no such call. */
const char *tdc_precheck_explain(tdc_precheck *precheck, const char *call, struct tdc_error *error);

/* Each API there is a reference for: "Mint.add", its family, its arguments. Stops at false. */
void tdc_precheck_list(bool (*visit)(void *context, const char *api, const char *family,
                                     const char *arguments),
                       void *context);

/*
 * Judges the details file of a device run by that of a GPU run (both by TDC_STANDARD_PYTORCH) and
 * writes api_precision_compare_result_STAMP.csv and ..._details_STAMP.csv to the folder. Rows
 * without a partner are told as warnings; a repeated row is TDC_ERR_REFUSED.
 */
tdc_status
tdc_precision_compare(const char *npu_details, const char *gpu_details, const char *folder,
                      void (*message)(void *context, tdc_message_level level, const char *text),
                      void *context, struct tdc_error *error);

/* ---- texts on the terminal ------------------------------------------------------------------ */

/*
 * Names come from files, and a terminal obeys what some of them hold: escapes, controls of one
 * byte or two, signs that turn the direction of reading. Copies the text with everything a reader
 * could not see as \xNN, \uNNNN or \UNNNNNNNN, bytes that are no UTF-8 included, and terminates it;
 * what does not fit is left out, whole characters at a time. Returns the length all of it takes, as
 * snprintf does; room may be NULL when size is 0.
 */
size_t tdc_printable(const char *text, char *room, size_t size);

/* ---- progress on the terminal ---------------------------------------------------------------- */

/*
 * How far a run is, on stderr: one redrawn line on a terminal, a plain line now and then elsewhere.
 * Returns NULL when quiet or out of memory; all calls accept NULL. total_bytes may be 0: then rows
 * count. tdc_progress_add may be called from any thread until tdc_progress_stop.
 */
struct tdc_progress;
struct tdc_progress *tdc_progress_start(const char *label, uint64_t total_rows,
                                        uint64_t total_bytes, bool quiet);
void tdc_progress_add(struct tdc_progress *progress, uint64_t rows, uint64_t bytes);
void tdc_progress_stop(struct tdc_progress *progress);

/* ---- a whole run ----------------------------------------------------------------------------- */

/*
 * A moment for the names of a run's results in a folder: the local time as YYYYmmddHHMMSS, or the
 * next second after it that no other run holds, of this process or another, on any machine that
 * shares the folder. Held until it is freed, by a small hidden file.
 */
typedef struct tdc_stamp tdc_stamp;
tdc_status tdc_stamp_new(const char *folder, tdc_stamp **stamp, struct tdc_error *error);
const char *tdc_stamp_text(const tdc_stamp *stamp);
/* A later moment: for names that exist already. After a failure the stamp can only be freed. */
tdc_status tdc_stamp_next(tdc_stamp *stamp, struct tdc_error *error);
void tdc_stamp_free(tdc_stamp *stamp);

/* Creates a folder and its missing parents (mode 0750). */
tdc_status tdc_make_folders(const char *path, struct tdc_error *error);
/* Removes every unfinished result of this process. Async-signal-safe. */
void tdc_out_files_remove(void);
/* For handlers of SIGINT and the like: removes them and ends the process with 128 + signal_number.
 * Async-signal-safe. */
void tdc_interrupt(int signal_number);
/* Which CPU variant the kernels use: "x86-64-v3". */
const char *tdc_cpu_name(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
