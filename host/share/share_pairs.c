#include "host/share/share_pairs.h"

#include <stdlib.h>

#include "host/engine/job_path.h"
#include "host/share/outcome_record.h"
#include "host/share/pair_keys.h"
#include "host/share/piece_run.h"
#include "host/share/pieces.h"
#include "host/share/share.h"
#include "io/base/error.h"
#include "io/base/team.h"

#define RECORD_LIMIT ((size_t)1 << 30)

/* ---- one run --------------------------------------------------------------------------------- */

struct pair_run {
    struct tdc_share *share;
    const struct tdc_engine *engine;
    struct tdc_pair_keys keys;
    /* by their order, until the engine sorts them because none is known */
    struct tdc_job *jobs;
    const struct tdc_pair_place *places; /* by order */
    size_t count;
    bool *settled; /* by order: handed on already */

    atomic_size_t next; /* of the threads that hand on what is known */
    atomic_uint_fast64_t links;
    pthread_mutex_t lock;
    size_t missing, changed;
    size_t first_missing, first_changed; /* by order */
    bool no_memory;
    size_t silent;            /* pairs without an answer from storage */
    struct tdc_error silence; /* of the first */
};

/* ---- what is found --------------------------------------------------------------------------- */

static void keep(struct pair_run *run, const struct tdc_job *job, enum tdc_part_kind kind,
                 const struct tdc_share_key *key, const struct tdc_text *content)
{
    struct tdc_part_record record = {.kind = kind,
                                     .key = *key,
                                     .content = (const unsigned char *)content->data,
                                     .size = content->length};
    tdc_pair_marks(run->share, job, record.marks);
    tdc_share_add(run->share, &record);
}

/* For want of memory, or of an answer. */
static void lose(struct pair_run *run, const struct tdc_error *silence)
{
    pthread_mutex_lock(&run->lock);
    run->no_memory |= silence == NULL;
    if (silence != NULL && run->silent++ == 0)
        run->silence = *silence;
    pthread_mutex_unlock(&run->lock);
}

static void count_done(struct pair_run *run, uint64_t jobs, uint64_t bytes)
{
    tdc_share_count(run->share, 0, 0, jobs, bytes);
}

static void note_outcome(struct pair_run *run, const struct tdc_job *job,
                         const struct tdc_outcome *outcome)
{
    struct tdc_text content;
    tdc_text_init(&content, RECORD_LIMIT);
    tdc_outcome_put(&content, job, outcome);
    if (!content.failed)
        keep(run, job, TDC_PART_OUTCOME, &run->keys.keys[job->order], &content);
    else
        lose(run, NULL);
    tdc_text_free(&content);
}

/* What lacks memory, or an answer, now may have it the next time: such an outcome is not kept. */
static void job_found(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    struct pair_run *run = context;
    bool whole = run->share->options.kind == TDC_SHARE_WHOLE;
    bool silent = outcome->error.status == TDC_ERR_NO_ANSWER;
    bool lost = outcome->error.status == TDC_ERR_MEMORY || silent;
    count_done(run, 1, outcome->bytes);
    if (lost && !whole)
        lose(run, silent ? &outcome->error : NULL);
    if (!lost && tdc_share_wants(run->share) &&
        tdc_pair_keys_find(&run->keys, run->jobs, run->count))
        note_outcome(run, job, outcome);
    if (whole)
        run->engine->done(run->engine->context, job, outcome);
}

/* Finds the sums of a piece and keeps them. A pair that cannot be read is settled: job_found. */
static tdc_status run_piece(struct pair_run *run, const struct tdc_job *job,
                            const struct tdc_piece *piece, struct tdc_error *error)
{
    struct tdc_piece_found found;
    struct tdc_engine engine = *run->engine;
    engine.done = job_found;
    engine.context = run;
    tdc_status status = tdc_piece_find(&engine, job, piece->number, piece->of, &found, error);
    if (status != TDC_OK || found.settled)
        return status;
    struct tdc_text content;
    tdc_text_init(&content, RECORD_LIMIT);
    tdc_piece_put(&content,
                  &(struct tdc_piece_sums){found.chunks, found.first, found.count, found.sums});
    struct tdc_share_key key =
        tdc_pair_piece_key(&run->keys.keys[job->order], piece->number, piece->of);
    if (!content.failed)
        keep(run, job, TDC_PART_PIECE, &key, &content);
    else
        lose(run, NULL);
    tdc_text_free(&content);
    free(found.sums);
    count_done(run, piece->number + 1 == piece->of, job->bytes / piece->of);
    return TDC_OK;
}

