/*
 * engine.h - the data of many tensor pairs, each byte read once.
 *
 * Jobs are worked off by all threads: a pair of more than one span is shared between them, small
 * ones are done in batches by the thread that took them. At most one large pair per thread is open.
 * The outcome of a job does not depend on the number of threads.
 */
#ifndef TDC_HOST_ENGINE_H
#define TDC_HOST_ENGINE_H

#include "host/engine/backend.h"
#include "host/engine/logical/feed.h"
#include "host/engine/logical/logical.h"
#include "host/engine/logical/series.h"
#include "host/engine/side_change.h"
#include "host/engine/source.h"
#include "io/file/open_folder.h"
#include "io/tensor/tensor_file.h"
#include "io/base/text.h"
#include "kernels/pair.h"

enum tdc_outcome_code {
    TDC_OUTCOME_COMPARED,   /* sums are valid */
    TDC_OUTCOME_UNREADABLE, /* error says which file and why */
    TDC_OUTCOME_EMPTY,      /* the NPU tensor has no elements */
    TDC_OUTCOME_SHAPES_DIFFER,
    TDC_OUTCOME_NOT_NUMBERS /* text that is not a number, types without arithmetic */
};

struct tdc_element {
    unsigned char bytes[16]; /* native byte order */
};

struct tdc_outcome {
    enum tdc_outcome_code code;
    tdc_dtype n_dtype, b_dtype; /* as stored; text that holds numbers is TDC_TEXT */
    bool n_swapped, b_swapped;
    bool text_types_differ; /* width or alphabet of two texts, or one is none */
    unsigned n_dimensions, b_dimensions;
    uint64_t count, b_count; /* elements of the NPU and of the bench file */
    uint64_t bytes;          /* of both sides */
    uint64_t beyond;         /* elements out of the tolerance of the options, if they have one */
    struct tdc_pair_sums sums;
    struct tdc_pair_norms norms;
    /* the elements at sums.abs_at and sums.rel_at */
    struct tdc_element abs_n, abs_b, rel_n, rel_b;
    /* rule TDC_RELATIVE_F64: the first NaN or infinity that does not face its like */
    bool apart;
    uint64_t apart_at;
    struct tdc_element apart_n, apart_b;
    /* 0-d pairs: the two elements */
    unsigned char n_element[16], b_element[16];
    unsigned links;                           /* files of the pair that are symbolic links */
    struct tdc_twin_finding n_twins, b_twins; /* replicas that differ; of logical tensors alone */
    struct tdc_error error;
};

struct tdc_job {
    const char *n_folder, *n_file; /* the file is n_folder/n_file */
    const char *b_folder, *b_file;
    /* what is done to a side before; NULL: nothing */
    const struct tdc_side_change *n_change, *b_change;
    /* Tensors in memory, or in files that stay open (io/tensor/tensor_list.h): they outlive the run
     * and stand instead of files; the names are for messages then. */
    const struct tdc_tensor *n_tensor, *b_tensor;
    /* Tensors that are put together from many, instead of files; likewise. */
    const struct tdc_logical *n_logical, *b_logical;
    const struct tdc_series *series; /* with these: errors along axes; NULL: none */
    bool squeeze;   /* axes of length 1 are dropped before the shapes are compared */
    bool any_shape; /* as many elements are enough */
    uint64_t bytes; /* estimate: the largest jobs start first */
    size_t order; /* of the row: all others keep this order, so that results can be written early */
    void *row;    /* for the callback */
};

struct tdc_engine {
    enum tdc_relative_rule rule;
    int threads; /* 0: all */
    tdc_io io;
    bool extremes; /* sums and extremes of both sides are wanted (kernels/pair.h): the CPU alone */
    const struct tdc_backend *backend;
    const struct tdc_options *options; /* message, progress, cancel */
    /* Called once per job from any thread, several at a time. */
    void (*done)(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome);
    void *context;
};

/* Reorders jobs. TDC_ERR_INTERRUPTED when cancelled, TDC_ERR_MEMORY, TDC_ERR_SYSTEM. */
tdc_status tdc_engine_run(const struct tdc_engine *engine, struct tdc_job *jobs, size_t count,
                          struct tdc_error *error);

/* ---- between the files of this folder -------------------------------------------------------- */

/* What a thread keeps from job to job. */
struct tdc_worker {
    struct tdc_tensor_scratch *n_scratch, *b_scratch;
    /* below which this thread opened its last file of a side */
    struct tdc_open_folder n_folder, b_folder;
    struct tdc_span_buffer n_buffer, b_buffer;
    struct tdc_logical_feed *n_feed, *b_feed; /* made on first use */
    struct tdc_text path;
    const struct tdc_backend *backend;
    void *backend_state;
    enum tdc_cpu_variant variant;
    bool extremes;   /* see struct tdc_engine */
    bool cold;       /* a small file had to come from the disk */
    size_t expected; /* jobs of a batch whose remote files are on their way, or were */
    /* chunks that a device has, and those that came back and have not been looked at yet */
    size_t under_way;
    struct tdc_backend_chunk *returned;
};

