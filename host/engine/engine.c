/* engine.c - all threads over all jobs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/engine.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/base/team.h"

/* Jobs of at least so many bytes start before all others, largest first. */
#define LARGE_JOB ((uint64_t)64 << 20)
/* Spans whose pages are given up together: each time all processors must be told, so that doing it
 * span by span cost a tenth of the speed. */
#define RELEASE_SPANS ((uint64_t)2)
/* Jobs of less are taken several at a time. */
#define SMALL_JOB  ((uint64_t)1 << 20)
#define MOST_BATCH 32

/* A pair of several spans, open to every thread. */
struct shared_pair {
    struct shared_pair *next; /* in the list of the run; under its lock */
    const struct tdc_job *job;
    struct tdc_open_pair pair;
    struct tdc_outcome outcome;
    struct tdc_pair_sums *partials; /* by chunk */
    uint64_t claimed, finished;     /* spans; under the lock of the run */
    uint64_t first, end;            /* spans to be done: all, or those of a piece */
    enum tdc_chunk_result worst;    /* under the lock of the run */
    unsigned how;                   /* bits of backend.h; under the lock of the run */
};

struct run {
    const struct tdc_engine *engine;
    struct tdc_job *jobs;
    size_t count, threads;
    pthread_mutex_t lock;
    size_t next; /* job */
    /* Pairs with spans to claim, oldest first. However the sizes of jobs lie there are no more than
     * threads: who shared a pair opens the next when nothing is left to claim. */
    struct shared_pair *shared, **shared_end;
    size_t opening; /* threads at work on jobs, who may yet share a pair */
    pthread_cond_t shared_more;
    uint64_t links; /* tensor files that are symbolic links */
};

