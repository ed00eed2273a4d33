/* engine.c - all threads over all jobs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/engine.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/base/team.h"
#include "io/storage/fetched_map.h"
#include "io/storage/patience.h"

/* Jobs of at least so many bytes start before all others, largest first. */
#define LARGE_JOB ((uint64_t)64 << 20)
/* Spans whose pages are given up together: each time all processors must be told, so that doing it
 * span by span cost a tenth of the speed. */
#define RELEASE_SPANS ((uint64_t)2)
/* The same of tensors in parts: a call for each of them. */
#define RELEASE_PART_SPANS ((uint64_t)8)
/* Jobs of less are taken several at a time. */
#define SMALL_JOB  ((uint64_t)1 << 20)
#define MOST_BATCH 32

/* Small pairs of a thread that a device has: so many of them, and so many bytes, with their files.
 */
#define MOST_FLYING       256
#define MOST_FLYING_BYTES ((uint64_t)32 << 20)

/* A pair of several spans, open to every thread, or a small one that a device has. */
struct shared_pair {
    struct shared_pair *next; /* in the list of the run; under its lock */
    const struct tdc_job *job;
    struct tdc_open_pair pair;
    struct tdc_outcome outcome;
    struct tdc_pair_sums *partials;   /* by chunk */
    struct tdc_backend_chunk *chunks; /* likewise */
    struct small_files *files;        /* of a small pair, until it is done */
    bool by_cpu;                      /* the device has enough to do */
    uint64_t claimed;                 /* spans; under the lock of the run */
    uint64_t left;                    /* chunks that are not done; under the lock of the run */
    enum tdc_chunk_result worst;      /* under the lock of the run */
    unsigned how;                     /* bits of backend.h; under the lock of the run */
};

/* What small files were read into. */
struct small_files {
    struct tdc_tensor_scratch *n, *b;
    struct small_files *next;
};

