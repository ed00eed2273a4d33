/* gpu_run.c - see gpu_run.h. */
#include "host/engine/gpu/gpu_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* Slots of a device: some copy and compute in turns while others are being filled. */
#define SLOTS 8
/* A device whose calls are refused again and again is not asked any more. */
#define MOST_REFUSALS 3

/* A slot and how its launch went. */
struct place {
    struct tdc_gpu_slot slot;
    struct tdc_call_failure failure;
    struct place *next; /* of those that are free */
};

/* A device with its slots. */
struct card {
    struct tdc_gpu_device device;
    atomic_uint refusals;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t freed;
    struct place places[SLOTS];
    unsigned opened, most; /* slots that are open, and that may be: fewer where memory is short */
    struct place *free;
};

struct gpu_run {
    struct tdc_device_run base;
    unsigned count;
    atomic_uint next;
    struct card cards[];
};

struct worker {
    struct gpu_run *run;
    struct card *card;
    void *before; /* what the thread was bound to */
    bool bound;
    struct tdc_backend_chunk *oldest, *newest; /* under way */
    struct tdc_device_figures figures;
};

static void note_text(struct gpu_run *run, const struct card *card, const char *text,
                      const char *name)
{
    const struct tdc_gpu_device *device = &card->device;
    char who[sizeof device->name + 32];
    snprintf(who, sizeof who, "%s:%u (%s)", device->family->name, device->id, device->name);
    tdc_device_run_note(&run->base, who, text, name);
}

