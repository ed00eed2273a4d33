/* backend_ascend.c - see backend_ascend.h. */
#include "host/engine/ascend/backend_ascend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/ascend/ascend_run.h"
#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* A worker whose calls are refused again and again stops asking. */
#define MOST_REFUSALS 3

/* ---- opening --------------------------------------------------------------------------------- */

/* As many slots as the memory of the card allows; 0 when there is none. */
static unsigned open_slots(struct tdc_ascend_worker *worker)
{
    struct tdc_ascend_run *run = worker->run;
    unsigned count = 0;
    for (; count < TDC_ASCEND_SLOTS; count++) {
        struct tdc_acl_failure failure =
            tdc_ascend_slot_open(&worker->places[count].slot, worker->device, run->base.timed);
        if (failure.code == 0)
            continue;
        tdc_ascend_slot_close(&worker->places[count].slot);
        /* one slot works too, only slower */
        if (count == 0 || tdc_acl_remedy_of(failure.code) != TDC_ACL_LESS_MEMORY)
            tdc_ascend_note(run, worker->device, failure, NULL);
        if (tdc_acl_remedy_of(failure.code) == TDC_ACL_GIVE_UP)
            atomic_store(&worker->device->lost, true);
        break;
    }
    return count;
}

static tdc_status ascend_open(void *context, void **state, struct tdc_error *error)
{
    struct tdc_ascend_run *run = context;
    struct tdc_ascend_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a thread");
    worker->run = run;
    worker->device = &run->devices[atomic_fetch_add(&run->next, 1) % run->count];
    *state = worker;
    int code = tdc_ascend_bind(worker->device);
    worker->bound = code == 0;
    if (!worker->bound)
        tdc_ascend_note(run, worker->device, (struct tdc_acl_failure){"aclrtSetDevice", code},
                        NULL);
    else
        worker->slots = open_slots(worker);
    return TDC_OK;
}

static void ascend_close(void *state)
{
    struct tdc_ascend_worker *worker = state;
    if (worker == NULL)
        return;
    for (unsigned i = 0; i < worker->slots; i++)
        tdc_ascend_slot_close(&worker->places[i].slot);
    if (worker->bound)
        tdc_ascend_unbind(worker->device);
    tdc_device_run_add(&worker->run->base, &worker->figures);
    free(worker);
}

/* ---- the CPU's part -------------------------------------------------------------------------- */

static enum tdc_submit_result on_cpu(struct tdc_backend_chunk *chunk)
{
    return tdc_chunk_run(chunk) ? TDC_SUBMIT_COMPUTED : TDC_SUBMIT_VANISHED;
}

/* The whole chunk from the staging: the mapping may have vanished since, the copy has not. */
static void redo(struct tdc_ascend_worker *worker, struct tdc_ascend_place *place,
                 struct tdc_backend_chunk *chunk)
{
    worker->figures.fallbacks++;
    chunk->how = TDC_CHUNK_FELL_BACK;
    tdc_pair_run(chunk->plan, tdc_ascend_slot_n(&place->slot), tdc_ascend_slot_b(&place->slot),
                 chunk->count, chunk->sums);
}

/* ---- submit ---------------------------------------------------------------------------------- */

struct staging {
    const struct tdc_backend_chunk *chunk;
    struct tdc_ascend_slot *slot;
};

/* The tail goes along: it is read again when the CPU computes it, from the copy. */
static void stage(void *argument)
{
    const struct staging *staging = argument;
    const struct tdc_backend_chunk *chunk = staging->chunk;
    memcpy(tdc_ascend_slot_n(staging->slot), chunk->n,
           chunk->count * tdc_dtype_size(chunk->plan->n_dtype));
    memcpy(tdc_ascend_slot_b(staging->slot), chunk->b,
           chunk->count * tdc_dtype_size(chunk->plan->b_dtype));
}

/* The kernel a chunk is meant for, or -1. */
static int kernel_for(const struct tdc_ascend_worker *worker, const struct tdc_backend_chunk *chunk)
{
    const struct tdc_pair_plan *plan = chunk->plan;
    return chunk->count < worker->run->base.least
               ? -1
               : tdc_ascend_kernel_for(plan->n_dtype, plan->b_dtype, plan->rule);
}

/* NULL when the device cannot do it. */
static void *function_for(struct tdc_ascend_worker *worker, const struct tdc_backend_chunk *chunk,
                          unsigned kernel)
{
    if (worker->slots == 0 || atomic_load(&worker->device->lost))
        return NULL;
    struct tdc_error error = {0};
    void *function = tdc_ascend_kernel(
        worker->device, kernel, &worker->places[worker->submitted % worker->slots].slot, &error);
    if (error.status != TDC_OK)
        tdc_ascend_note_text(worker->run, worker->device, error.message, chunk->name);
    return function;
}

/* What a failed call means for the worker and for the card. */
static void take_failure(struct tdc_ascend_worker *worker, struct tdc_acl_failure failure,
                         const char *name)
{
    tdc_ascend_note(worker->run, worker->device, failure, name);
    enum tdc_acl_remedy remedy = tdc_acl_remedy_of(failure.code);
    worker->refusals++;
    if (remedy == TDC_ACL_GIVE_UP || remedy == TDC_ACL_NO_DEVICE ||
        remedy == TDC_ACL_WRONG_KERNEL || worker->refusals >= MOST_REFUSALS)
        atomic_store(&worker->device->lost, true);
}

