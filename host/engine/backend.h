/*
 * backend.h - where the arithmetic of a chunk is done.
 *
 * A small table of functions. `cpu` computes at submit; a device may take the chunk, go on and
 * deliver at wait. A chunk's data stays valid until wait returns.
 */
#ifndef TDC_HOST_BACKEND_H
#define TDC_HOST_BACKEND_H

#include "kernels/pair.h"

/* Bits of how chunks were computed; what is never meant for a device has none. */
enum {
    TDC_CHUNK_BY_DEVICE = 1,
    TDC_CHUNK_FELL_BACK = 2 /* meant for a device, done by the CPU */
};

struct tdc_backend_chunk {
    const struct tdc_pair_plan *plan;
    const void *n, *b; /* dense, native byte order */
    size_t count;      /* <= TDC_PAIR_CHUNK */
    struct tdc_pair_sums *sums;
    const char *name; /* of the pair, for messages; may be NULL */
    unsigned how;     /* set by submit or wait */
};

struct tdc_backend {
    const char *name;
    void *context; /* of all workers of a run: given to open and failed; may be NULL */
    /* Per worker thread; *state may stay NULL. */
    tdc_status (*open)(void *context, void **state, struct tdc_error *error);
    /* How many chunks a worker may have under way between submit and wait; at least 1. */
    unsigned (*limit)(void *state);
    /* False when the mapped data vanished while it was being read. */
    bool (*submit)(void *state, struct tdc_backend_chunk *chunk);
    bool (*wait)(void *state, struct tdc_backend_chunk *chunk);
    void (*close)(void *state);
    /* True when the run is to end because the backend cannot do what was asked; may be NULL. */
    bool (*failed)(void *context);
};

extern const struct tdc_backend tdc_backend_cpu;

/* Computes a chunk in this thread; false when the mapped data vanished. */
bool tdc_chunk_run(struct tdc_backend_chunk *chunk);

#endif
