/*
 * device_run.h - what a run on devices has in common, whatever they are: how it is told to the
 * engine, the first trouble, the figures.
 *
 * Nothing a device does can lose a chunk: the CPU redoes it. A device that fails in earnest is
 * given up for the rest of the run. With no_fallback the run ends with TDC_ERR_DEVICE instead.
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
    uint64_t bytes, returned;         /* sent to the devices and back */
};

/* The first member of a family's own run. */
struct tdc_device_run {
    struct tdc_backend backend; /* for tdc_engine; its context is the run */
    void (*close)(struct tdc_device_run *run);
    char name[128]; /* of the devices: "Ascend910B3" */
    bool no_fallback, timed;
    bool beside_cpu; /* pairs that begin while the devices have enough to do are the CPU's */
    size_t least;    /* pairs of a chunk that is worth the trip */
    atomic_bool failed;
    pthread_mutex_t lock; /* of what follows */
    char trouble[1200];
    struct tdc_device_figures figures;
};

/* `least` is what TDC_DEVICE_LEAST may change, but not below `bound`. */
void tdc_device_run_init(struct tdc_device_run *run, const struct tdc_backend *backend,
                         size_t bound, bool no_fallback, bool timed);
/* Before the family frees it. */
void tdc_device_run_end(struct tdc_device_run *run);

/* Keeps the first trouble of a run; `device` is "ascend:0 (Ascend910B3)", name the pair's or NULL.
 */
void tdc_device_run_note(struct tdc_device_run *run, const char *device, const char *text,
                         const char *name);
void tdc_device_run_add(struct tdc_device_run *run, const struct tdc_device_figures *figures);
struct tdc_device_figures tdc_device_run_figures(struct tdc_device_run *run);
/* "" or the one line about what went wrong, valid until close; not while workers run. */
const char *tdc_device_run_trouble(const struct tdc_device_run *run);
/* With no_fallback: the work was not done as asked. */
bool tdc_device_run_failed(struct tdc_device_run *run);

#endif
