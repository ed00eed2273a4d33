/* device_chunks.c - the backend of all devices: chunks staged into slots, and their sums taken back
 * from there. */
#include <stdlib.h>
#include <string.h>

#include "host/engine/device/slot_pool.h"
#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* A card whose calls are refused again and again is not asked any more. */
#define MOST_REFUSALS 3

struct worker {
    struct tdc_device_run *run;
    struct tdc_slot_pool *pool;
    void *before; /* what the thread was bound to */
    bool bound;
    struct tdc_backend_chunk *oldest, *newest; /* under way */
    struct tdc_device_figures figures;
};

/* What a failed call means for the card. */
static void note_failure(struct worker *worker, struct tdc_call_failure failure, const char *name)
{
    struct tdc_card *card = worker->pool->card;
    char text[600];
    card->family->describe(failure, text, sizeof text);
    tdc_device_run_note(worker->run, card, text, name);
    enum tdc_remedy remedy = card->family->remedy_of(failure.code);
    if (atomic_fetch_add(&card->refusals, 1) + 1 >= MOST_REFUSALS ||
        (remedy != TDC_REMEDY_CHUNK_ON_CPU && remedy != TDC_REMEDY_LESS_MEMORY))
        atomic_store(&card->lost, true);
}

static tdc_status open_worker(void *context, void **state, struct tdc_error *error)
{
    struct tdc_device_run *run = context;
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a thread");
    worker->run = run;
    worker->pool = &run->pools[atomic_fetch_add(&run->next, 1) % run->count];
    *state = worker;
    struct tdc_card *card = worker->pool->card;
    struct tdc_call_failure failure = card->family->bind(card, &worker->before);
    worker->bound = failure.code == 0;
    if (!worker->bound)
        note_failure(worker, failure, NULL);
    return TDC_OK;
}

static void close_worker(void *state)
{
    struct worker *worker = state;
    if (worker == NULL)
        return;
    struct tdc_card *card = worker->pool->card;
    if (worker->bound)
        card->family->unbind(card, worker->before);
    tdc_device_run_add(worker->run, &worker->figures);
    free(worker);
}

/* ---- where a chunk lies in its slot ---------------------------------------------------------- */

static unsigned char *staged_n(const struct tdc_backend_chunk *chunk)
{
    const struct tdc_place *place = chunk->place;
    return place->slot->n + tdc_staged_at(place->slot, &place->load, chunk->at) *
                                tdc_dtype_size(chunk->plan->n_dtype);
}

static unsigned char *staged_b(const struct tdc_backend_chunk *chunk)
{
    const struct tdc_place *place = chunk->place;
    return place->slot->b + tdc_staged_at(place->slot, &place->load, chunk->at) *
                                tdc_dtype_size(chunk->plan->b_dtype);
}

/* ---- submit ---------------------------------------------------------------------------------- */

static enum tdc_submit_result on_cpu(struct tdc_backend_chunk *chunk)
{
    return tdc_chunk_run(chunk) ? TDC_SUBMIT_COMPUTED : TDC_SUBMIT_VANISHED;
}

/* Where the sums of a device are its own, a tensor may not have a mixture: the engine is told. */
static void mark_fallback(struct worker *worker, struct tdc_backend_chunk *chunk)
{
    worker->figures.fallbacks++;
    chunk->how = worker->pool->card->family->exact ? 0 : TDC_CHUNK_FELL_BACK;
}

static enum tdc_submit_result fall_back(struct worker *worker, struct tdc_backend_chunk *chunk)
{
    mark_fallback(worker, chunk);
    return on_cpu(chunk);
}

/* The rest of the last unit becomes 0: what a card computes of it should not depend on the past. */
static void stage_side(unsigned char *to, const void *from, size_t count, size_t unit, size_t size)
{
    size_t whole = (count + unit - 1) / unit * unit;
    memcpy(to, from, count * size);
    memset(to + count * size, 0, (whole - count) * size);
}