/* ---- what is known --------------------------------------------------------------------------- */

static bool is_fresh(struct pair_run *run, const struct tdc_job *job,
                     const struct tdc_part_record *record)
{
    struct tdc_file_mark marks[2];
    tdc_pair_marks(run->share, job, marks);
    return tdc_marks_equal(&marks[0], &record->marks[0]) &&
           tdc_marks_equal(&marks[1], &record->marks[1]);
}

/* Hands on the outcome of a job that is known; false when it is not, or no longer. */
static bool hand_on(struct pair_run *run, const struct tdc_job *job, struct tdc_outcome *outcome)
{
    const struct tdc_part_record *record =
        tdc_known_find(&run->share->known, TDC_PART_OUTCOME, &run->keys.keys[job->order]);
    if (record == NULL)
        return false;
    bool fresh = is_fresh(run, job, record);
    if (!fresh || !tdc_outcome_take(record->content, record->size, job, outcome)) {
        pthread_mutex_lock(&run->lock);
        if (run->changed++ == 0 || job->order < run->first_changed)
            run->first_changed = job->order;
        pthread_mutex_unlock(&run->lock);
        return false;
    }
    run->engine->done(run->engine->context, job, outcome);
    const struct tdc_options *options = run->engine->options;
    if (options->progress != NULL)
        options->progress(options->context, 1, outcome->bytes);
    atomic_fetch_add(&run->links, outcome->links);
    return true;
}

#define KNOWN_BLOCK ((size_t)64)

static void hand_on_known(void *argument, int member)
{
    (void)member;
    struct pair_run *run = argument;
    struct tdc_outcome *outcome = calloc(1, sizeof *outcome);
    if (outcome == NULL)
        return; /* others do it; with none left the jobs are done again */
    for (size_t i; (i = atomic_fetch_add(&run->next, KNOWN_BLOCK)) < run->count;)
        for (size_t end = run->count - i < KNOWN_BLOCK ? run->count : i + KNOWN_BLOCK; i < end; i++)
            run->settled[i] = hand_on(run, &run->jobs[i], outcome);
    free(outcome);
}

/* The sums of all pieces of a job that was cut, NULL when some are not known. */
static struct tdc_pair_sums *known_sums(struct pair_run *run, const struct tdc_job *job,
                                        uint32_t cuts, uint64_t *chunks)
{
    struct tdc_pair_sums *sums = NULL;
    uint64_t used = 0;
    for (uint32_t k = 0; k < cuts; k++) {
        struct tdc_share_key key = tdc_pair_piece_key(&run->keys.keys[job->order], k, cuts);
        const struct tdc_part_record *record =
            tdc_known_find(&run->share->known, TDC_PART_PIECE, &key);
        struct tdc_piece_sums piece;
        if (record == NULL || !is_fresh(run, job, record) ||
            !tdc_piece_take(record->content, record->size, &piece, NULL, 0))
            break;
        if (k == 0) {
            /* no more than all pieces hold, of which each was there to be read */
            *chunks = piece.chunks;
            if (piece.count > piece.chunks || piece.chunks > UINT64_MAX / sizeof *sums / 2)
                break;
            sums = calloc((size_t)piece.chunks + 1, sizeof *sums);
        }
        if (sums == NULL || piece.chunks != *chunks || piece.first != used ||
            !tdc_piece_take(record->content, record->size, &piece, sums + used, *chunks - used + 1))
            break;
        used += piece.count;
        if (k + 1 == cuts && used == *chunks)
            return sums;
    }
    free(sums);
    return NULL;
}

/* The engine on some jobs; what is found is kept, or only handed on. */
static tdc_status run_engine(struct pair_run *run, struct tdc_job *jobs, size_t count,
                             bool keep_found, struct tdc_error *error)
{
    struct tdc_engine engine = *run->engine;
    if (keep_found) {
        engine.done = job_found;
        engine.context = run;
    }
    return count != 0 ? tdc_engine_run(&engine, jobs, count, error) : TDC_OK;
}

