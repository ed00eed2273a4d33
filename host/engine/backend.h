/*
 * backend.h - where the arithmetic of a chunk is done.
 *
 * A small table of functions. `cpu` computes at submit. A device takes the chunk over, copies its
 * data, and gives it back when it is done, however many others were handed over in between: chunks
 * of several spans and tensors are under way at a time.
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
    const struct tdc_pair_plan *plan; /* outlives the chunk */
    const void *n, *b;                /* dense, native byte order; read by submit alone */
    size_t count;                     /* <= TDC_PAIR_CHUNK */
    struct tdc_pair_sums *sums;
    const char *name; /* of the pair, for messages; may be NULL */
    unsigned how;     /* set when it is done */
    void *owner;      /* the engine's: whose chunk it is */
    /* the backend's while the chunk is under way */
    struct tdc_backend_chunk *next;
    void *place;
    unsigned at; /* its number there */
};

enum tdc_submit_result {
    TDC_SUBMIT_COMPUTED, /* sums and how are set: it does not come back from take */
    TDC_SUBMIT_TAKEN,    /* under way; n and b are not read any more, the rest stays until take */
    TDC_SUBMIT_NO_ROOM,  /* nothing happened: take something back, then try again */
    TDC_SUBMIT_VANISHED  /* the mapped data vanished while it was being read */
};

struct tdc_backend {
    const char *name;
    void *context; /* of all workers of a run: given to open and failed; may be NULL */
    /* Per worker thread; *state may stay NULL. */
    tdc_status (*open)(void *context, void **state, struct tdc_error *error);
    enum tdc_submit_result (*submit)(void *state, struct tdc_backend_chunk *chunk);
    /*
     * A chunk of this worker that is done; NULL when none is. `wait`: waits for the oldest one;
     * when none of this worker is under way, until others have made room, and returns NULL.
     */
    struct tdc_backend_chunk *(*take)(void *state, bool wait);
    /* True when a pair that begins now is better done by the CPU; NULL: never. */
    bool (*busy)(void *state);
    /* All chunks have been taken back. */
    void (*close)(void *state);
    /* True when the run is to end because the backend cannot do what was asked; may be NULL. */
    bool (*failed)(void *context);
};

extern const struct tdc_backend tdc_backend_cpu;

/* Computes a chunk in this thread; false when the mapped data vanished. */
bool tdc_chunk_run(struct tdc_backend_chunk *chunk);

/*
 * Computes chunks in order, as many under way at a time as the backend takes; all are done when it
 * returns. False when the mapped data of one vanished. The worker has nothing else under way.
 */
bool tdc_chunks_run(const struct tdc_backend *backend, void *state,
                    struct tdc_backend_chunk *chunks, size_t count);

#endif