/* A thread of the run. */
struct member {
    struct run *run;
    struct tdc_worker worker;
    struct tdc_outcome *outcome;
    struct small_files *spare;
    size_t flying; /* small pairs */
    uint64_t flying_bytes;
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
    size_t unfinished; /* shared pairs: their files are open */
    uint64_t links;    /* tensor files that are symbolic links */
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

void tdc_outcome_explain(struct tdc_outcome *outcome, const struct tdc_job *job,
                         enum tdc_chunk_result worst)
{
    struct tdc_error *error = &outcome->error;
    if (worst == TDC_CHUNK_DONE)
        return;
    outcome->code =
        worst == TDC_CHUNK_NOT_NUMBERS ? TDC_OUTCOME_NOT_NUMBERS : TDC_OUTCOME_UNREADABLE;
    if (worst == TDC_CHUNK_VANISHED)
        tdc_fail(error, TDC_ERR_CHANGED, "%s or %s: changed while being read", job->n_file,
                 job->b_file);
    else if (worst == TDC_CHUNK_NO_MEMORY)
        tdc_fail(error, TDC_ERR_MEMORY, "%s or %s: out of memory", job->n_file, job->b_file);
    else if (worst == TDC_CHUNK_NO_ANSWER)
        tdc_fail_errno(error, TDC_ERR_NO_ANSWER,
                       tdc_fetch_failure() == TDC_NOT_TRIED ? TDC_NOT_TRIED : TDC_NO_ANSWER,
                       "%s or %s", job->n_file, job->b_file);
}

/* The last step of a pair, by the thread that finished its last span. */
static void deliver(struct run *run, const struct tdc_job *job, struct tdc_open_pair *pair,
                    struct tdc_outcome *outcome, enum tdc_chunk_result worst)
{
    const struct tdc_engine *engine = run->engine;
    if (worst == TDC_CHUNK_DONE &&
        (!tdc_pair_count_beyond(pair, &engine->options->tolerance, outcome) ||
         !tdc_pair_finish(pair, outcome)))
        worst = tdc_chunk_lost();
    tdc_outcome_explain(outcome, job, worst);
    /* a map that stays open for other tensors would keep what was not given up on the way */
    if (pair->spans > 1 && (pair->n.borrowed || pair->b.borrowed || pair->n_assembled != NULL ||
                            pair->b_assembled != NULL))
        tdc_pair_release(pair, 0, pair->spans);
    tdc_pair_close(pair);
    engine->done(engine->context, job, outcome);
    if (outcome->links != 0) {
        pthread_mutex_lock(&run->lock);
        run->links += outcome->links;
        pthread_mutex_unlock(&run->lock);
    }
}

/* ---- large pairs ----------------------------------------------------------------------------- */

static void free_shared(struct shared_pair *shared)
{
    if (shared != NULL) {
        free(shared->partials);
        free(shared->chunks);
    }
    free(shared);
}

static void deliver_shared(struct member *member, struct shared_pair *shared)
{
    struct run *run = member->run;
    if (shared->worst == TDC_CHUNK_DONE)
        shared->worst =
            tdc_pair_settle(&shared->pair, &member->worker, shared->partials, shared->how);
    for (uint64_t i = 0; i < shared->pair.chunks && shared->worst == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&shared->outcome.sums, &shared->partials[i]);
    uint64_t bytes = shared->files != NULL ? shared->outcome.bytes : 0;
    deliver(run, shared->job, &shared->pair, &shared->outcome, shared->worst);
    report(run->engine, 1, bytes);
    if (shared->files == NULL) {
        pthread_mutex_lock(&run->lock);
        run->unfinished--;
        pthread_mutex_unlock(&run->lock);
    } else {
        shared->files->next = member->spare;
        member->spare = shared->files;
        member->flying--;
        member->flying_bytes -= bytes;
    }
    free_shared(shared);
}

/* Chunks of a pair are done; who does the last delivers it. */
static void settle_chunks(struct member *member, struct shared_pair *shared, uint64_t count,
                          unsigned how, enum tdc_chunk_result result)
{
    struct run *run = member->run;
    pthread_mutex_lock(&run->lock);
    if (result > shared->worst)
        shared->worst = result;
    shared->how |= how;
    shared->left -= count;
    bool last = shared->left == 0;
    pthread_mutex_unlock(&run->lock);
    if (last)
        deliver_shared(member, shared);
}

/* Looks at what a device has done. Not while a span is being read: delivering may use its buffers.
 */
static void look_at_returned(struct member *member)
{
    struct tdc_backend_chunk *chunk = member->worker.returned;
    member->worker.returned = NULL;
    while (chunk != NULL) {
        struct tdc_backend_chunk *next = chunk->next;
        settle_chunks(member, chunk->owner, 1, chunk->how, TDC_CHUNK_DONE);
        chunk = next;
    }
}

/* `wait`: for one at least, if any is under way. */
static void take_back(struct member *member, bool wait)
{
    wait = wait && member->worker.under_way != 0 && member->worker.returned == NULL;
    while (member->worker.under_way != 0 && tdc_worker_take(&member->worker, wait))
        wait = false;
    look_at_returned(member);
}

static void take_all_back(struct member *member)
{
    do
        take_back(member, true);
    while (member->worker.under_way != 0);
}

/* Takes a span of an open pair, if there is one; pairs without unclaimed spans leave the list. */
static struct shared_pair *claim_span(struct run *run, uint64_t *span)
{
    struct shared_pair *shared = run->shared;
    if (shared == NULL)
        return NULL;
    *span = shared->claimed++;
    if (shared->claimed == shared->pair.spans) {
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
    bool parts = shared->pair.n_assembled != NULL || shared->pair.b_assembled != NULL;
    uint64_t spans = parts ? RELEASE_PART_SPANS : RELEASE_SPANS;
    uint64_t groups_at_work = (run->threads + spans - 1) / spans, group = span / spans;
    if (span % spans == spans - 1 && group >= groups_at_work)
        tdc_pair_release(&shared->pair, (group - groups_at_work) * spans, spans);
}

static void work_on_span(struct member *member, struct shared_pair *shared, uint64_t span)
{
    struct run *run = member->run;
    const struct tdc_open_pair *pair = &shared->pair;
    uint64_t first = span * pair->span_chunks, left = pair->chunks - first;
    struct tdc_span_work work = {
        .chunks = shared->chunks + first,
        .partials = shared->partials + first,
        .owner = shared,
        .by_cpu = shared->by_cpu,
    };
    enum tdc_chunk_result result = tdc_pair_hand_over(pair, span, &member->worker, &work);
    if (pair->spans > 1) {
        release_behind(run, shared, span);
        report(run->engine, 0, tdc_pair_span_bytes(pair, span));
    }
    uint64_t count = left < pair->span_chunks ? left : pair->span_chunks;
    settle_chunks(member, shared, count - work.handed, work.how, result);
    take_back(member, false);
}

/* NULL when out of memory. */
static struct shared_pair *new_shared(const struct tdc_job *job, const struct tdc_open_pair *pair,
                                      const struct tdc_outcome *outcome)
{
    struct shared_pair *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return NULL;
    shared->partials = calloc(pair->chunks, sizeof *shared->partials);
    shared->chunks = calloc(pair->chunks, sizeof *shared->chunks);
    if (shared->partials == NULL || shared->chunks == NULL) {
        free_shared(shared);
        return NULL;
    }
    shared->job = job;
    shared->pair = *pair;
    shared->outcome = *outcome;
    shared->left = pair->chunks;
    tdc_pair_moved(&shared->pair);
    return shared;
}

/* False when out of memory. */
static bool share(struct run *run, const struct tdc_job *job, const struct tdc_open_pair *pair,
                  const struct tdc_outcome *outcome, bool by_cpu)
{
    struct shared_pair *shared = new_shared(job, pair, outcome);
    if (shared == NULL)
        return false;
    shared->by_cpu = by_cpu;
    pthread_mutex_lock(&run->lock);
    *run->shared_end = shared;
    run->shared_end = &shared->next;
    run->unfinished++;
    pthread_cond_broadcast(&run->shared_more);
    pthread_mutex_unlock(&run->lock);
    return true;
}

/* All spans that are left to claim, of whichever pair. */
static void work_on_shared(struct member *member)
{
    struct run *run = member->run;
    for (;;) {
        uint64_t span;
        pthread_mutex_lock(&run->lock);
        struct shared_pair *shared = claim_span(run, &span);
        pthread_mutex_unlock(&run->lock);
        if (shared == NULL)
            return;
        work_on_span(member, shared, span);
    }
}

/* Before the next one is opened: a device may have chunks of more pairs than there are threads. */
static void wait_for_few_open(struct member *member)
{
    struct run *run = member->run;
    for (;;) {
        pthread_mutex_lock(&run->lock);
        bool many = run->unfinished > run->threads;
        pthread_mutex_unlock(&run->lock);
        if (!many || member->worker.under_way == 0)
            return;
        take_back(member, true);
    }
}

/* ---- small pairs ----------------------------------------------------------------------------- */

/* Series grow in the order of the elements: such a pair is one thread's alone. */
static void work_in_order(struct member *member, const struct tdc_job *job,
                          struct tdc_open_pair *pair)
{
    struct run *run = member->run;
    struct tdc_pair_sums *partials = calloc(pair->chunks, sizeof *partials);
    enum tdc_chunk_result result = partials != NULL ? TDC_CHUNK_DONE : TDC_CHUNK_NO_MEMORY;
    unsigned how = 0;
    take_all_back(member);
    for (uint64_t span = 0; span < pair->spans && result == TDC_CHUNK_DONE; span++) {
        result =
            tdc_pair_span(pair, span, &member->worker, partials + span * pair->span_chunks, &how);
        tdc_pair_release(pair, span, 1);
        report(run->engine, 0, tdc_pair_span_bytes(pair, span));
    }
    if (result == TDC_CHUNK_DONE)
        result = tdc_pair_settle(pair, &member->worker, partials, how);
    for (uint64_t i = 0; i < pair->chunks && result == TDC_CHUNK_DONE; i++)
        tdc_pair_merge(&member->outcome->sums, &partials[i]);
    free(partials);
    deliver(run, job, pair, member->outcome, result);
    report(run->engine, 1, 0);
}

/* What the next small files are read into in place of what the worker has: *files gets that. */
static bool change_files(struct member *member, struct small_files **files)
{
    struct small_files *next = member->spare;
    if (next != NULL) {
        member->spare = next->next;
    } else {
        next = calloc(1, sizeof *next);
        if (next == NULL)
            return false;
        next->n = tdc_tensor_scratch_new();
        next->b = tdc_tensor_scratch_new();
        if (next->n == NULL || next->b == NULL) {
            tdc_tensor_scratch_free(next->n);
            tdc_tensor_scratch_free(next->b);
            free(next);
            return false;
        }
    }
    struct tdc_worker *worker = &member->worker;
    struct small_files had = {.n = worker->n_scratch, .b = worker->b_scratch};
    worker->n_scratch = next->n;
    worker->b_scratch = next->b;
    *next = had;
    *files = next;
    return true;
}

/* A small pair for a device: others follow before it is done. False when out of memory. */
static bool send_small(struct member *member, const struct tdc_job *job,
                       const struct tdc_open_pair *pair)
{
    struct shared_pair *shared = new_shared(job, pair, member->outcome);
    if (shared == NULL || !change_files(member, &shared->files)) {
        free_shared(shared);
        return false;
    }
    member->flying++;
    member->flying_bytes += shared->outcome.bytes;
    work_on_span(member, shared, 0);
    while (member->worker.under_way != 0 &&
           (member->flying >= MOST_FLYING || member->flying_bytes >= MOST_FLYING_BYTES))
        take_back(member, true);
    return true;
}

static void work_on_job(struct member *member, const struct tdc_job *job)
{
    struct run *run = member->run;
    struct tdc_worker *worker = &member->worker;
    struct tdc_outcome *outcome = member->outcome;
    const struct tdc_engine *engine = run->engine;
    const struct tdc_backend *backend = engine->backend;
    struct tdc_open_pair pair;
    if (!tdc_pair_open(worker, job, engine->rule, engine->io, &pair, outcome)) {
        engine->done(engine->context, job, outcome);
        report(engine, 1, outcome->bytes);
        return;
    }
    if (pair.spans > 1 && pair.series != NULL) {
        work_in_order(member, job, &pair);
        return;
    }
    bool by_cpu = backend == &tdc_backend_cpu ||
                  (backend->busy != NULL && backend->busy(worker->backend_state));
    if (pair.spans > 1 && share(run, job, &pair, outcome, by_cpu)) {
        work_on_shared(member);
        wait_for_few_open(member);
        return;
    }
    if (pair.spans > 1) {
        deliver(run, job, &pair, outcome, TDC_CHUNK_NO_MEMORY);
        report(engine, 1, outcome->bytes);
        return;
    }
    if (!by_cpu && send_small(member, job, &pair))
        return;
    struct tdc_pair_sums partials[TDC_SPAN_BYTES / TDC_PAIR_CHUNK];
    struct tdc_backend_chunk chunks[TDC_SPAN_BYTES / TDC_PAIR_CHUNK];
    struct tdc_span_work work = {.chunks = chunks, .partials = partials, .by_cpu = true};
    enum tdc_chunk_result result = tdc_pair_hand_over(&pair, 0, worker, &work);
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

static void work_on_batch(struct member *member, size_t first, size_t count)
{
    struct run *run = member->run;
    if (member->worker.cold && count > 1)
        tdc_prefetch(&member->worker, run->jobs + first, count);
    member->worker.cold = false;
    for (size_t i = 0; i < count && !cancelled(run->engine); i++) {
        tdc_expect_files(&member->worker, run->jobs + first, count, i, run->threads);
        work_on_job(member, &run->jobs[first + i]);
    }
    tdc_expect_no_more(&member->worker);
}

/* What a thread does next: a span of a shared pair, or jobs, or nothing any more. */
struct claim {
    struct shared_pair *shared;
    uint64_t span;
    size_t first, count;
};

/* Waits while others may still share a pair: the last large tensor is for all threads. */
static struct claim claim_work(struct member *member)
{
    struct run *run = member->run;
    struct claim claim = {0};
    pthread_mutex_lock(&run->lock);
    for (;;) {
        claim.shared = claim_span(run, &claim.span);
        if (claim.shared == NULL)
            claim.count = claim_jobs(run, &claim.first);
        if (claim.shared != NULL || claim.count != 0 || run->opening == 0)
            break;
        if (member->worker.under_way == 0) {
            pthread_cond_wait(&run->shared_more, &run->lock);
            continue;
        }
        pthread_mutex_unlock(&run->lock);
        take_back(member, true);
        pthread_mutex_lock(&run->lock);
    }
    run->opening += claim.count != 0;
    pthread_mutex_unlock(&run->lock);
    return claim;
}

static void work_until_done(struct member *member)
{
    struct run *run = member->run;
    for (;;) {
        struct claim claim = claim_work(member);
        if (claim.shared != NULL) {
            work_on_span(member, claim.shared, claim.span);
        } else if (claim.count != 0) {
            work_on_batch(member, claim.first, claim.count);
            pthread_mutex_lock(&run->lock);
            if (--run->opening == 0)
                pthread_cond_broadcast(&run->shared_more);
            pthread_mutex_unlock(&run->lock);
        } else {
            break;
        }
    }
    take_all_back(member);
}

static void work(void *argument, int number)
{
    (void)number;
    struct member member = {.run = argument, .outcome = calloc(1, sizeof *member.outcome)};
    const struct tdc_engine *engine = member.run->engine;
    /* a thread without memory leaves the work to the others; with none left the run says so */
    bool ready = tdc_worker_init(&member.worker, engine->backend, NULL) == TDC_OK;
    member.worker.extremes = engine->extremes;
    if (ready && member.outcome != NULL)
        work_until_done(&member);
    tdc_worker_free(&member.worker);
    while (member.spare != NULL) {
        struct small_files *next = member.spare->next;
        tdc_tensor_scratch_free(member.spare->n);
        tdc_tensor_scratch_free(member.spare->b);
        free(member.spare);
        member.spare = next;
    }
    free(member.outcome);
}

/* ---- all ------------------------------------------------------------------------------------- */

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
    warn_of_links(&run);
    if (cancelled(engine))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    if (run.next < count)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %d threads", threads);
    return TDC_OK;
}
