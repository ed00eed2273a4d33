/*
 * device_run.h - a run on one or several devices of a family, with the CPU as the net below: the
 * backend for the engine, the first trouble, the figures.
 *
 * Each worker thread works with one card, in turns, and hands its chunks to the slots that all
 * workers of the card share (slot_pool.h). Nothing a device does can lose a chunk: the data is
 * still in the staging, and the CPU redoes it. A device that fails in earnest is given up for the
 * rest of the run. With no_fallback the run ends with TDC_ERR_DEVICE instead.
 */
#ifndef TDC_DEVICE_RUN_H
#define TDC_DEVICE_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/engine/backend.h"

#define TDC_DEVICE_MOST 64

struct tdc_device_figures {
    uint64_t tiles, rescued;          /* computed by devices; of these again by the CPU */
    uint64_t device_chunks;           /* computed by devices */
    uint64_t cpu_chunks;              /* not meant for a device: small, other types */
    uint64_t fallbacks;               /* meant for a device, redone by the CPU */
    double h2d, kernel, d2h, staging; /* seconds on the devices and copying; only when timed */
    double link_busy, kernel_busy;    /* of these, without what was at the same time */
    uint64_t bytes, returned;         /* sent to the devices and back */
};

struct tdc_device_family;
struct tdc_slot_pool;

struct tdc_device_run {
    struct tdc_backend backend; /* for tdc_engine; its context is the run */
    char name[128];             /* of the devices: "Ascend910B3" */
    bool no_fallback, timed;
    bool beside_cpu; /* pairs that begin while the devices have enough to do are the CPU's */
    size_t least;    /* pairs of a chunk that is worth the trip */
    unsigned count;  /* of pools, one a card */
    struct tdc_slot_pool *pools;
    atomic_uint next; /* the card of the next worker */
    atomic_bool failed;
    pthread_mutex_t lock; /* of what follows */
    char trouble[1200];
    struct tdc_device_figures figures;
};

/*
 * Opens the devices with these ids and tests the kernel for f32 pairs of the rule on each.
 * TDC_ERR_NOT_FOUND when one of them is not there, TDC_ERR_DEVICE when it cannot be used; error
 * must not be NULL. `timed`: the time of every hop is taken.
 */
tdc_status tdc_device_run_open(const struct tdc_device_family *family, const int32_t *ids,
                               unsigned count, enum tdc_relative_rule rule, bool no_fallback,
                               bool timed, struct tdc_device_run **run, struct tdc_error *error);
/* By the thread that opened it, when all workers have closed. */
void tdc_device_run_close(struct tdc_device_run *run);

struct tdc_card;

/* Keeps the first trouble of a run; name is the pair's or NULL. */
void tdc_device_run_note(struct tdc_device_run *run, const struct tdc_card *card, const char *text,
                         const char *name);
void tdc_device_run_add(struct tdc_device_run *run, const struct tdc_device_figures *figures);
struct tdc_device_figures tdc_device_run_figures(struct tdc_device_run *run);
/* "" or the one line about what went wrong, valid until close; not while workers run. */
const char *tdc_device_run_trouble(const struct tdc_device_run *run);
/* With no_fallback: the work was not done as asked. */
bool tdc_device_run_failed(struct tdc_device_run *run);

/* device_chunks.c: chunks handed over and taken back. */
extern const struct tdc_backend tdc_backend_device;

#endif