/* Pairs of which all pieces are known: the little that is left to do. */
static tdc_status finish_cut(struct pair_run *run, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < run->count && status == TDC_OK; i++) {
        struct tdc_job job = run->jobs[i];
        struct tdc_share_item item = tdc_pair_item(run->engine, &job, &run->places[i]);
        uint32_t cuts = tdc_item_cuts(&item);
        uint64_t chunks = 0;
        struct tdc_pair_sums *sums =
            run->settled[i] || cuts == 1 ? NULL : known_sums(run, &job, cuts, &chunks);
        if (sums == NULL)
            continue;
        status = tdc_piece_finish(run->engine, &job, sums, chunks, error);
        run->settled[i] = status == TDC_OK;
        free(sums);
    }
    return status;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool is_known(struct pair_run *run, const struct tdc_job *job, const struct tdc_piece *piece)
{
    const struct tdc_known *known = &run->share->known;
    struct tdc_share_key key = run->keys.keys[job->order];
    const struct tdc_part_record *record = tdc_known_find(known, TDC_PART_OUTCOME, &key);
    if (record == NULL && piece->of > 1) {
        key = tdc_pair_piece_key(&key, piece->number, piece->of);
        record = tdc_known_find(known, TDC_PART_PIECE, &key);
    }
    bool fresh = record != NULL && is_fresh(run, job, record);
    tdc_share_count(run->share, fresh && piece->number + 1 == piece->of, record != NULL && !fresh,
                    0, 0);
    return fresh;
}

/* Lists what is not known of a piece, in `jobs` with room for all of its jobs. */
static size_t list_piece(struct pair_run *run, const struct tdc_piece *piece, struct tdc_job *jobs)
{
    size_t count = 0;
    for (size_t i = piece->first; i < piece->first + piece->count; i++)
        if (!is_known(run, &run->jobs[i], piece))
            jobs[count++] = run->jobs[i];
    return count;
}

/* The pieces that were given to this process beforehand: in one go, so that no thread waits. */
static tdc_status run_own(struct pair_run *run, const struct tdc_pieces *pieces,
                          struct tdc_job *jobs, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    size_t count = 0;
    for (size_t i = 0; i < pieces->count && status == TDC_OK; i++) {
        const struct tdc_piece *piece = &pieces->pieces[i];
        if (pieces->owners[i] != run->share->options.index)
            continue;
        size_t listed = list_piece(run, piece, jobs + count);
        if (piece->of == 1)
            count += listed;
        else if (listed != 0)
            status = run_piece(run, &jobs[count], piece, error);
    }
    return status == TDC_OK ? run_engine(run, jobs, count, true, error) : status;
}

/* Whichever piece is next, until the counter that all have in common is beyond the last. */
static tdc_status run_claimed(struct pair_run *run, const struct tdc_pieces *pieces,
                              struct tdc_job *jobs, struct tdc_error *error)
{
    const struct tdc_share_team *team = run->share->options.team;
    uint64_t stage = run->share->stage++, number = 0;
    tdc_status status = TDC_OK;
    while (status == TDC_OK) {
        if (!team->claim(team->context, stage, &number))
            return tdc_fail(error, TDC_ERR_SYSTEM, "the other processes cannot be reached");
        if (number >= pieces->count)
            break;
        const struct tdc_piece *piece = &pieces->pieces[number];
        size_t count = list_piece(run, piece, jobs);
        if (piece->of == 1)
            status = run_engine(run, jobs, count, true, error);
        else if (count != 0)
            status = run_piece(run, jobs, piece, error);
    }
    return status;
}

