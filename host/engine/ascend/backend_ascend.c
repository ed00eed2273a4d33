/* backend_ascend.c - see backend_ascend.h. */
#include "host/engine/ascend/backend_ascend.h"

#include <stdlib.h>
#include <string.h>

#include "host/engine/ascend/ascend_run.h"
#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* A card whose calls are refused again and again is not asked any more. */
#define MOST_REFUSALS 3

static tdc_status ascend_open(void *context, void **state, struct tdc_error *error)
{
    struct tdc_ascend_run *run = context;
    struct tdc_ascend_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a thread");
    worker->run = run;
    worker->card = &run->cards[atomic_fetch_add(&run->next, 1) % run->count];
    *state = worker;
    int code = tdc_ascend_bind(&worker->card->device);
    worker->bound = code == 0;
    if (!worker->bound)
        tdc_ascend_note(run, &worker->card->device,
                        (struct tdc_acl_failure){"aclrtSetDevice", code}, NULL);
    return TDC_OK;
}

static void ascend_close(void *state)
{
    struct tdc_ascend_worker *worker = state;
    if (worker == NULL)
        return;
    if (worker->bound)
        tdc_ascend_unbind(&worker->card->device);
    tdc_device_run_add(&worker->run->base, &worker->figures);
    free(worker);
}

/* ---- where a chunk lies in its slot ---------------------------------------------------------- */

/* A tail has a tile of its own, which the card computes and nobody reads: so the whole chunk is in
 * the staging, for what the CPU has to do of it. */
static size_t room_of(const struct tdc_backend_chunk *chunk)
{
    return (chunk->count + TDC_TILE_PAIRS - 1) / TDC_TILE_PAIRS;
}

static char *staged_n(const struct tdc_backend_chunk *chunk)
{
    struct tdc_ascend_place *place = chunk->place;
    return (char *)tdc_ascend_slot_n(&place->slot) +
           chunk->first * TDC_TILE_PAIRS * tdc_dtype_size(chunk->plan->n_dtype);
}

static char *staged_b(const struct tdc_backend_chunk *chunk)
{
    struct tdc_ascend_place *place = chunk->place;
    return (char *)tdc_ascend_slot_b(&place->slot) +
           chunk->first * TDC_TILE_PAIRS * tdc_dtype_size(chunk->plan->b_dtype);
}

/* ---- submit ---------------------------------------------------------------------------------- */

static enum tdc_submit_result on_cpu(struct tdc_backend_chunk *chunk)
{
    return tdc_chunk_run(chunk) ? TDC_SUBMIT_COMPUTED : TDC_SUBMIT_VANISHED;
}

static enum tdc_submit_result fall_back(struct tdc_ascend_worker *worker,
                                        struct tdc_backend_chunk *chunk)
{
    worker->figures.fallbacks++;
    chunk->how = TDC_CHUNK_FELL_BACK;
    return on_cpu(chunk);
}

/* The rest of the last tile becomes 0: what a card computes of it should not depend on the past. */
static void stage_side(char *to, const void *from, size_t count, size_t tiles, size_t size)
{
    memcpy(to, from, count * size);
    memset(to + count * size, 0, (tiles * TDC_TILE_PAIRS - count) * size);
}

static void stage(void *argument)
{
    const struct tdc_backend_chunk *chunk = argument;
    size_t tiles = room_of(chunk);
    stage_side(staged_n(chunk), chunk->n, chunk->count, tiles,
               tdc_dtype_size(chunk->plan->n_dtype));
    stage_side(staged_b(chunk), chunk->b, chunk->count, tiles,
               tdc_dtype_size(chunk->plan->b_dtype));
}

static bool fill(struct tdc_ascend_worker *worker, struct tdc_backend_chunk *chunk)
{
    double start = worker->run->base.timed ? tdc_seconds() : 0;
    bool kept = tdc_guarded_read(stage, chunk);
    if (worker->run->base.timed)
        worker->figures.staging += tdc_seconds() - start;
    tdc_slot_pool_filled(&worker->card->pool, chunk->place, kept);
    return kept;
}

/* The kernel a chunk is meant for, or -1. */
static int kernel_for(const struct tdc_ascend_worker *worker, const struct tdc_backend_chunk *chunk)
{
    const struct tdc_pair_plan *plan = chunk->plan;
    return chunk->count < worker->run->base.least
               ? -1
               : tdc_ascend_kernel_for(plan->n_dtype, plan->b_dtype, plan->rule);
}