/* What a failed call means for the device. */
static void note(struct gpu_run *run, struct card *card, struct tdc_call_failure failure,
                 const char *name)
{
    char text[400];
    tdc_gpu_describe(card->device.family, failure, text, sizeof text);
    note_text(run, card, text, name);
    enum tdc_remedy remedy = card->device.family->remedy_of(failure.code);
    if (atomic_fetch_add(&card->refusals, 1) + 1 >= MOST_REFUSALS ||
        (remedy != TDC_REMEDY_CHUNK_ON_CPU && remedy != TDC_REMEDY_LESS_MEMORY))
        atomic_store(&card->device.lost, true);
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Opens one more; called with the lock held. Where the first cannot be had there is none. */
static struct place *open_place(struct gpu_run *run, struct card *card)
{
    struct place *place = &card->places[card->opened];
    struct tdc_call_failure failure =
        tdc_gpu_slot_open(&place->slot, &card->device, run->base.timed);
    if (failure.code == 0) {
        card->opened++;
        return place;
    }
    tdc_gpu_slot_close(&place->slot);
    /* one slot works too, only slower */
    card->most = card->opened;
    if (card->opened == 0 || card->device.family->remedy_of(failure.code) != TDC_REMEDY_LESS_MEMORY)
        note(run, card, failure, NULL);
    return NULL;
}

/* *busy when there are slots, but others have them. */
static struct place *take_place(struct gpu_run *run, struct card *card, bool *busy)
{
    pthread_mutex_lock(&card->lock);
    struct place *place = card->free;
    if (place != NULL)
        card->free = place->next;
    else if (card->opened < card->most)
        place = open_place(run, card);
    *busy = place == NULL && card->opened != 0;
    pthread_mutex_unlock(&card->lock);
    return place;
}

static void give_place(struct card *card, struct place *place)
{
    pthread_mutex_lock(&card->lock);
    place->next = card->free;
    card->free = place;
    pthread_cond_signal(&card->freed);
    pthread_mutex_unlock(&card->lock);
}

/* Others have all slots: theirs come back, as every worker takes what it has under way. */
static void wait_for_place(struct card *card)
{
    pthread_mutex_lock(&card->lock);
    while (card->free == NULL && card->opened != 0 && card->opened >= card->most &&
           !atomic_load(&card->device.lost))
        pthread_cond_wait(&card->freed, &card->lock);
    pthread_mutex_unlock(&card->lock);
}

/* ---- workers --------------------------------------------------------------------------------- */

static tdc_status open_worker(void *context, void **state, struct tdc_error *error)
{
    struct gpu_run *run = context;
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a thread");
    worker->run = run;
    worker->card = &run->cards[atomic_fetch_add(&run->next, 1) % run->count];
    *state = worker;
    struct tdc_gpu_device *device = &worker->card->device;
    struct tdc_call_failure failure = device->family->bind(device, &worker->before);
    worker->bound = failure.code == 0;
    if (!worker->bound)
        note(run, worker->card, failure, NULL);
    return TDC_OK;
}

static void close_worker(void *state)
{
    struct worker *worker = state;
    if (worker == NULL)
        return;
    if (worker->bound)
        worker->card->device.family->unbind(&worker->card->device, worker->before);
    tdc_device_run_add(&worker->run->base, &worker->figures);
    free(worker);
}

/* ---- submit ---------------------------------------------------------------------------------- */

static enum tdc_submit_result on_cpu(struct tdc_backend_chunk *chunk, uint64_t *counter)
{
    ++*counter;
    return tdc_chunk_run(chunk) ? TDC_SUBMIT_COMPUTED : TDC_SUBMIT_VANISHED;
}

struct staging {
    const struct tdc_backend_chunk *chunk;
    unsigned char *to;
};

static void stage(void *argument)
{
    const struct staging *staging = argument;
    const struct tdc_backend_chunk *chunk = staging->chunk;
    const struct tdc_pair_plan *plan = chunk->plan;
    memcpy(staging->to, chunk->n, chunk->count * tdc_dtype_size(plan->n_dtype));
    memcpy(staging->to + tdc_gpu_b_at(plan, chunk->count), chunk->b,
           chunk->count * tdc_dtype_size(plan->b_dtype));
}

/* Whether the device's answer for such pairs can be trusted. */
static bool is_proven(struct worker *worker, struct place *place,
                      const struct tdc_backend_chunk *chunk)
{
    struct tdc_error error = {0};
    bool proven = tdc_gpu_proven(&place->slot, chunk->plan, &error);
    if (error.status != TDC_OK)
        note_text(worker->run, worker->card, error.message, chunk->name);
    return proven;
}

static void append(struct worker *worker, struct tdc_backend_chunk *chunk)
{
    chunk->next = NULL;
    *(worker->oldest == NULL ? &worker->oldest : &worker->newest->next) = chunk;
    worker->newest = chunk;
}

static enum tdc_submit_result submit(void *state, struct tdc_backend_chunk *chunk)
{
    struct worker *worker = state;
    struct card *card = worker->card;
    if (chunk->count < worker->run->base.least)
        return on_cpu(chunk, &worker->figures.cpu_chunks);
    bool busy = false;
    struct place *place = NULL;
    if (worker->bound && !atomic_load(&card->device.lost))
        place = take_place(worker->run, card, &busy);
    if (busy)
        return TDC_SUBMIT_NO_ROOM;
    if (place != NULL && !is_proven(worker, place, chunk)) {
        give_place(card, place);
        place = NULL;
    }
    if (place == NULL)
        return on_cpu(chunk, &worker->figures.fallbacks);
    struct staging staging = {chunk, place->slot.staging};
    double start = worker->run->base.timed ? tdc_seconds() : 0;
    if (!tdc_guarded_read(stage, &staging)) {
        give_place(card, place);
        return TDC_SUBMIT_VANISHED;
    }
    if (worker->run->base.timed)
        worker->figures.staging += tdc_seconds() - start;
    place->failure = tdc_gpu_slot_launch(&place->slot, chunk->plan, chunk->count);
    chunk->place = place;
    append(worker, chunk);
    return TDC_SUBMIT_TAKEN;
}

/* ---- take ------------------------------------------------------------------------------------ */

static void take_times(struct worker *worker, struct tdc_gpu_slot *slot)
{
    double *into[] = {&worker->figures.h2d, &worker->figures.kernel, &worker->figures.d2h};
    for (unsigned i = 0; i < 3; i++) {
        double seconds = slot->device->family->time(slot, i, i + 1);
        if (seconds > 0)
            *into[i] += seconds;
    }
}

/* The CPU does it from the staging: the mapping may have vanished since, the copy has not. */
static void redo(const struct tdc_gpu_slot *slot, struct tdc_backend_chunk *chunk)
{
    tdc_pair_run(chunk->plan, slot->staging,
                 slot->staging + tdc_gpu_b_at(chunk->plan, chunk->count), chunk->count,
                 chunk->sums);
}

static void finish(struct worker *worker, struct place *place, struct tdc_backend_chunk *chunk,
                   struct tdc_call_failure waited)
{
    struct tdc_gpu_slot *slot = &place->slot;
    struct tdc_device_figures *figures = &worker->figures;
    struct tdc_call_failure failure = place->failure.code != 0 ? place->failure : waited;
    if (failure.code != 0) {
        note(worker->run, worker->card, failure, chunk->name);
        figures->fallbacks++;
        redo(slot, chunk);
        return;
    }
    if (slot->timed)
        take_times(worker, slot);
    figures->device_chunks++;
    figures->bytes += chunk->count *
                      (tdc_dtype_size(chunk->plan->n_dtype) + tdc_dtype_size(chunk->plan->b_dtype));
    figures->returned += TDC_GPU_CHUNK_BYTES;
    chunk->how = TDC_CHUNK_BY_DEVICE;
    if (!tdc_gpu_chunk_join(&slot->pair, slot->words, chunk->count, chunk->sums)) {
        figures->rescued++;
        redo(slot, chunk);
    }
}

static struct tdc_backend_chunk *take(void *state, bool wait)
{
    struct worker *worker = state;
    struct card *card = worker->card;
    struct tdc_backend_chunk *chunk = worker->oldest;
    if (chunk == NULL) {
        if (wait)
            wait_for_place(card);
        return NULL;
    }
    struct place *place = chunk->place;
    struct tdc_gpu_slot *slot = &place->slot;
    struct tdc_call_failure failure = {NULL, 0};
    if (wait) {
        failure = tdc_gpu_slot_wait(slot);
    } else {
        bool done = false;
        failure = card->device.family->poll(slot, &done);
        slot->pending = !done;
        if (!done && failure.code == 0)
            return NULL;
    }
    worker->oldest = chunk->next;
    finish(worker, place, chunk, failure);
    if (slot->pending) {
        /* it may still be read and written: neither the slot nor the device is of use any more */
        atomic_store(&card->device.lost, true);
        pthread_mutex_lock(&card->lock);
        pthread_cond_broadcast(&card->freed);
        pthread_mutex_unlock(&card->lock);
    } else {
        give_place(card, place);
    }
    return chunk;
}

static const struct tdc_backend backend_gpu = {
    .name = "gpu",
    .open = open_worker,
    .submit = submit,
    .take = take,
    .close = close_worker,
};

/* ---- the run --------------------------------------------------------------------------------- */

static void close_card(struct card *card)
{
    struct tdc_gpu_device *device = &card->device;
    void *before = NULL;
    bool bound = device->family->bind(device, &before).code == 0;
    bool abandoned = !bound; /* of a context that cannot be entered nothing can be given back */
    for (unsigned i = 0; bound && i < card->opened; i++)
        abandoned |= !tdc_gpu_slot_close(&card->places[i].slot);
    if (bound)
        device->family->unbind(device, before);
    /* ending a device waits for what it does, which may be for ever */
    if (!abandoned)
        tdc_gpu_device_close(device);
    pthread_cond_destroy(&card->freed);
    pthread_mutex_destroy(&card->lock);
}

static void close_run(struct tdc_device_run *base)
{
    struct gpu_run *run = (struct gpu_run *)base;
    for (unsigned i = run->count; i-- != 0;)
        close_card(&run->cards[i]);
    tdc_device_run_end(base);
    free(run);
}

/* The most usual kernel is tested at once: a device that cannot do that one is none. */
static tdc_status test_card(struct gpu_run *run, struct card *card, enum tdc_relative_rule rule,
                            struct tdc_error *error)
{
    struct tdc_pair_plan plan;
    void *before = NULL;
    struct tdc_call_failure failure = card->device.family->bind(&card->device, &before);
    if (failure.code != 0) {
        char text[400];
        tdc_gpu_describe(card->device.family, failure, text, sizeof text);
        return tdc_fail(error, TDC_ERR_DEVICE, "%s: %s", card->device.name, text);
    }
    bool busy;
    struct place *place = take_place(run, card, &busy);
    tdc_status status = TDC_ERR_DEVICE;
    if (place == NULL) {
        tdc_fail(error, TDC_ERR_DEVICE, "%s", tdc_device_run_trouble(&run->base));
    } else {
        tdc_pair_plan_make(TDC_F32, TDC_F32, rule, tdc_cpu_variant_chosen(), &plan);
        status = tdc_gpu_proven(&place->slot, &plan, error) ? TDC_OK : TDC_ERR_DEVICE;
        give_place(card, place);
    }
    card->device.family->unbind(&card->device, before);
    return status;
}

static tdc_status open_card(struct gpu_run *run, const struct tdc_gpu_family *family, unsigned id,
                            enum tdc_relative_rule rule, struct tdc_error *error)
{
    struct card *card = &run->cards[run->count];
    tdc_status status = tdc_gpu_device_open(family, id, &card->device, error);
    if (status != TDC_OK)
        return status;
    pthread_mutex_init(&card->lock, NULL);
    pthread_cond_init(&card->freed, NULL);
    card->most = SLOTS;
    run->count++;
    return test_card(run, card, rule, error);
}

tdc_status tdc_gpu_run_open(const struct tdc_gpu_family *family, const int32_t *ids, unsigned count,
                            enum tdc_relative_rule rule, bool no_fallback, bool timed,
                            struct tdc_device_run **made, struct tdc_error *error)
{
    *made = NULL;
    if (count == 0 || count > TDC_DEVICE_MOST)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%u devices are not supported", count);
    struct gpu_run *run = calloc(1, sizeof *run + count * sizeof *run->cards);
    if (run == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the devices");
    tdc_device_run_init(&run->base, &backend_gpu, 1, no_fallback, timed);
    run->base.close = close_run;
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < count && status == TDC_OK; i++)
        status = open_card(run, family, (unsigned)ids[i], rule, error);
    if (status == TDC_OK) {
        *made = &run->base;
        snprintf(run->base.name, sizeof run->base.name, "%s", run->cards[0].device.name);
    } else {
        close_run(&run->base);
    }
    return status;
}