static enum tdc_submit_result ascend_submit(void *state, struct tdc_backend_chunk *chunk)
{
    struct tdc_ascend_worker *worker = state;
    int kernel = kernel_for(worker, chunk);
    if (kernel < 0) {
        worker->figures.cpu_chunks++;
        return on_cpu(chunk);
    }
    if (worker->slots != 0 && worker->submitted - worker->waited == worker->slots)
        return TDC_SUBMIT_NO_ROOM;
    void *function = function_for(worker, chunk, (unsigned)kernel);
    if (function == NULL) {
        worker->figures.fallbacks++;
        chunk->how = TDC_CHUNK_FELL_BACK;
        return on_cpu(chunk);
    }
    struct tdc_ascend_place *place = &worker->places[worker->submitted % worker->slots];
    struct staging staging = {chunk, &place->slot};
    double start = worker->run->base.timed ? tdc_seconds() : 0;
    if (!tdc_guarded_read(stage, &staging))
        return TDC_SUBMIT_VANISHED;
    if (worker->run->base.timed)
        worker->figures.staging += tdc_seconds() - start;
    place->tiles = chunk->count / TDC_TILE_PAIRS;
    place->failure =
        tdc_ascend_slot_launch(&place->slot, (unsigned)kernel, function, place->tiles, 0);
    place->chunk = chunk;
    worker->submitted++;
    return TDC_SUBMIT_TAKEN;
}

/* ---- take ------------------------------------------------------------------------------------ */

struct rescue {
    const struct tdc_backend_chunk *chunk;
    struct tdc_ascend_slot *slot;
};

static bool rescue_tile(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    const struct rescue *rescue = context;
    const struct tdc_pair_plan *plan = rescue->chunk->plan;
    size_t first = tile * TDC_TILE_PAIRS;
    tdc_pair_run(
        plan, (const char *)tdc_ascend_slot_n(rescue->slot) + first * tdc_dtype_size(plan->n_dtype),
        (const char *)tdc_ascend_slot_b(rescue->slot) + first * tdc_dtype_size(plan->b_dtype),
        TDC_TILE_PAIRS, sums);
    return true;
}

static void collect(struct tdc_ascend_worker *worker, struct tdc_ascend_place *place,
                    struct tdc_backend_chunk *chunk)
{
    const struct tdc_pair_plan *plan = chunk->plan;
    struct rescue rescue = {chunk, &place->slot};
    chunk->how = TDC_CHUNK_BY_DEVICE;
    size_t rescued = 0, done = place->tiles * TDC_TILE_PAIRS;
    tdc_tiles_merge(plan, tdc_ascend_slot_records(&place->slot), place->tiles, rescue_tile, &rescue,
                    chunk->sums, &rescued);
    if (done < chunk->count) {
        struct tdc_pair_sums tail;
        tdc_pair_run(
            plan,
            (const char *)tdc_ascend_slot_n(&place->slot) + done * tdc_dtype_size(plan->n_dtype),
            (const char *)tdc_ascend_slot_b(&place->slot) + done * tdc_dtype_size(plan->b_dtype),
            chunk->count - done, &tail);
        tdc_pair_merge(chunk->sums, &tail);
    }
    struct tdc_device_figures *figures = &worker->figures;
    figures->device_chunks++;
    figures->tiles += place->tiles;
    figures->rescued += rescued;
    figures->returned += place->tiles * TDC_TILE_RECORD_BYTES;
    figures->bytes += done * (tdc_dtype_size(plan->n_dtype) + tdc_dtype_size(plan->b_dtype));
}

static void take_times(struct tdc_ascend_worker *worker, struct tdc_ascend_slot *slot)
{
    static const unsigned points[] = {TDC_SLOT_START, TDC_SLOT_COPIED, TDC_SLOT_COMPUTED,
                                      TDC_SLOT_DONE};
    double *into[] = {&worker->figures.h2d, &worker->figures.kernel, &worker->figures.d2h};
    for (unsigned i = 0; i < 3; i++) {
        double milliseconds = tdc_ascend_slot_time(slot, points[i], points[i + 1]);
        if (milliseconds > 0)
            *into[i] += 1e-3 * milliseconds;
    }
}

static struct tdc_backend_chunk *ascend_take(void *state, bool wait)
{
    struct tdc_ascend_worker *worker = state;
    if (!wait || worker->waited == worker->submitted)
        return NULL;
    struct tdc_ascend_place *place = &worker->places[worker->waited++ % worker->slots];
    struct tdc_backend_chunk *chunk = place->chunk;
    struct tdc_acl_failure failure = place->failure;
    /* also when the launch failed half way: what had begun must end before the slot is used again
     */
    struct tdc_acl_failure waited = tdc_ascend_slot_wait(&place->slot);
    if (failure.code == 0)
        failure = waited;
    if (failure.code != 0) {
        take_failure(worker, failure, chunk->name);
        if (waited.code != 0)
            atomic_store(&worker->device->lost, true);
        redo(worker, place, chunk);
        return chunk;
    }
    if (worker->run->base.timed)
        take_times(worker, &place->slot);
    collect(worker, place, chunk);
    return chunk;
}

const struct tdc_backend tdc_backend_ascend = {
    .name = "ascend",
    .open = ascend_open,
    .submit = ascend_submit,
    .take = ascend_take,
    .close = ascend_close,
};