static enum tdc_submit_result ascend_submit(void *state, struct tdc_backend_chunk *chunk)
{
    struct tdc_ascend_worker *worker = state;
    int kernel = kernel_for(worker, chunk);
    if (kernel < 0) {
        worker->figures.cpu_chunks++;
        return on_cpu(chunk);
    }
    if (!worker->bound)
        return fall_back(worker, chunk);
    struct tdc_error error = {0};
    struct tdc_ascend_place *place = NULL;
    enum tdc_room room = tdc_slot_pool_room(&worker->card->pool, (unsigned)kernel, room_of(chunk),
                                            &place, &chunk->first, &error);
    if (error.status != TDC_OK)
        tdc_ascend_note_text(worker->run, &worker->card->device, error.message, chunk->name);
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
static bool ascend_busy(void *state)
{
    struct tdc_ascend_worker *worker = state;
    return worker->run->base.beside_cpu && worker->bound && tdc_slot_pool_busy(&worker->card->pool);
}

/* ---- take ------------------------------------------------------------------------------------ */

/* What a failed call means for the card. */
static void take_failure(struct tdc_ascend_worker *worker, struct tdc_acl_failure failure,
                         const char *name)
{
    struct tdc_ascend_card *card = worker->card;
    tdc_ascend_note(worker->run, &card->device, failure, name);
    enum tdc_acl_remedy remedy = tdc_acl_remedy_of(failure.code);
    if (atomic_fetch_add(&card->refusals, 1) + 1 >= MOST_REFUSALS || remedy == TDC_ACL_GIVE_UP ||
        remedy == TDC_ACL_NO_DEVICE || remedy == TDC_ACL_WRONG_KERNEL)
        atomic_store(&card->device.lost, true);
}

static bool rescue_tile(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    const struct tdc_backend_chunk *chunk = context;
    const struct tdc_pair_plan *plan = chunk->plan;
    size_t at = tile * TDC_TILE_PAIRS;
    tdc_pair_run(plan, staged_n(chunk) + at * tdc_dtype_size(plan->n_dtype),
                 staged_b(chunk) + at * tdc_dtype_size(plan->b_dtype), TDC_TILE_PAIRS, sums);
    return true;
}

static void collect(struct tdc_ascend_worker *worker, struct tdc_backend_chunk *chunk)
{
    const struct tdc_pair_plan *plan = chunk->plan;
    const struct tdc_ascend_place *place = chunk->place;
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    size_t tiles = chunk->count / TDC_TILE_PAIRS, done = tiles * TDC_TILE_PAIRS, rescued = 0;
    chunk->how = TDC_CHUNK_BY_DEVICE;
    tdc_tiles_merge(plan,
                    tdc_ascend_slot_records(&place->slot) + chunk->first * TDC_TILE_RECORD_FLOATS,
                    tiles, rescue_tile, chunk, chunk->sums, &rescued);
    if (done < chunk->count) {
        struct tdc_pair_sums tail;
        tdc_pair_run(plan, staged_n(chunk) + done * n_size, staged_b(chunk) + done * b_size,
                     chunk->count - done, &tail);
        tdc_pair_merge(chunk->sums, &tail);
    }
    struct tdc_device_figures *figures = &worker->figures;
    figures->device_chunks++;
    figures->tiles += tiles;
    figures->rescued += rescued;
    figures->returned += tiles * TDC_TILE_RECORD_BYTES;
    figures->bytes += done * (n_size + b_size);
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
    struct tdc_slot_pool *pool = &worker->card->pool;
    struct tdc_backend_chunk *chunk = worker->oldest;
    if (chunk == NULL) {
        if (wait)
            tdc_slot_pool_wait_for_room(pool);
        return NULL;
    }
    struct tdc_ascend_place *place = chunk->place;
    bool first_to_see;
    if (!tdc_slot_pool_done(pool, place, wait, &first_to_see))
        return NULL;
    worker->oldest = chunk->next;
    if (first_to_see && place->failure.code != 0)
        take_failure(worker, place->failure, chunk->name);
    else if (first_to_see && worker->run->base.timed)
        take_times(worker, &place->slot);
    if (place->failure.code != 0) {
        /* the whole chunk from the staging: the mapping may have vanished since */
        worker->figures.fallbacks++;
        chunk->how = TDC_CHUNK_FELL_BACK;
        tdc_pair_run(chunk->plan, staged_n(chunk), staged_b(chunk), chunk->count, chunk->sums);
    } else {
        collect(worker, chunk);
    }
    tdc_slot_pool_taken(pool, place);
    return chunk;
}

const struct tdc_backend tdc_backend_ascend = {
    .name = "ascend",
    .open = ascend_open,
    .submit = ascend_submit,
    .take = ascend_take,
    .busy = ascend_busy,
    .close = ascend_close,
};