static tdc_status run_share(struct pair_run *run, struct tdc_error *error)
{
    const struct tdc_share_options *options = &run->share->options;
    struct tdc_share_item *items = calloc(run->count + 1, sizeof *items);
    struct tdc_job *jobs = calloc(run->count + 1, sizeof *jobs);
    struct tdc_pieces pieces = {0};
    tdc_status status = TDC_OK;
    for (size_t i = 0; items != NULL && i < run->count; i++)
        items[i] = tdc_pair_item(run->engine, &run->jobs[i], &run->places[i]);
    if (items == NULL || jobs == NULL ||
        !tdc_pieces_make(items, run->count, options->count, &pieces))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", run->count);
    run->share->sums.units += pieces.units;
    run->share->sums.pieces += pieces.count;
    if (status == TDC_OK)
        status = options->kind == TDC_SHARE_TEAM ? run_claimed(run, &pieces, jobs, error)
                                                 : run_own(run, &pieces, jobs, error);
    if (status == TDC_OK && run->silent != 0)
        status =
            tdc_fail(error, TDC_ERR_NO_ANSWER,
                     "%zu of the pairs had no answer from storage and are left to the next run, "
                     "the first: %.200s",
                     run->silent, run->silence.message);
    if (status == TDC_OK && run->no_memory)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_pieces_free(&pieces);
    free(items);
    free(jobs);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* All that is not handed on yet, as one process does it. */
static tdc_status run_rest(struct pair_run *run, struct tdc_error *error)
{
    bool whole = run->share->options.kind == TDC_SHARE_WHOLE;
    if (memchr(run->settled, true, run->count) == NULL)
        return run_engine(run, run->jobs, run->count, whole, error);
    struct tdc_job *jobs = calloc(run->count + 1, sizeof *jobs);
    if (jobs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", run->count);
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++)
        if (!run->settled[i])
            jobs[count++] = run->jobs[i];
    tdc_status status = run_engine(run, jobs, count, whole, error);
    free(jobs);
    return status;
}

static tdc_status check_all_known(struct pair_run *run, struct tdc_error *error)
{
    for (size_t i = 0; i < run->count; i++)
        if (!run->settled[i] && run->missing++ == 0)
            run->first_missing = i;
    if (run->changed != 0)
        return tdc_fail(error, TDC_ERR_REFUSED,
                        "%s or %s has changed since it was compared, and %zu more; run the shards "
                        "again with --restart",
                        run->jobs[run->first_changed].n_file, run->jobs[run->first_changed].b_file,
                        run->changed - 1);
    if (run->missing != 0)
        return tdc_fail(error, TDC_ERR_REFUSED,
                        "%zu pairs are in no part, %s the first: processes saw different dumps",
                        run->missing, run->jobs[run->first_missing].n_file);
    return TDC_OK;
}

/* As the engine says it of what it opens. */
static void tell_links(const struct tdc_options *options, uint64_t links)
{
    struct tdc_error line = {0};
    if (links == 0 || options->message == NULL)
        return;
    tdc_fail(&line, TDC_OK, "%llu tensor files are symbolic links; they were followed",
             (unsigned long long)links);
    options->message(options->context, TDC_MESSAGE_WARNING, line.message);
}

static tdc_status hand_on_all(struct pair_run *run, struct tdc_error *error)
{
    const struct tdc_options *options = run->engine->options;
    if (run->share->known.count != 0 && tdc_pair_keys_find(&run->keys, run->jobs, run->count)) {
        tdc_team_run(tdc_team_size(run->engine->threads), hand_on_known, run);
        tell_links(options, atomic_load(&run->links));
    }
    size_t known = 0;
    for (size_t i = 0; i < run->count; i++)
        known += run->settled[i];
    tdc_status status = TDC_OK;
    if (run->share->known.count != 0 && run->keys.keys != NULL)
        status = finish_cut(run, error);
    if (run->share->options.kind == TDC_SHARE_WHOLE) {
        run->share->sums.known += known;
        run->share->sums.changed += run->changed;
    }
    if (status == TDC_OK && run->share->options.kind == TDC_SHARE_MERGE)
        return check_all_known(run, error);
    return status == TDC_OK ? run_rest(run, error) : status;
}

static tdc_status run_in_order(struct pair_run *run, struct tdc_error *error)
{
    tdc_share_kind kind = run->share->options.kind;
    tdc_status status = TDC_OK;
    if (kind == TDC_SHARE_PART || kind == TDC_SHARE_TEAM) {
        if (!tdc_pair_keys_find(&run->keys, run->jobs, run->count))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", run->count);
        status = run_share(run, error);
    }
    if (status == TDC_OK && kind == TDC_SHARE_TEAM)
        status = tdc_share_gather(run->share, error);
    if (status == TDC_OK && tdc_share_delivers(run->share))
        status = hand_on_all(run, error);
    return status;
}

bool tdc_share_is_part(const tdc_share *share)
{
    return share != NULL && share->options.kind == TDC_SHARE_PART;
}

double tdc_share_seconds(const tdc_share *share)
{
    bool merge = share != NULL && share->options.kind == TDC_SHARE_MERGE;
    return merge ? tdc_share_others(share).longest : 0;
}

tdc_status tdc_share_run(tdc_share *share, const struct tdc_engine *engine, struct tdc_job *jobs,
                         const struct tdc_pair_place *places, size_t count, struct tdc_error *error)
{
    if (share == NULL)
        return tdc_engine_run(engine, jobs, count, error);
    tdc_share_round(share);
    struct pair_run run = {
        .share = share, .engine = engine, .jobs = jobs, .places = places, .count = count};
    run.settled = calloc(count + 1, sizeof *run.settled);
    if (run.settled == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", count);
    pthread_mutex_init(&run.lock, NULL);
    tdc_pair_keys_init(&run.keys);
    tdc_status status = run_in_order(&run, error);
    tdc_pair_keys_free(&run.keys);
    pthread_mutex_destroy(&run.lock);
    free(run.settled);
    return status;
}