static bool cancelled(const struct tdc_engine *engine)
{
    const struct tdc_backend *backend = engine->backend;
    return tdc_cancel_is_set(engine->options->cancel) ||
           (backend->failed != NULL && backend->failed(backend->context));
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

/* The last step of a pair, by the thread that finished its last span. */
static void deliver(struct run *run, const struct tdc_job *job, struct tdc_open_pair *pair,
                    struct tdc_outcome *outcome, enum tdc_chunk_result worst)
{
    const struct tdc_engine *engine = run->engine;
    if (worst == TDC_CHUNK_DONE &&
        (!tdc_pair_count_beyond(pair, &engine->options->tolerance, outcome) ||
         !tdc_pair_finish(pair, outcome)))
        worst = TDC_CHUNK_VANISHED;
    explain(outcome, job, worst);
    tdc_pair_close(pair);
    engine->done(engine->context, job, outcome);
    if (outcome->links != 0) {
        pthread_mutex_lock(&run->lock);
        run->links += outcome->links;
        pthread_mutex_unlock(&run->lock);
    }
}

/* ---- large pairs ----------------------------------------------------------------------------- */

/* A piece is told by its sums; one that could not be read, as any pair. */
static void deliver_piece(struct run *run, struct shared_pair *shared)
{
    const struct tdc_engine *engine = run->engine;
    const struct tdc_open_pair *pair = &shared->pair;
    uint64_t first = shared->first * pair->span_chunks, end = shared->end * pair->span_chunks;
    if (end > pair->chunks)
        end = pair->chunks;
    if (shared->worst != TDC_CHUNK_DONE) {
        deliver(run, shared->job, &shared->pair, &shared->outcome, shared->worst);
        return;
    }
    engine->piece_done(engine->context, shared->job, shared->partials, first, end - first,
                       pair->chunks);
    tdc_pair_close(&shared->pair);
}

static void deliver_shared(struct run *run, struct shared_pair *shared, struct tdc_worker *worker)
{
    if (shared->job->piece != NULL) {
        deliver_piece(run, shared);
        report(run->engine, 1, 0);
        free(shared->partials);
        free(shared);
        return;
    }
    if (shared->worst == TDC_CHUNK_DONE)
        shared->worst = tdc_pair_settle(&shared->pair, worker, shared->partials, shared->how);
    for (uint64_t i = 0; i < shared->pair.chunks && shared->worst == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&shared->outcome.sums, &shared->partials[i]);
    deliver(run, shared->job, &shared->pair, &shared->outcome, shared->worst);
    report(run->engine, 1, 0);
    free(shared->partials);
    free(shared);
}

/* Takes a span of an open pair, if there is one; pairs without unclaimed spans leave the list. */
static struct shared_pair *claim_span(struct run *run, uint64_t *span)
{
    struct shared_pair *shared = run->shared;
    if (shared == NULL)
        return NULL;
    *span = shared->claimed++;
    if (shared->claimed == shared->end) {
        run->shared = shared->next;
        if (run->shared == NULL)
            run->shared_end = &run->shared;
    }
    return shared;
}

/*
 * Gives up a group of spans once those after it are being finished, far enough behind that no
 * thread is likely to be at work there. What is mapped at a time stays at some spans a thread.
 */
static void release_behind(const struct run *run, const struct shared_pair *shared, uint64_t span)
{
    uint64_t groups_at_work = (run->threads + RELEASE_SPANS - 1) / RELEASE_SPANS;
    uint64_t group = span / RELEASE_SPANS;
    if (span % RELEASE_SPANS == RELEASE_SPANS - 1 && group >= groups_at_work)
        tdc_pair_release(&shared->pair, (group - groups_at_work) * RELEASE_SPANS, RELEASE_SPANS);
}

static void work_on_span(struct run *run, struct shared_pair *shared, uint64_t span,
                         struct tdc_worker *worker)
{
    struct tdc_pair_sums *partials =
        shared->partials + (span - shared->first) * shared->pair.span_chunks;
    unsigned how = 0;
    enum tdc_chunk_result result = tdc_pair_span(&shared->pair, span, worker, partials, &how);
    release_behind(run, shared, span);
    report(run->engine, 0, tdc_pair_span_bytes(&shared->pair, span));
    pthread_mutex_lock(&run->lock);
    if (result > shared->worst)
        shared->worst = result;
    shared->how |= how;
    bool last = ++shared->finished == shared->end - shared->first;
    pthread_mutex_unlock(&run->lock);
    if (last)
        deliver_shared(run, shared, worker);
}

/* The first span of a piece; that of the next one is its end. */
static uint64_t piece_start(const struct tdc_open_pair *pair, uint64_t number, uint64_t of)
{
    return (uint64_t)((__uint128_t)pair->spans * number / of);
}

/* False when out of memory. */
static bool share(struct run *run, const struct tdc_job *job, const struct tdc_open_pair *pair,
                  const struct tdc_outcome *outcome)
{
    const struct tdc_job_piece *piece = job->piece;
    uint64_t first = piece != NULL ? piece_start(pair, piece->number, piece->of) : 0;
    uint64_t end =
        piece != NULL ? piece_start(pair, (uint64_t)piece->number + 1, piece->of) : pair->spans;
    struct shared_pair *shared = malloc(sizeof *shared);
    struct tdc_pair_sums *partials =
        calloc((end - first + 1) * pair->span_chunks, sizeof *partials);
    if (shared == NULL || partials == NULL) {
        free(shared);
        free(partials);
        return false;
    }
    *shared = (struct shared_pair){.job = job,
                                   .pair = *pair,
                                   .outcome = *outcome,
                                   .partials = partials,
                                   .claimed = first,
                                   .first = first,
                                   .end = end};
    tdc_pair_moved(&shared->pair);
    if (first == end) { /* more pieces than spans */
        deliver_shared(run, shared, NULL);
        return true;
    }
    pthread_mutex_lock(&run->lock);
    *run->shared_end = shared;
    run->shared_end = &shared->next;
    pthread_cond_broadcast(&run->shared_more);
    pthread_mutex_unlock(&run->lock);
    return true;
}

/* All spans that are left to claim, of whichever pair. */
static void work_on_shared(struct run *run, struct tdc_worker *worker)
{
    for (;;) {
        uint64_t span;
        pthread_mutex_lock(&run->lock);
        struct shared_pair *shared = claim_span(run, &span);
        pthread_mutex_unlock(&run->lock);
        if (shared == NULL)
            return;
        work_on_span(run, shared, span, worker);
    }
}

/* ---- small pairs ----------------------------------------------------------------------------- */

/* Series grow in the order of the elements: such a pair is one thread's alone. */
static void work_in_order(struct run *run, const struct tdc_job *job, struct tdc_open_pair *pair,
                          struct tdc_worker *worker, struct tdc_outcome *outcome)
{
    struct tdc_pair_sums *partials = calloc(pair->chunks, sizeof *partials);
    enum tdc_chunk_result result = partials != NULL ? TDC_CHUNK_DONE : TDC_CHUNK_NO_MEMORY;
    unsigned how = 0;
    for (uint64_t span = 0; span < pair->spans && result == TDC_CHUNK_DONE; span++) {
        result = tdc_pair_span(pair, span, worker, partials + span * pair->span_chunks, &how);
        tdc_pair_release(pair, span, 1);
        report(run->engine, 0, tdc_pair_span_bytes(pair, span));
    }
    if (result == TDC_CHUNK_DONE)
        result = tdc_pair_settle(pair, worker, partials, how);
    for (uint64_t i = 0; i < pair->chunks && result == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&outcome->sums, &partials[i]);
    free(partials);
    deliver(run, job, pair, outcome, result);
    report(run->engine, 1, 0);
}

/* From the sums that all its pieces have given. */
static void finish_known(struct run *run, const struct tdc_job *job, struct tdc_open_pair *pair,
                         struct tdc_outcome *outcome)
{
    const struct tdc_job_piece *piece = job->piece;
    enum tdc_chunk_result result =
        piece->known_count == pair->chunks ? TDC_CHUNK_DONE : TDC_CHUNK_VANISHED;
    for (uint64_t i = 0; i < pair->chunks && result == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&outcome->sums, &piece->known[i]);
    deliver(run, job, pair, outcome, result);
    report(run->engine, 1, outcome->bytes);
}

static void work_on_job(struct run *run, const struct tdc_job *job, struct tdc_worker *worker,
                        struct tdc_outcome *outcome)
{
    const struct tdc_engine *engine = run->engine;
    struct tdc_open_pair pair;
    if (!tdc_pair_open(worker, job, engine->rule, engine->io, &pair, outcome)) {
        engine->done(engine->context, job, outcome);
        report(engine, 1, outcome->bytes);
        return;
    }
    if (pair.spans > 1 && pair.series != NULL) {
        work_in_order(run, job, &pair, worker, outcome);
        return;
    }
    if (job->piece != NULL && job->piece->known != NULL) {
        finish_known(run, job, &pair, outcome);
        return;
    }
    bool several = pair.spans > 1 || job->piece != NULL;
    if (several && share(run, job, &pair, outcome)) {
        work_on_shared(run, worker);
        return;
    }
    if (several) {
        deliver(run, job, &pair, outcome, TDC_CHUNK_NO_MEMORY);
        report(engine, 1, outcome->bytes);
        return;
    }
    struct tdc_pair_sums partials[TDC_SPAN_BYTES / TDC_PAIR_CHUNK];
    unsigned how = 0;
    enum tdc_chunk_result result = tdc_pair_span(&pair, 0, worker, partials, &how);
    if (result == TDC_CHUNK_DONE)
        result = tdc_pair_settle(&pair, worker, partials, how);
    for (uint64_t i = 0; i < pair.chunks && result == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&outcome->sums, &partials[i]);
    deliver(run, job, &pair, outcome, result);
    report(engine, 1, outcome->bytes);
}

/*
 * The next jobs for one thread: a single large one, or a batch of small ones, so that taking a job
 * does not become the work. A batch is no larger than a fair share of what is left.
 */
static size_t claim_jobs(struct run *run, size_t *first)
{
    *first = run->next;
    size_t left = run->count - run->next;
    if (left == 0 || cancelled(run->engine))
        return 0;
    size_t most = left / (run->threads * 4) + 1, count = 0;
    if (most > MOST_BATCH)
        most = MOST_BATCH;
    while (count < most && run->jobs[run->next + count].bytes < SMALL_JOB)
        count++;
    count += count == 0;
    run->next += count;
    return count;
}

static void work_on_batch(struct run *run, size_t first, size_t count, struct tdc_worker *worker,
                          struct tdc_outcome *outcome)
{
    if (worker->cold && count > 1)
        tdc_prefetch(worker, run->jobs + first, count);
    worker->cold = false;
    for (size_t i = 0; i < count && !cancelled(run->engine); i++)
        work_on_job(run, &run->jobs[first + i], worker, outcome);
}

/* What a thread does next: a span of a shared pair, or jobs, or nothing any more. */
struct claim {
    struct shared_pair *shared;
    uint64_t span;
    size_t first, count;
};

/* Waits while others may still share a pair: the last large tensor is for all threads. */
static struct claim claim_work(struct run *run)
{
    struct claim claim = {0};
    pthread_mutex_lock(&run->lock);
    for (;;) {
        claim.shared = claim_span(run, &claim.span);
        if (claim.shared == NULL)
            claim.count = claim_jobs(run, &claim.first);
        if (claim.shared != NULL || claim.count != 0 || run->opening == 0)
            break;
        pthread_cond_wait(&run->shared_more, &run->lock);
    }
    run->opening += claim.count != 0;
    pthread_mutex_unlock(&run->lock);
    return claim;
}

static void work_until_done(struct run *run, struct tdc_worker *worker, struct tdc_outcome *outcome)
{
    for (;;) {
        struct claim claim = claim_work(run);
        if (claim.shared != NULL) {
            work_on_span(run, claim.shared, claim.span, worker);
        } else if (claim.count != 0) {
            work_on_batch(run, claim.first, claim.count, worker, outcome);
            pthread_mutex_lock(&run->lock);
            if (--run->opening == 0)
                pthread_cond_broadcast(&run->shared_more);
            pthread_mutex_unlock(&run->lock);
        } else {
            break;
        }
    }
}

static void work(void *argument, int member)
{
    (void)member;
    struct run *run = argument;
    struct tdc_worker worker;
    struct tdc_outcome *outcome = calloc(1, sizeof *outcome);
    /* a thread without memory leaves the work to the others; with none left the run says so */
    bool ready = tdc_worker_init(&worker, run->engine->backend, NULL) == TDC_OK;
    worker.extremes = run->engine->extremes;
    if (ready && outcome != NULL)
        work_until_done(run, &worker, outcome);
    tdc_worker_free(&worker);
    free(outcome);
}

/* ---- all ------------------------------------------------------------------------------------- */

void tdc_engine_tell_links(const struct tdc_options *options, uint64_t links)
{
    if (links == 0 || options->message == NULL)
        return;
    char text[128];
    snprintf(text, sizeof text, "%llu tensor files are symbolic links; they were followed",
             (unsigned long long)links);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

/*
 * Large jobs first, so that no thread is left with a huge pair at the end; all others in the order
 * of their rows, so that a writer can follow.
 */
static int by_size_and_order(const void *left, const void *right)
{
    const struct tdc_job *a = left, *b = right;
    uint64_t a_size = a->bytes >= LARGE_JOB ? a->bytes : 0;
    uint64_t b_size = b->bytes >= LARGE_JOB ? b->bytes : 0;
    if (a_size != b_size)
        return a_size < b_size ? 1 : -1;
    return (a->order > b->order) - (a->order < b->order);
}

tdc_status tdc_engine_run(const struct tdc_engine *engine, struct tdc_job *jobs, size_t count,
                          struct tdc_error *error)
{
    qsort(jobs, count, sizeof *jobs, by_size_and_order);
    int threads = tdc_team_size(engine->threads);
    struct run run = {.engine = engine, .jobs = jobs, .count = count, .threads = (size_t)threads};
    run.shared_end = &run.shared;
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.shared_more, NULL);
    if (count != 0)
        tdc_team_say(engine->options->message, engine->options->context, threads,
                     tdc_team_run(threads, work, &run));
    pthread_mutex_destroy(&run.lock);
    pthread_cond_destroy(&run.shared_more);
    tdc_guard_end();
    tdc_engine_tell_links(engine->options, run.links);
    if (cancelled(engine))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    if (run.next < count)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %d threads", threads);
    return TDC_OK;
}
