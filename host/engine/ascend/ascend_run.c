/* ascend_run.c - the cards of a run, and what is told about them at its end. */
#include "host/engine/ascend/ascend_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

/* Below so many pairs a chunk is done by the CPU before a launch has begun (about 50 us). */
#define LEAST_PAIRS ((size_t)1 << 16)

/* ---- trouble --------------------------------------------------------------------------------- */

void tdc_ascend_note_text(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                          const char *text, const char *name)
{
    pthread_mutex_lock(&run->lock);
    if (run->trouble[0] == '\0')
        snprintf(run->trouble, sizeof run->trouble, "device %d (%s): %.600s%s%.200s",
                 (int)device->id, device->soc, text, name != NULL ? ", at " : "",
                 name != NULL ? name : "");
    if (run->no_fallback)
        atomic_store(&run->failed, true);
    pthread_mutex_unlock(&run->lock);
}

void tdc_ascend_note(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                     struct tdc_acl_failure failure, const char *name)
{
    char text[600];
    tdc_acl_describe(device->acl, failure.function, failure.code, text, sizeof text);
    tdc_ascend_note_text(run, device, text, name);
}

void tdc_ascend_add_figures(struct tdc_ascend_run *run, const struct tdc_ascend_figures *figures)
{
    pthread_mutex_lock(&run->lock);
    struct tdc_ascend_figures *all = &run->figures;
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
    pthread_mutex_unlock(&run->lock);
}

static bool failed(void *context)
{
    return tdc_ascend_run_failed(context);
}

/* ---- opening --------------------------------------------------------------------------------- */

static size_t least_pairs(void)
{
    const char *given = getenv("TDC_DEVICE_LEAST");
    char *end;
    unsigned long long least = given != NULL ? strtoull(given, &end, 10) : 0;
    if (given == NULL || end == given || *end != '\0')
        return LEAST_PAIRS;
    return least > TDC_TILE_PAIRS ? (size_t)least : TDC_TILE_PAIRS;
}

static tdc_status open_device(struct tdc_ascend_run *run, const struct tdc_acl *acl, int32_t id,
                              enum tdc_relative_rule rule, struct tdc_error *error)
{
    struct tdc_ascend_device *device = &run->devices[run->count];
    tdc_status status = tdc_ascend_device_open(acl, id, device, error);
    if (status != TDC_OK)
        return status;
    run->count++;
    int kernel = tdc_ascend_kernel_for(TDC_F32, TDC_F32, rule);
    if (tdc_ascend_kernel(device, (unsigned)kernel, NULL, error) == NULL)
        return TDC_ERR_DEVICE;
    return TDC_OK;
}

tdc_status tdc_ascend_run_open(const int32_t *ids, unsigned count, enum tdc_relative_rule rule,
                               bool no_fallback, bool timed, struct tdc_ascend_run **made,
                               struct tdc_error *error)
{
    *made = NULL;
    const struct tdc_acl *acl = tdc_acl_runtime_start(error);
    if (acl == NULL)
        return error->status;
    if (count == 0 || count > TDC_ASCEND_CARDS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%u devices are not supported", count);
    struct tdc_ascend_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the devices");
    run->backend = tdc_backend_ascend;
    run->backend.context = run;
    run->backend.failed = failed;
    run->no_fallback = no_fallback;
    run->timed = timed;
    run->least = least_pairs();
    pthread_mutex_init(&run->lock, NULL);
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < count && status == TDC_OK; i++)
        status = open_device(run, acl, ids[i], rule, error);
    if (status == TDC_OK)
        *made = run;
    else
        tdc_ascend_run_close(run);
    return status;
}

void tdc_ascend_run_close(struct tdc_ascend_run *run)
{
    if (run == NULL)
        return;
    for (unsigned i = run->count; i-- != 0;)
        tdc_ascend_device_close(&run->devices[i]);
    pthread_mutex_destroy(&run->lock);
    free(run);
}

/* ---- asking ---------------------------------------------------------------------------------- */

const struct tdc_backend *tdc_ascend_run_backend(struct tdc_ascend_run *run)
{
    return &run->backend;
}

const char *tdc_ascend_run_soc(const struct tdc_ascend_run *run)
{
    return run->devices[0].soc;
}

struct tdc_ascend_figures tdc_ascend_run_figures(struct tdc_ascend_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct tdc_ascend_figures figures = run->figures;
    pthread_mutex_unlock(&run->lock);
    return figures;
}

const char *tdc_ascend_run_trouble(struct tdc_ascend_run *run)
{
    return run->trouble;
}

bool tdc_ascend_run_failed(struct tdc_ascend_run *run)
{
    return atomic_load(&run->failed);
}
