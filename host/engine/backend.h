/*
 * backend.h - where the arithmetic of a chunk is done.
 *
 * A small table of functions. `cpu` computes at submit; a device may take the chunk, go on and
 * deliver at wait. A chunk's data stays valid until wait returns.
 */
#ifndef TDC_HOST_BACKEND_H
#define TDC_HOST_BACKEND_H

#include "kernels/pair.h"

struct tdc_backend_chunk {
    const struct tdc_pair_plan *plan;
    const void *n, *b; /* dense, native byte order */
    size_t count;      /* <= TDC_PAIR_CHUNK */
    struct tdc_pair_sums *sums;
};

struct tdc_backend {
    const char *name;
    /* Per worker thread; *state may stay NULL. */
    tdc_status (*open)(void **state, struct tdc_error *error);
    /* How many chunks a worker may have under way between submit and wait; at least 1. */
    unsigned (*limit)(void *state);
    /* False when the mapped data vanished while it was being read. */
    bool (*submit)(void *state, struct tdc_backend_chunk *chunk);
    bool (*wait)(void *state, struct tdc_backend_chunk *chunk);
    void (*close)(void *state);
};

extern const struct tdc_backend tdc_backend_cpu;

#endif
