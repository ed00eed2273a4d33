/* engine.c - all threads over all jobs. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/engine.h"
#include "io/error.h"
#include "io/mapping_guard.h"

/* A pair of several chunks, open to every thread. */
struct shared_pair {
    const struct tdc_job *job;
    struct tdc_open_pair pair;
    struct tdc_outcome outcome;
    struct tdc_pair_sums *partials; /* by chunk */
    uint64_t claimed, finished;     /* chunks; under the lock of the run */
    enum tdc_chunk_result worst;    /* under the lock of the run */
};

struct run {
    const struct tdc_engine *engine;
    struct tdc_job *jobs;
    size_t count;
    pthread_mutex_t lock;
    size_t next;                 /* job */
    struct shared_pair **shared; /* with chunks to claim; at most one per thread */
    size_t shared_count;
    uint64_t links; /* tensor files that are symbolic links */
};

static bool cancelled(const struct tdc_engine *engine)
{
    return engine->options->cancel != NULL && *engine->options->cancel != 0;
}

static void report(const struct tdc_engine *engine, uint64_t rows, uint64_t bytes)
{
    if (engine->options->progress != NULL)
        engine->options->progress(engine->options->context, rows, bytes);
}

static void explain(struct tdc_outcome *outcome, const struct tdc_job *job,
                    enum tdc_chunk_result worst)
{
    if (worst == TDC_CHUNK_NOT_NUMBERS) {
        outcome->code = TDC_OUTCOME_NOT_NUMBERS;
    } else if (worst == TDC_CHUNK_VANISHED) {
        outcome->code = TDC_OUTCOME_UNREADABLE;
        tdc_fail(&outcome->error, TDC_ERR_CHANGED, "%s or %s: changed while being read",
                 job->n_file, job->b_file);
    } else if (worst == TDC_CHUNK_NO_MEMORY) {
        outcome->code = TDC_OUTCOME_UNREADABLE;
        tdc_fail(&outcome->error, TDC_ERR_MEMORY, "%s or %s: out of memory", job->n_file,
                 job->b_file);
    }
}

/* The last step of a pair, by the thread that finished its last chunk. */
static void deliver(struct run *run, const struct tdc_job *job, struct tdc_open_pair *pair,
                    struct tdc_outcome *outcome, enum tdc_chunk_result worst)
{
    const struct tdc_engine *engine = run->engine;
    explain(outcome, job, worst);
    if (outcome->code == TDC_OUTCOME_COMPARED)
        tdc_pair_finish(pair, outcome);
    tdc_pair_close(pair);
    engine->done(engine->context, job, outcome);
    report(engine, 1, 0);
    if (outcome->links != 0) {
        pthread_mutex_lock(&run->lock);
        run->links += outcome->links;
        pthread_mutex_unlock(&run->lock);
    }
}

static void deliver_shared(struct run *run, struct shared_pair *shared)
{
    for (uint64_t i = 0; i < shared->pair.chunks && shared->worst == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&shared->outcome.sums, &shared->partials[i]);
    deliver(run, shared->job, &shared->pair, &shared->outcome, shared->worst);
    free(shared->partials);
    free(shared);
}

static uint64_t chunk_bytes(const struct tdc_open_pair *pair, uint64_t chunk)
{
    uint64_t left = pair->n.count - chunk * TDC_PAIR_CHUNK;
    uint64_t count = left < TDC_PAIR_CHUNK ? left : TDC_PAIR_CHUNK;
    return count * (tdc_dtype_size(tdc_gathered_dtype(&pair->n)) +
                    tdc_dtype_size(tdc_gathered_dtype(&pair->b)));
}

/* Takes a chunk of an open pair, if there is one; pairs without unclaimed chunks leave the list. */
static struct shared_pair *claim_chunk(struct run *run, uint64_t *chunk)
{
    if (run->shared_count == 0)
        return NULL;
    struct shared_pair *shared = run->shared[0];
    *chunk = shared->claimed++;
    if (shared->claimed == shared->pair.chunks)
        run->shared[0] = run->shared[--run->shared_count];
    return shared;
}

