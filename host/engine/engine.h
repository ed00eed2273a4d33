/*
 * engine.h - the data of many tensor pairs, each byte read once.
 *
 * Jobs are worked off by all threads: a pair of more than one chunk is shared between them, a small
 * one is done by the thread that opened it. At most one pair per thread is open. The outcome of a
 * job does not depend on the number of threads.
 */
#ifndef TDC_HOST_ENGINE_H
#define TDC_HOST_ENGINE_H

#include "io/tensor_file.h"
#include "kernels/pair.h"

enum tdc_outcome_code {
    TDC_OUTCOME_COMPARED,   /* sums are valid */
    TDC_OUTCOME_UNREADABLE, /* error says which file and why */
    TDC_OUTCOME_EMPTY,      /* the NPU tensor has no elements */
    TDC_OUTCOME_SHAPES_DIFFER,
    TDC_OUTCOME_NOT_NUMBERS /* text that is not a number, types without arithmetic */
};

struct tdc_outcome {
    enum tdc_outcome_code code;
    tdc_dtype n_dtype, b_dtype; /* as stored; text that holds numbers is TDC_TEXT */
    bool n_swapped, b_swapped;
    unsigned n_dimensions, b_dimensions;
    uint64_t count;
    uint64_t bytes; /* of both sides */
    struct tdc_pair_sums sums;
    /* the elements at sums.abs_at and sums.rel_at */
    struct tdc_element {
        unsigned char bytes[16]; /* native byte order */
    } abs_n, abs_b, rel_n, rel_b;
    /* 0-d pairs: the two elements */
    unsigned char n_element[16], b_element[16];
    unsigned links; /* files of the pair that are symbolic links */
    struct tdc_error error;
};

struct tdc_job {
    const char *n_folder, *n_file; /* n_folder/dump_tensor_data/n_file */
    const char *b_folder, *b_file;
    uint64_t bytes; /* estimate: larger jobs start first */
    void *row;      /* for the callback */
};

struct tdc_engine {
    enum tdc_relative_rule rule;
    int threads;                       /* 0: all */
    const struct tdc_options *options; /* message, progress, cancel */
    /* Called once per job from any thread, several at a time. */
    void (*done)(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome);
    void *context;
};

/* Reorders jobs. TDC_ERR_INTERRUPTED when cancelled, TDC_ERR_MEMORY, TDC_ERR_SYSTEM. */
tdc_status tdc_engine_run(const struct tdc_engine *engine, struct tdc_job *jobs, size_t count,
                          struct tdc_error *error);

/* ---- between the files of this folder -------------------------------------------------------- */

/*
 * Copies elements [first, first + count) in C order to a dense native buffer; texts become f64.
 * False if a text is no number. Touches mapped memory: call it inside tdc_guarded_read.
 */
bool tdc_gather(const struct tdc_tensor *tensor, uint64_t first, size_t count, void *buffer);
/* The type of the elements tdc_gather delivers. */
tdc_dtype tdc_gathered_dtype(const struct tdc_tensor *tensor);

/* A pair of open tensors. */
struct tdc_open_pair {
    struct tdc_tensor n, b;
    struct tdc_pair_plan plan;
    uint64_t chunks;
};

/*
 * Opens both files and settles everything that needs no arithmetic. True: outcome->code is COMPARED
 * so far and the chunks are to be reduced. False: the outcome is final and nothing is open.
 */
bool tdc_pair_open(const struct tdc_job *job, enum tdc_relative_rule rule,
                   struct tdc_open_pair *pair, struct tdc_outcome *outcome);
void tdc_pair_close(struct tdc_open_pair *pair);

enum tdc_chunk_result {
    TDC_CHUNK_DONE,
    TDC_CHUNK_NOT_NUMBERS,
    TDC_CHUNK_VANISHED,
    TDC_CHUNK_NO_MEMORY
};

/* Reduces one chunk. n_buffer and b_buffer hold TDC_PAIR_CHUNK elements of 16 bytes each and are
 * used only for tensors that are not dense in native order; allocated on demand by the caller. */
struct tdc_chunk_buffers {
    void *n, *b;
};
enum tdc_chunk_result tdc_pair_chunk(const struct tdc_open_pair *pair, uint64_t chunk,
                                     struct tdc_chunk_buffers *buffers, struct tdc_pair_sums *sums);

/* Fills in what needs all chunks: the worst elements, the two elements of 0-d pairs. */
void tdc_pair_finish(const struct tdc_open_pair *pair, struct tdc_outcome *outcome);

#endif