/* Opens the backend for this thread. */
tdc_status tdc_worker_init(struct tdc_worker *worker, const struct tdc_backend *backend,
                           struct tdc_error *error);
void tdc_worker_free(struct tdc_worker *worker);

/* A pair of open tensors. */
struct tdc_open_pair {
    struct tdc_tensor n, b;
    void *n_memory, *b_memory; /* of sides that were changed; NULL: the files' own */
    struct tdc_assembled *n_assembled, *b_assembled; /* of sides that were put together */
    const struct tdc_series *series;
    struct tdc_source n_source, b_source;
    struct tdc_pair_plan plan;
    const char *name; /* of the job's NPU file */
    uint64_t chunks;
    uint64_t span_chunks; /* chunks that are read and reduced together */
    uint64_t spans;
};

/*
 * Opens both files and settles everything that needs no arithmetic. True: outcome->code is COMPARED
 * so far and the spans are to be reduced. False: the outcome is final and nothing is open.
 */
bool tdc_pair_open(struct tdc_worker *worker, const struct tdc_job *job,
                   enum tdc_relative_rule rule, tdc_io io, struct tdc_open_pair *pair,
                   struct tdc_outcome *outcome);
void tdc_pair_close(struct tdc_open_pair *pair);
/* The sources point at the tensors beside them: call it after copying a pair. */
void tdc_pair_moved(struct tdc_open_pair *pair);

/* Reduces the chunks of one span into partials[0 ..]. *how gains the bits of its chunks
 * (backend.h). */
enum tdc_chunk_result tdc_pair_span(const struct tdc_open_pair *pair, uint64_t span,
                                    struct tdc_worker *worker, struct tdc_pair_sums *partials,
                                    unsigned *how);
/* A span handed to the backend of the worker: its chunks, as many as it has. */
struct tdc_span_work {
    struct tdc_backend_chunk *chunks;
    struct tdc_pair_sums *partials;
    void *owner;   /* of the chunks */
    bool by_cpu;   /* in place of the backend */
    size_t handed; /* chunks that are under way; the others are settled */
    unsigned how;  /* bits of the chunks that are settled */
};

/*
 * Like tdc_pair_span, but does not wait: chunks that the backend took come back to worker->returned
 * by and by (tdc_worker_take). The data of the span is not needed any more when it returns.
 */
enum tdc_chunk_result tdc_pair_hand_over(const struct tdc_open_pair *pair, uint64_t span,
                                         struct tdc_worker *worker, struct tdc_span_work *work);
/* Puts a chunk that is done into worker->returned; false when none is. `wait`: waits for one, or
 * for room where none of this worker's is under way. */
bool tdc_worker_take(struct tdc_worker *worker, bool wait);

/*
 * After the last span, with the bits of all: sums of a device and of the CPU differ in their last
 * digits, so a pair that a device began and did not finish is reduced again by the CPU alone.
 */
enum tdc_chunk_result tdc_pair_settle(const struct tdc_open_pair *pair, struct tdc_worker *worker,
                                      struct tdc_pair_sums *partials, unsigned how);
/* Of both sides. */
uint64_t tdc_pair_span_bytes(const struct tdc_open_pair *pair, uint64_t span);

/* Gives up the mapped pages of spans that have been reduced. One that is still being read would
 * only be mapped again. */
void tdc_pair_release(const struct tdc_open_pair *pair, uint64_t span, uint64_t count);

/* Looks for outcome->apart_at, reading the pair again up to there where the sums say that there is
 * one. False when the mapped data vanished. */
bool tdc_pair_find_apart(const struct tdc_open_pair *pair, struct tdc_outcome *outcome);

/* outcome->beyond, reading the pair again, on this thread, unless the sums tell that it is 0. False
 * when the mapped data vanished. */
bool tdc_pair_count_beyond(const struct tdc_open_pair *pair, const struct tdc_tolerance *tolerance,
                           struct tdc_outcome *outcome);

/* Fills in what needs all chunks: the worst elements, the two elements of 0-d pairs, the norms. The
 * latter read the pair again where squares leave float64, one thread for all of it. False when the
 * mapped data vanished. */
bool tdc_pair_finish(const struct tdc_open_pair *pair, struct tdc_outcome *outcome);

/* outcome->norms from outcome->sums, or from the pair itself. False when it vanished. */
bool tdc_pair_fill_norms(const struct tdc_open_pair *pair, struct tdc_outcome *outcome);

/* The words for a pair whose spans could not all be reduced; TDC_CHUNK_DONE: none. */
void tdc_outcome_explain(struct tdc_outcome *outcome, const struct tdc_job *job,
                         enum tdc_chunk_result worst);

/* Before job `at` of a batch: has the remote files of some after it opened (io/storage/ahead.h). */
void tdc_expect_files(struct tdc_worker *worker, const struct tdc_job *jobs, size_t count,
                      size_t at, size_t threads);
/* After a batch: what was not opened after all is let go. */
void tdc_expect_no_more(struct tdc_worker *worker);

/* Asks for the files of small jobs all at once, so that the disk serves them together. */
void tdc_prefetch(struct tdc_worker *worker, const struct tdc_job *jobs, size_t count);

#endif