static void stage(void *argument)
{
    const struct tdc_backend_chunk *chunk = argument;
    const struct tdc_place *place = chunk->place;
    size_t unit = place->slot->card->family->unit;
    stage_side(staged_n(chunk), chunk->n, chunk->count, unit, tdc_dtype_size(chunk->plan->n_dtype));
    stage_side(staged_b(chunk), chunk->b, chunk->count, unit, tdc_dtype_size(chunk->plan->b_dtype));
}

static bool fill(struct worker *worker, struct tdc_backend_chunk *chunk)
{
    double start = worker->run->timed ? tdc_seconds() : 0;
    bool kept = tdc_guarded_read(stage, chunk);
    if (worker->run->timed)
        worker->figures.staging += tdc_seconds() - start;
    tdc_slot_pool_filled(worker->pool, chunk->place, kept);
    return kept;
}

static enum tdc_submit_result submit(void *state, struct tdc_backend_chunk *chunk)
{
    struct worker *worker = state;
    const struct tdc_card *card = worker->pool->card;
    int kind = chunk->count < worker->run->least ? -1 : card->family->kind_of(chunk->plan);
    if (kind < 0) {
        worker->figures.cpu_chunks++;
        return on_cpu(chunk);
    }
    if (!worker->bound)
        return fall_back(worker, chunk);
    struct tdc_error error = {0};
    struct tdc_place *place = NULL;
    enum tdc_room room = tdc_slot_pool_room(worker->pool, kind, chunk->plan, chunk->count, &place,
                                            &chunk->at, &error);
    if (error.status != TDC_OK)
        tdc_device_run_note(worker->run, card, error.message, chunk->name);
    if (room == TDC_ROOM_NONE_NOW)
        return TDC_SUBMIT_NO_ROOM;
    if (room == TDC_ROOM_NEVER)
        return fall_back(worker, chunk);
    chunk->place = place;
    if (!fill(worker, chunk))
        return TDC_SUBMIT_VANISHED;
    chunk->next = NULL;
    *(worker->oldest == NULL ? &worker->oldest : &worker->newest->next) = chunk;
    worker->newest = chunk;
    return TDC_SUBMIT_TAKEN;
}

/* Without a card there is nothing to be beside: every chunk falls back then. */
static bool busy(void *state)
{
    const struct worker *worker = state;
    return worker->run->beside_cpu && worker->bound && tdc_slot_pool_busy(worker->pool);
}

/* ---- take ------------------------------------------------------------------------------------ */

/* The whole chunk from the staging: the mapping may have vanished since. */
static void redo(struct worker *worker, struct tdc_backend_chunk *chunk)
{
    mark_fallback(worker, chunk);
    tdc_pair_run(chunk->plan, staged_n(chunk), staged_b(chunk), chunk->count, chunk->sums);
}

static struct tdc_backend_chunk *take(void *state, bool wait)
{
    struct worker *worker = state;
    struct tdc_backend_chunk *chunk = worker->oldest;
    if (chunk == NULL) {
        if (wait)
            tdc_slot_pool_wait_for_room(worker->pool);
        return NULL;
    }
    struct tdc_place *place = chunk->place;
    bool first_to_see;
    if (!tdc_slot_pool_done(worker->pool, place, wait, &first_to_see))
        return NULL;
    worker->oldest = chunk->next;
    if (first_to_see && place->failure.code != 0)
        note_failure(worker, place->failure, chunk->name);
    else if (first_to_see && worker->run->timed)
        tdc_slot_pool_times(worker->pool, place, &worker->figures);
    if (place->failure.code != 0) {
        redo(worker, chunk);
    } else {
        chunk->how = TDC_CHUNK_BY_DEVICE;
        worker->figures.device_chunks++;
        place->slot->card->family->collect(place->slot, &place->load, chunk->at, chunk,
                                           &worker->figures);
    }
    tdc_slot_pool_taken(worker->pool, place);
    return chunk;
}

const struct tdc_backend tdc_backend_device = {
    .name = "device",
    .open = open_worker,
    .submit = submit,
    .take = take,
    .busy = busy,
    .close = close_worker,
};
