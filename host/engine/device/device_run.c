/* device_run.c - see device_run.h. */
#include "host/engine/device/device_run.h"

#include <stdio.h>
#include <stdlib.h>

/* Below so many pairs a chunk is done by the CPU before a launch has begun (about 50 us). */
#define LEAST_PAIRS ((size_t)1 << 16)

static bool failed(void *context)
{
    return tdc_device_run_failed(context);
}

static size_t least_pairs(size_t bound)
{
    const char *given = getenv("TDC_DEVICE_LEAST");
    char *end;
    unsigned long long least = given != NULL ? strtoull(given, &end, 10) : 0;
    if (given == NULL || end == given || *end != '\0')
        return LEAST_PAIRS;
    return least > bound ? (size_t)least : bound;
}

void tdc_device_run_init(struct tdc_device_run *run, const struct tdc_backend *backend,
                         size_t bound, bool no_fallback, bool timed)
{
    run->backend = *backend;
    run->backend.context = run;
    run->backend.failed = failed;
    run->no_fallback = no_fallback;
    run->timed = timed;
    run->least = least_pairs(bound);
    pthread_mutex_init(&run->lock, NULL);
}

void tdc_device_run_end(struct tdc_device_run *run)
{
    pthread_mutex_destroy(&run->lock);
}

void tdc_device_run_note(struct tdc_device_run *run, const char *device, const char *text,
                         const char *name)
{
    pthread_mutex_lock(&run->lock);
    if (run->trouble[0] == '\0')
        snprintf(run->trouble, sizeof run->trouble, "device %.200s: %.600s%s%.200s", device, text,
                 name != NULL ? ", at " : "", name != NULL ? name : "");
    if (run->no_fallback)
        atomic_store(&run->failed, true);
    pthread_mutex_unlock(&run->lock);
}

void tdc_device_run_add(struct tdc_device_run *run, const struct tdc_device_figures *figures)
{
    pthread_mutex_lock(&run->lock);
    struct tdc_device_figures *all = &run->figures;
    all->tiles += figures->tiles;
    all->rescued += figures->rescued;
    all->device_chunks += figures->device_chunks;
    all->cpu_chunks += figures->cpu_chunks;
    all->fallbacks += figures->fallbacks;
    all->h2d += figures->h2d;
    all->kernel += figures->kernel;
    all->d2h += figures->d2h;
    all->staging += figures->staging;
    all->bytes += figures->bytes;
    all->returned += figures->returned;
    pthread_mutex_unlock(&run->lock);
}

struct tdc_device_figures tdc_device_run_figures(struct tdc_device_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct tdc_device_figures figures = run->figures;
    pthread_mutex_unlock(&run->lock);
    return figures;
}

const char *tdc_device_run_trouble(const struct tdc_device_run *run)
{
    return run->trouble;
}

bool tdc_device_run_failed(struct tdc_device_run *run)
{
    return atomic_load(&run->failed);
}
