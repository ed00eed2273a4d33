/* dump.h - finding dumps, loading them, and which record of one faces which of the other. */
#ifndef TDCMP_DUMP_H
#define TDCMP_DUMP_H

#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/* ---- find ------------------------------------------------------------------------------------ */

typedef struct tdc_dump tdc_dump;

struct tdc_graph_item;
/* One comparison to do: two json files and where they come from. */
struct tdc_task {
    char *npu, *bench; /* paths of the json files */
    char *stack;       /* stack.json beside the NPU json, NULL if there is none */
    char *rank;        /* name of the NPU rank folder ("rank0", "proc4711"), "" for single files */
    char *step;        /* "step0" when found below a dump root, else "" */
    char *folder; /* below the output folder, for mixed dumps: "graph", "graph/step0"; else "" */
    bool debug;   /* debug.json, not dump.json */
    /* A token of a graph (tdcmp/graph.h), the paths are folders then; NULL: json files. */
    const struct tdc_graph_item *graph;
};

typedef struct tdc_tasks tdc_tasks;

/* msprobe's rules for compare.json's paths: two json files, or two step folders with rank folders
 * only. */
tdc_status tdc_tasks_strict(const char *npu, const char *bench, tdc_tasks **tasks,
                            struct tdc_error *error);
struct tdc_options;
/* The rules of msprobe 26: two json files, two folders of ranks (other names are passed over) or of
 * one process each, or mixed dumps. Sets options->framework by what the json says; options->message
 * gets its warnings. No task and TDC_OK: a first rank without a json. */
tdc_status tdc_tasks_2026(const char *npu, const char *bench, struct tdc_options *options,
                          tdc_tasks **tasks, struct tdc_error *error);
/* A json or tensor file, a rank or process folder, a step folder, a folder `graph` or `pynative` or
 * a dump root on either side. step < 0: the only step there is, or all steps both sides have.
 * Single processes face each other whatever their numbers; options->message says so. Of dumps of
 * graphs (a graph text of GE below the NPU's folder) the step is the token. */
tdc_status tdc_tasks_find(const char *npu, const char *bench, int step,
                          const struct tdc_options *options, tdc_tasks **tasks,
                          struct tdc_error *error);
/* Loads both dumps of a comparison, at the same time where they are json files. The tasks must
 * outlive them. On failure there is neither. */
tdc_status tdc_task_load(const struct tdc_task *task, tdc_dump **npu, tdc_dump **bench,
                         struct tdc_error *error);
/* The dump of a third run (docs/third.md) that faces the test's: folders are searched as those of
 * the two sides are, below the names that the test's step and rank have. */
tdc_status tdc_task_load_third(const struct tdc_task *task, const char *path,
                               const struct tdc_options *options, tdc_dump **dump,
                               struct tdc_error *error);
/* One comparison of two paths as they are, for tdc_tensors_load. */
tdc_status tdc_tasks_pair(const char *npu, const char *bench, tdc_tasks **tasks,
                          struct tdc_error *error);
void tdc_tasks_free(tdc_tasks *tasks);
/* The next four take NULL for an empty list. */
size_t tdc_tasks_count(const tdc_tasks *tasks);
const struct tdc_task *tdc_tasks_get(const tdc_tasks *tasks, size_t index);
/* Dumps of one side without a counterpart; each was named in a message. */
size_t tdc_tasks_left_out(const tdc_tasks *tasks);
/* Rank, process and step folders without a dump; likewise. */
size_t tdc_tasks_empty(const tdc_tasks *tasks);

/* A dump.json below one path, for what takes one dump at a time. */
struct tdc_dump_file {
    char *path;   /* of dump.json, or the file that was named */
    char *folder; /* below the path: "graph/step0/rank0"; "" for a file or a rank folder */
};

typedef struct tdc_dump_files tdc_dump_files;

/* A file, or the dump.json of a folder as tdc_tasks_find looks for it, in the order of steps and
 * ranks. TDC_ERR_NOT_FOUND when there is none. Takes the member message of the options alone. */
tdc_status tdc_dump_files_find(const char *path, const struct tdc_options *options,
                               tdc_dump_files **files, struct tdc_error *error);
void tdc_dump_files_free(tdc_dump_files *files);
/* As for tasks. */
size_t tdc_dump_files_count(const tdc_dump_files *files);
const struct tdc_dump_file *tdc_dump_files_get(const tdc_dump_files *files, size_t index);
size_t tdc_dump_files_empty(const tdc_dump_files *files);

/* ---- load ------------------------------------------------------------------------------------ */

/* Reads a dump.json or debug.json and makes its records. Tensor files are not touched. A .npy or
 * .pt file in the place of the json is a dump of one record, its tensor. */
tdc_status tdc_dump_load(const char *path, tdc_dump **dump, struct tdc_error *error);

/*
 * Tensors by name, where there is no dump.json: a safetensors, npz, npy or torch file, an index of
 * shards, a checkpoint folder, a folder of such files (docs/diff.md). The result is a dump of task
 * "tensor" with a record for each name; files stay mapped until it is freed. `key` chooses a part
 * of torch files, NULL: the usual one. TDC_ERR_NOTHING: no tensors found.
 */
tdc_status tdc_tensors_load(const char *path, const char *key, tdc_dump **dump,
                            struct tdc_error *error);
/* Whether tensors of such a dump are spread over files of ranks: its records are those of the
 * lowest rank then, and tdc_align_match sees all of them. */
bool tdc_tensors_in_parts(const tdc_dump *dump);
/* Whether a path is a folder of SGLang's dumper, one for tdc_tensors_load and tdc_align_match. */
bool tdc_path_is_sglang(const char *path);
/* Whether a path is one for tdc_dump_load and tdc_tasks_find: a json, or a folder with dumps. */
bool tdc_path_holds_dump(const char *path);

/* A dump in memory. */
struct tdc_dump_source {
    size_t size;      /* of this struct: set by tdc_dump_source_init */
    const char *name; /* for messages; bytes of a debug.json must be called that. "dump.json" */
    const char *json; /* of dump.json or debug.json */
    size_t json_length;
    const char *stack; /* of stack.json, for the stack column and layer mapping; NULL: none */
    size_t stack_length;
    const char *construct; /* of construct.json, for layer mapping; NULL: none */
    size_t construct_length;
    const char *tensors; /* folder of the tensor files; NULL: none, and their rows say so */
};

void tdc_dump_source_init(struct tdc_dump_source *source, size_t size, const char *json,
                          size_t json_length);
/* The same as tdc_dump_load from bytes, which need not outlive the call. */
tdc_status tdc_dump_load_memory(const struct tdc_dump_source *source, tdc_dump **dump,
                                struct tdc_error *error);
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

/* What of the two dumps is compared. */
typedef enum {
    TDC_MODE_NONE = 0,
    TDC_MODE_TENSOR,     /* real data */
    TDC_MODE_STATISTICS, /* Max, Min, Mean, Norm of the dump */
    TDC_MODE_DIGEST      /* md5 (CRC-32) */
} tdc_mode;

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

TDC_INTERFACE_END
#endif