static void work_on_chunk(struct run *run, struct shared_pair *shared, uint64_t chunk,
                          struct tdc_chunk_buffers *buffers)
{
    enum tdc_chunk_result result =
        tdc_pair_chunk(&shared->pair, chunk, buffers, &shared->partials[chunk]);
    report(run->engine, 0, chunk_bytes(&shared->pair, chunk));
    pthread_mutex_lock(&run->lock);
    if (result > shared->worst)
        shared->worst = result;
    bool last = ++shared->finished == shared->pair.chunks;
    pthread_mutex_unlock(&run->lock);
    if (last)
        deliver_shared(run, shared);
}

/* False when out of memory. */
static bool share(struct run *run, const struct tdc_job *job, const struct tdc_open_pair *pair,
                  const struct tdc_outcome *outcome)
{
    struct shared_pair *shared = calloc(1, sizeof *shared);
    struct tdc_pair_sums *partials = calloc(pair->chunks, sizeof *partials);
    if (shared == NULL || partials == NULL) {
        free(shared);
        free(partials);
        return false;
    }
    shared->job = job;
    shared->pair = *pair;
    shared->outcome = *outcome;
    shared->partials = partials;
    pthread_mutex_lock(&run->lock);
    run->shared[run->shared_count++] = shared;
    pthread_mutex_unlock(&run->lock);
    return true;
}

static void work_on_job(struct run *run, const struct tdc_job *job,
                        struct tdc_chunk_buffers *buffers)
{
    const struct tdc_engine *engine = run->engine;
    struct tdc_open_pair pair;
    struct tdc_outcome outcome;
    if (!tdc_pair_open(job, engine->rule, &pair, &outcome)) {
        engine->done(engine->context, job, &outcome);
        report(engine, 1, outcome.bytes);
        return;
    }
    if (pair.chunks > 1) {
        if (share(run, job, &pair, &outcome))
            return;
        outcome.code = TDC_OUTCOME_UNREADABLE;
        tdc_fail(&outcome.error, TDC_ERR_MEMORY, "%s: out of memory", job->n_file);
        deliver(run, job, &pair, &outcome, TDC_CHUNK_DONE);
        return;
    }
    struct tdc_pair_sums sums;
    enum tdc_chunk_result result = tdc_pair_chunk(&pair, 0, buffers, &sums);
    if (result == TDC_CHUNK_DONE)
        tdc_pair_merge(&outcome.sums, &sums);
    report(engine, 0, outcome.bytes);
    deliver(run, job, &pair, &outcome, result);
}

static void work(struct run *run)
{
    struct tdc_chunk_buffers buffers = {NULL, NULL};
    for (;;) {
        uint64_t chunk;
        const struct tdc_job *job = NULL;
        pthread_mutex_lock(&run->lock);
        struct shared_pair *shared = claim_chunk(run, &chunk);
        if (shared == NULL && run->next < run->count && !cancelled(run->engine))
            job = &run->jobs[run->next++];
        pthread_mutex_unlock(&run->lock);
        if (shared != NULL)
            work_on_chunk(run, shared, chunk, &buffers);
        else if (job != NULL)
            work_on_job(run, job, &buffers);
        else
            break;
    }
    free(buffers.n);
    free(buffers.b);
}

static void warn_of_links(const struct run *run)
{
    const struct tdc_options *options = run->engine->options;
    if (run->links == 0 || options->message == NULL)
        return;
    char text[128];
    snprintf(text, sizeof text, "%llu tensor files are symbolic links; they were followed",
             (unsigned long long)run->links);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

/* Largest first, so that no thread is left with a huge pair at the end; ties keep the row order. */
static int by_size(const void *left, const void *right)
{
    const struct tdc_job *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

tdc_status tdc_engine_run(const struct tdc_engine *engine, struct tdc_job *jobs, size_t count,
                          struct tdc_error *error)
{
    int threads = engine->threads > 0 ? engine->threads : omp_get_num_procs();
    struct run run = {.engine = engine, .jobs = jobs, .count = count};
    run.shared = calloc((size_t)threads, sizeof *run.shared);
    if (run.shared == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %d threads", threads);
    if (!tdc_guard_begin()) {
        free(run.shared);
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    }
    qsort(jobs, count, sizeof *jobs, by_size);
    pthread_mutex_init(&run.lock, NULL);
#pragma omp parallel num_threads(threads) default(none) shared(run)
    work(&run);
    pthread_mutex_destroy(&run.lock);
    tdc_guard_end();
    free(run.shared);
    warn_of_links(&run);
    if (cancelled(engine))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    return TDC_OK;
}
