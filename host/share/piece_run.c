#include "host/share/piece_run.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "io/base/error.h"
#include "io/base/team.h"
#include "io/file/mapping_guard.h"

/* A pair that is open to all threads. */
struct opened {
    const struct tdc_engine *engine;
    const struct tdc_job *job;
    struct tdc_worker worker;
    struct tdc_open_pair pair;
    struct tdc_outcome outcome;
    bool open;

    uint64_t first, end; /* spans */
    struct tdc_pair_sums *sums;
    atomic_uint_fast64_t next;
    atomic_int worst;
};

static tdc_status open_pair(struct opened *opened, const struct tdc_engine *engine,
                            const struct tdc_job *job, struct tdc_error *error)
{
    opened->engine = engine;
    opened->job = job;
    tdc_status status = tdc_worker_init(&opened->worker, &tdc_backend_cpu, error);
    opened->worker.extremes = engine->extremes;
    if (status == TDC_OK)
        opened->open = tdc_pair_open(&opened->worker, job, engine->rule, engine->io, &opened->pair,
                                     &opened->outcome);
    return status;
}

static void close_pair(struct opened *opened)
{
    if (opened->open)
        tdc_pair_close(&opened->pair);
    tdc_worker_free(&opened->worker);
    free(opened);
}

static void hand_on(const struct opened *opened)
{
    const struct tdc_engine *engine = opened->engine;
    engine->done(engine->context, opened->job, &opened->outcome);
}

static void tell(const struct tdc_engine *engine, uint64_t rows, uint64_t bytes)
{
    if (engine->options->progress != NULL)
        engine->options->progress(engine->options->context, rows, bytes);
}

static void work_on_spans(struct opened *opened, struct tdc_worker *worker)
{
    const struct tdc_open_pair *pair = &opened->pair;
    for (uint64_t span; (span = atomic_fetch_add(&opened->next, 1)) < opened->end &&
                        !tdc_cancel_is_set(opened->engine->options->cancel);) {
        unsigned how = 0;
        struct tdc_pair_sums *sums = opened->sums + (span - opened->first) * pair->span_chunks;
        enum tdc_chunk_result result = tdc_pair_span(pair, span, worker, sums, &how);
        for (int worst = atomic_load(&opened->worst);
             (int)result > worst &&
             !atomic_compare_exchange_weak(&opened->worst, &worst, (int)result);)
            ;
        tell(opened->engine, 0, tdc_pair_span_bytes(pair, span));
    }
}

/* Whoever has memory works; the first thread has it. */
static void work(void *argument, int member)
{
    struct opened *opened = argument;
    struct tdc_worker own;
    if (member == 0) {
        work_on_spans(opened, &opened->worker);
        return;
    }
    if (tdc_worker_init(&own, &tdc_backend_cpu, NULL) == TDC_OK) {
        own.extremes = opened->engine->extremes;
        work_on_spans(opened, &own);
    }
    tdc_worker_free(&own);
}

static tdc_status find_sums(struct opened *opened, uint32_t number, uint32_t of,
                            struct tdc_piece_found *found, struct tdc_error *error)
{
    const struct tdc_open_pair *pair = &opened->pair;
    const struct tdc_engine *engine = opened->engine;
    opened->first = (uint64_t)((__uint128_t)pair->spans * number / of);
    opened->end = (uint64_t)((__uint128_t)pair->spans * ((uint64_t)number + 1) / of);
    opened->sums =
        calloc((opened->end - opened->first + 1) * pair->span_chunks, sizeof *opened->sums);
    if (opened->sums == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a piece of %s",
                        opened->job->n_file);
    atomic_store(&opened->next, opened->first);
    /* what lies in the memory of a thread is that of the first one, which stays */
    tdc_team_run(tdc_team_size(engine->threads), work, opened);
    if (tdc_cancel_is_set(engine->options->cancel)) {
        free(opened->sums);
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    }
    enum tdc_chunk_result worst = (enum tdc_chunk_result)atomic_load(&opened->worst);
    if (worst != TDC_CHUNK_DONE) {
        free(opened->sums);
        tdc_outcome_explain(&opened->outcome, opened->job, worst);
        hand_on(opened);
        found->settled = true;
        return TDC_OK;
    }
    uint64_t end = opened->end * pair->span_chunks;
    found->sums = opened->sums;
    found->chunks = pair->chunks;
    found->first = opened->first * pair->span_chunks;
    found->first = found->first < found->chunks ? found->first : found->chunks;
    found->count = (end < found->chunks ? end : found->chunks) - found->first;
    return TDC_OK;
}

/* NULL if it failed; close_pair and tdc_guard_end end what was begun. */
static struct opened *begin(struct tdc_error *error)
{
    struct opened *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        return NULL;
    }
    if (!tdc_guard_begin()) {
        tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
        free(opened);
        return NULL;
    }
    return opened;
}

tdc_status tdc_piece_find(const struct tdc_engine *engine, const struct tdc_job *job,
                          uint32_t number, uint32_t of, struct tdc_piece_found *found,
                          struct tdc_error *error)
{
    *found = (struct tdc_piece_found){0};
    struct opened *opened = begin(error);
    if (opened == NULL)
        return error->status;
    tdc_status status = open_pair(opened, engine, job, error);
    if (status == TDC_OK && opened->open) {
        status = find_sums(opened, number, of, found, error);
    } else if (status == TDC_OK) {
        hand_on(opened);
        found->settled = true;
    }
    close_pair(opened);
    tdc_guard_end();
    return status;
}

tdc_status tdc_piece_finish(const struct tdc_engine *engine, const struct tdc_job *job,
                            const struct tdc_pair_sums *sums, uint64_t count,
                            struct tdc_error *error)
{
    struct opened *opened = begin(error);
    if (opened == NULL)
        return error->status;
    tdc_status status = open_pair(opened, engine, job, error);
    bool whole = opened->open && count == opened->pair.chunks;
    for (uint64_t i = 0; whole && i < count; i++)
        tdc_pair_merge(&opened->outcome.sums, &sums[i]);
    if (status == TDC_OK && opened->open &&
        !(whole && tdc_pair_finish(&opened->pair, &opened->outcome)))
        tdc_outcome_explain(&opened->outcome, opened->job, TDC_CHUNK_VANISHED);
    if (status == TDC_OK) {
        hand_on(opened);
        tell(engine, 1, opened->outcome.bytes);
    }
    close_pair(opened);
    tdc_guard_end();
    return status;
}
