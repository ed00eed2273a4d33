/* pair.c - one pair of tensor files: open, reduce a span, finish. */
#include <stdlib.h>
#include <string.h>

#include "host/engine/engine.h"
#include "host/engine/job_path.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* One side of a job, and what the worker has for it. */
struct side {
    const char *folder, *name;
    const struct tdc_side_change *change;
    size_t expected;
    struct tdc_tensor_scratch *scratch;
    struct tdc_open_folder *open_folder;
};

static tdc_status open_side(struct tdc_worker *worker, const struct side *side,
                            struct tdc_tensor *tensor, void **memory, struct tdc_error *error)
{
    if (side->change != NULL)
        return tdc_side_prepare(&worker->path, side->folder, side->name, side->change, tensor,
                                memory, error);
    const char *path = tdc_job_path(&worker->path, side->folder, side->name, error);
    if (path == NULL)
        return error->status;
    bool below = side->name[0] != '\0' && tdc_open_folder(side->open_folder, side->folder);
    struct tdc_tensor_place place = {side->open_folder->descriptor, side->name, side->expected};
    return tdc_tensor_open_with(side->scratch, path, below ? &place : NULL, &worker->cold, tensor,
                                error);
}

/* A well formed npy file of a type without arithmetic (raw bytes) is data, though not of numbers.
 */
static bool is_npy(const char *file)
{
    size_t length = strlen(file);
    return length >= 4 && strcmp(file + length - 4, ".npy") == 0;
}

static bool open_logical(const struct tdc_job *job, struct tdc_open_pair *pair,
                         struct tdc_outcome *outcome)
{
    struct tdc_error *error = &outcome->error;
    tdc_status status = tdc_logical_check_twins(job->n_logical, &outcome->n_twins, error);
    if (status == TDC_OK)
        status = tdc_logical_check_twins(job->b_logical, &outcome->b_twins, error);
    if (status == TDC_OK)
        status = tdc_logical_open(job->n_logical, &pair->n, &pair->n_assembled, error);
    if (status != TDC_OK)
        return false;
    status = tdc_logical_open(job->b_logical, &pair->b, &pair->b_assembled, error);
    if (status != TDC_OK) {
        tdc_tensor_close(&pair->n);
        tdc_assembled_close(pair->n_assembled);
    }
    return status == TDC_OK;
}

static bool open_both(struct tdc_worker *worker, const struct tdc_job *job,
                      struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    tdc_status status = TDC_OK;
    size_t expected = job->bytes != 0 && job->bytes < SIZE_MAX ? (size_t)job->bytes / 2 : SIZE_MAX;
    if (job->n_logical != NULL)
        return open_logical(job, pair, outcome);
    if (job->n_tensor != NULL)
        pair->n = *job->n_tensor;
    else
        status = open_side(worker,
                           &(struct side){job->n_folder, job->n_file, job->n_change, expected,
                                          worker->n_scratch, &worker->n_folder},
                           &pair->n, &pair->n_memory, &outcome->error);
    if (status == TDC_OK && job->b_tensor != NULL) {
        pair->b = *job->b_tensor;
    } else if (status == TDC_OK) {
        status = open_side(worker,
                           &(struct side){job->b_folder, job->b_file, job->b_change, expected,
                                          worker->b_scratch, &worker->b_folder},
                           &pair->b, &pair->b_memory, &outcome->error);
        if (status != TDC_OK) {
            tdc_tensor_close(&pair->n);
            free(pair->n_memory);
        }
    }
    if (status == TDC_ERR_UNSUPPORTED && is_npy(job->n_file) && is_npy(job->b_file))
        outcome->code = TDC_OUTCOME_NOT_NUMBERS;
    return status == TDC_OK;
}

static bool same_shape(const struct tdc_tensor *n, const struct tdc_tensor *b)
{
    return n->dimensions == b->dimensions &&
           memcmp(n->shape, b->shape, n->dimensions * sizeof *n->shape) == 0;
}

/*
 * A view with stride 0 can claim 2^62 elements in a file of 1 KB. Dumpers store tensors without
 * repeating them; of those that do repeat, what takes about a second is read, and beyond that what
 * repeats each byte of its file some hundred times. More would only burn time.
 */
#define REPEATED_ELEMENTS ((uint64_t)1 << 28)
#define REPEATS_OF_A_BYTE ((uint64_t)1 << 10)

static bool absurd(const struct tdc_tensor *tensor, const char *file, struct tdc_error *error)
{
    if (tensor->count <= REPEATED_ELEMENTS || tensor->count / REPEATS_OF_A_BYTE <= tensor->map_size)
        return false;
    tdc_fail(error, TDC_ERR_UNSUPPORTED,
             "%s: a view of %llu elements in a file of %zu bytes: more than %llu are not read",
             file, (unsigned long long)tensor->count, tensor->map_size,
             (unsigned long long)REPEATED_ELEMENTS);
    return true;
}

/* numpy, and so msprobe, has no such elements. */
static bool refuse_codes(const struct tdc_tensor *tensor, const char *file, struct tdc_error *error)
{
    if (tensor->coding == TDC_CODING_PLAIN)
        return false;
    tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: quantised or packed elements", file);
    return true;
}

static size_t element_size(const struct tdc_tensor *tensor)
{
    return tdc_dtype_size(tdc_source_dtype(tensor));
}

/* What is read of a side: all parts that are added to one. */
static uint64_t stored_bytes(const struct tdc_tensor *tensor)
{
    const struct tdc_assembled *assembled = tensor->assembled;
    if (assembled == NULL)
        return tensor->count * element_size(tensor);
    return tensor->count * tdc_dtype_size(assembled->stored) * assembled->logical->term_count;
}

/* Floats of the other byte order count as float64 in msprobe's relative errors
 * (docs/msprobe.md#relative-errors). */
static void widen_swapped(struct tdc_tensor *tensor)
{
    tensor->as_f64 = tensor->swapped && tensor->dimensions != 0 &&
                     (tensor->dtype == TDC_F16 || tensor->dtype == TDC_F32);
}

static bool same_text_type(const struct tdc_tensor *n, const struct tdc_tensor *b)
{
    return n->text_width == b->text_width && n->text_wide == b->text_wide;
}

static void describe(const struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    const struct tdc_tensor *n = &pair->n, *b = &pair->b;
    outcome->n_dtype = n->coding == TDC_CODING_PLAIN ? n->dtype : TDC_F64;
    outcome->b_dtype = b->coding == TDC_CODING_PLAIN ? b->dtype : TDC_F64;
    outcome->n_swapped = n->swapped;
    outcome->b_swapped = b->swapped;
    outcome->text_types_differ = !same_text_type(n, b);
    outcome->n_dimensions = n->dimensions;
    outcome->b_dimensions = b->dimensions;
    outcome->count = n->count;
    outcome->b_count = b->count;
    outcome->links = (unsigned)n->linked + (unsigned)b->linked;
    outcome->bytes = stored_bytes(n) + stored_bytes(b);
}

static enum tdc_outcome_code judge(struct tdc_open_pair *pair, enum tdc_relative_rule rule,
                                   bool any_shape, const struct tdc_worker *worker)
{
    if (pair->n.count == 0)
        return TDC_OUTCOME_EMPTY;
    if (!same_shape(&pair->n, &pair->b) && !(any_shape && pair->n.count == pair->b.count))
        return TDC_OUTCOME_SHAPES_DIFFER;
    if (!tdc_pair_plan_make(tdc_source_dtype(&pair->n), tdc_source_dtype(&pair->b), rule,
                            worker->variant, &pair->plan))
        return TDC_OUTCOME_NOT_NUMBERS;
    pair->plan.extremes = worker->extremes;
    return TDC_OUTCOME_COMPARED;
}

static void divide(struct tdc_open_pair *pair)
{
    size_t n_size = element_size(&pair->n), b_size = element_size(&pair->b);
    size_t chunk_bytes = TDC_PAIR_CHUNK * (n_size > b_size ? n_size : b_size);
    pair->chunks = (pair->n.count + TDC_PAIR_CHUNK - 1) / TDC_PAIR_CHUNK;
    pair->span_chunks = chunk_bytes < TDC_SPAN_BYTES ? TDC_SPAN_BYTES / chunk_bytes : 1;
    pair->spans = (pair->chunks + pair->span_chunks - 1) / pair->span_chunks;
}

/*
 * A small file lies in the scratch of the worker that opened it, which serves the next pair as soon
 * as this one is shared. A pair of several spans must not depend on it: the other side is large, or
 * a few stored elements stand for many.
 */
static tdc_status leave_scratch(struct tdc_worker *worker, const char *folder, const char *file,
                                bool squeezed, struct tdc_tensor *tensor, struct tdc_error *error)
{
    if (tensor->map != NULL)
        return TDC_OK;
    struct tdc_tensor mapped;
    const char *path = tdc_job_path(&worker->path, folder, file, error);
    if (path == NULL)
        return error->status;
    tdc_status status = tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &mapped, error);
    if (status != TDC_OK)
        return status;
    if (squeezed)
        tdc_tensor_squeeze(&mapped);
    if (mapped.dtype != tensor->dtype || mapped.coding != tensor->coding ||
        mapped.swapped != tensor->swapped || !same_text_type(&mapped, tensor) ||
        !same_shape(&mapped, tensor)) {
        tdc_tensor_close(&mapped);
        return tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while it was read", file);
    }
    mapped.as_f64 = tensor->as_f64;
    tdc_tensor_close(tensor);
    *tensor = mapped;
    return TDC_OK;
}

static bool make_shareable(struct tdc_worker *worker, const struct tdc_job *job,
                           struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    if (pair->spans <= 1 || job->n_logical != NULL)
        return true;
    return (job->n_tensor != NULL || pair->n_memory != NULL ||
            leave_scratch(worker, job->n_folder, job->n_file, job->squeeze, &pair->n,
                          &outcome->error) == TDC_OK) &&
           (job->b_tensor != NULL || pair->b_memory != NULL ||
            leave_scratch(worker, job->b_folder, job->b_file, job->squeeze, &pair->b,
                          &outcome->error) == TDC_OK);
}

bool tdc_pair_open(struct tdc_worker *worker, const struct tdc_job *job,
                   enum tdc_relative_rule rule, tdc_io io, struct tdc_open_pair *pair,
                   struct tdc_outcome *outcome)
{
    /* the sums are set by the first merge; clearing the large error text costs more than all else
     */
    outcome->error.status = TDC_OK;
    outcome->error.message[0] = '\0';
    outcome->bytes = outcome->links = 0;
    tdc_pair_clear(&outcome->sums);
    outcome->code = TDC_OUTCOME_UNREADABLE;
    pair->n_memory = pair->b_memory = NULL;
    pair->n_assembled = pair->b_assembled = NULL;
    pair->series = job->series;
    if (!open_both(worker, job, pair, outcome))
        return false;
    if (absurd(&pair->n, job->n_file, &outcome->error) ||
        absurd(&pair->b, job->b_file, &outcome->error)) {
        tdc_pair_close(pair);
        return false;
    }
    bool as_numpy = rule == TDC_RELATIVE_NATIVE || rule == TDC_RELATIVE_PROMOTED;
    if (as_numpy && (refuse_codes(&pair->n, job->n_file, &outcome->error) ||
                     refuse_codes(&pair->b, job->b_file, &outcome->error))) {
        tdc_pair_close(pair);
        return false;
    }
    if (as_numpy) {
        widen_swapped(&pair->n);
        widen_swapped(&pair->b);
    }
    if (job->squeeze && job->n_change == NULL)
        tdc_tensor_squeeze(&pair->n);
    if (job->squeeze && job->b_change == NULL)
        tdc_tensor_squeeze(&pair->b);
    describe(pair, outcome);
    pair->name = job->n_file;
    outcome->code = judge(pair, rule, job->any_shape, worker);
    if (outcome->code != TDC_OUTCOME_COMPARED) {
        tdc_pair_close(pair);
        return false;
    }
    divide(pair);
    if (!make_shareable(worker, job, pair, outcome)) {
        outcome->code = TDC_OUTCOME_UNREADABLE;
        tdc_pair_close(pair);
        return false;
    }
    tdc_source_open(&pair->n_source, &pair->n, io);
    tdc_source_open(&pair->b_source, &pair->b, io);
    return true;
}

void tdc_pair_moved(struct tdc_open_pair *pair)
{
    pair->n_source.tensor = &pair->n;
    pair->b_source.tensor = &pair->b;
}

void tdc_pair_close(struct tdc_open_pair *pair)
{
    tdc_tensor_close(&pair->n);
    tdc_tensor_close(&pair->b);
    free(pair->n_memory);
    free(pair->b_memory);
    tdc_assembled_close(pair->n_assembled);
    tdc_assembled_close(pair->b_assembled);
}

/* ---- reducing -------------------------------------------------------------------------------- */

static size_t span_elements(const struct tdc_open_pair *pair, uint64_t span)
{
    uint64_t first = span * pair->span_chunks * TDC_PAIR_CHUNK;
    uint64_t most = pair->span_chunks * TDC_PAIR_CHUNK, left = pair->n.count - first;
    return (size_t)(left < most ? left : most);
}

uint64_t tdc_pair_span_bytes(const struct tdc_open_pair *pair, uint64_t span)
{
    return span_elements(pair, span) * (element_size(&pair->n) + element_size(&pair->b));
}

/* As many as the span has; returned is their number. */
static size_t make_chunks(const struct tdc_open_pair *pair, const struct tdc_pair_plan *plan,
                          const void *n, const void *b, size_t count,
                          struct tdc_pair_sums *partials, void *owner,
                          struct tdc_backend_chunk *chunks)
{
    size_t n_size = element_size(&pair->n), b_size = element_size(&pair->b), made = 0;
    for (size_t at = 0; at < count; at += TDC_PAIR_CHUNK, made++) {
        size_t left = count - at;
        chunks[made] = (struct tdc_backend_chunk){
            .plan = plan,
            .n = (const char *)n + at * n_size,
            .b = (const char *)b + at * b_size,
            .count = left < TDC_PAIR_CHUNK ? left : TDC_PAIR_CHUNK,
            .sums = &partials[made],
            .name = pair->name,
            .owner = owner,
        };
    }
    return made;
}

static bool reduce(const struct tdc_open_pair *pair, struct tdc_worker *worker, const void *n,
                   const void *b, size_t count, struct tdc_pair_sums *partials, unsigned *how)
{
    struct tdc_backend_chunk chunks[TDC_SPAN_BYTES / TDC_PAIR_CHUNK];
    size_t made = make_chunks(pair, &pair->plan, n, b, count, partials, NULL, chunks);
    bool ok = tdc_chunks_run(worker->backend, worker->backend_state, chunks, made);
    for (size_t i = 0; i < made; i++)
        *how |= chunks[i].how;
    return ok;
}

/* Waits for room, but for no chunk. */
static enum tdc_submit_result submit(struct tdc_worker *worker, const struct tdc_span_work *work,
                                     struct tdc_backend_chunk *chunk)
{
    if (work->by_cpu)
        return tdc_backend_cpu.submit(NULL, chunk);
    for (;;) {
        enum tdc_submit_result result = worker->backend->submit(worker->backend_state, chunk);
        if (result != TDC_SUBMIT_NO_ROOM)
            return result;
        tdc_worker_take(worker, true);
    }
}

static bool hand_over(const struct tdc_open_pair *pair, struct tdc_worker *worker, const void *n,
                      const void *b, size_t count, struct tdc_span_work *work)
{
    size_t made =
        make_chunks(pair, &pair->plan, n, b, count, work->partials, work->owner, work->chunks);
    for (size_t i = 0; i < made; i++) {
        enum tdc_submit_result result = submit(worker, work, &work->chunks[i]);
        if (result == TDC_SUBMIT_VANISHED)
            return false;
        bool taken = result == TDC_SUBMIT_TAKEN;
        work->handed += taken;
        worker->under_way += taken;
        if (!taken)
            work->how |= work->chunks[i].how;
    }
    return true;
}

struct series_span {
    const struct tdc_open_pair *pair;
    uint64_t first;
    const void *n, *b;
    size_t count;
};

static void add_series(void *argument)
{
    const struct series_span *span = argument;
    tdc_series_add(span->pair->series, &span->pair->plan, span->first, span->n, span->b,
                   span->count);
}

static enum tdc_chunk_result get_span(const struct tdc_open_pair *pair, uint64_t first,
                                      size_t count, struct tdc_worker *worker, const void **n,
                                      const void **b)
{
    tdc_source_ask(&pair->n_source, first, count, &worker->n_buffer);
    tdc_source_ask(&pair->b_source, first, count, &worker->b_buffer);
    enum tdc_chunk_result n_result =
        tdc_source_get(&pair->n_source, first, count, &worker->n_buffer, n);
    if (n_result != TDC_CHUNK_DONE && !worker->b_buffer.asked)
        return n_result;
    enum tdc_chunk_result b_result =
        tdc_source_get(&pair->b_source, first, count, &worker->b_buffer, b);
    return n_result != TDC_CHUNK_DONE ? n_result : b_result;
}

static enum tdc_chunk_result grow_series(const struct tdc_open_pair *pair, uint64_t first,
                                         const void *n, const void *b, size_t count)
{
    struct series_span series = {pair, first, n, b, count};
    return pair->series == NULL || tdc_guarded_read(add_series, &series) ? TDC_CHUNK_DONE
                                                                         : tdc_chunk_lost();
}

/* ---- copied elements ------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_copied(const struct tdc_open_pair *pair)
{
    return pair->n_source.mode == TDC_SOURCE_GATHER || pair->b_source.mode == TDC_SOURCE_GATHER;
}

/* A side of a chunk: where its elements are, or what hands them to the kernel. Series want them all
 * at once. */
static enum tdc_chunk_result take_side(const struct tdc_open_pair *pair,
                                       const struct tdc_source *source, uint64_t first,
                                       size_t count, struct tdc_span_buffer *buffer,
                                       struct tdc_logical_feed **feed, const void **elements,
                                       struct tdc_pair_feed **started)
{
    const struct tdc_assembled *assembled = source->tensor->assembled;
    *started = NULL;
    *elements = NULL;
    if (assembled == NULL || pair->series != NULL || !pair->plan.takes_feeds)
        return tdc_source_get(source, first, count, buffer, elements);
    *elements = tdc_assembled_in_place(assembled, first, count);
    if (*elements != NULL)
        return TDC_CHUNK_DONE;
    if (*feed == NULL && (*feed = tdc_logical_feed_new()) == NULL)
        return TDC_CHUNK_NO_MEMORY;
    *started = tdc_logical_feed_start(*feed, assembled, first, count);
    return TDC_CHUNK_DONE;
}

static bool fed_numbers(const struct tdc_pair_feed *started, const struct tdc_logical_feed *feed)
{
    return started == NULL || tdc_logical_feed_numbers(feed);
}

static enum tdc_chunk_result take_copied_chunk(const struct tdc_open_pair *pair, uint64_t first,
                                               size_t count, struct tdc_worker *worker,
                                               struct tdc_pair_sums *partial, unsigned *how)
{
    struct tdc_pair_plan plan = pair->plan;
    struct tdc_backend_chunk chunk;
    const void *n, *b;
    enum tdc_chunk_result result = take_side(pair, &pair->n_source, first, count, &worker->n_buffer,
                                             &worker->n_feed, &n, &plan.n_feed);
    if (result == TDC_CHUNK_DONE)
        result = take_side(pair, &pair->b_source, first, count, &worker->b_buffer, &worker->b_feed,
                           &b, &plan.b_feed);
    if (result != TDC_CHUNK_DONE)
        return result;
    make_chunks(pair, &plan, n, b, count, partial, NULL, &chunk);
    if (!tdc_chunks_run(&tdc_backend_cpu, NULL, &chunk, 1))
        return tdc_chunk_lost();
    *how |= chunk.how;
    if (!fed_numbers(plan.n_feed, worker->n_feed) || !fed_numbers(plan.b_feed, worker->b_feed))
        return TDC_CHUNK_NOT_NUMBERS;
    return grow_series(pair, first, n, b, count);
}

/* What is copied before the CPU reduces it is taken chunk by chunk: it stays in the cache. */
static enum tdc_chunk_result take_copied(const struct tdc_open_pair *pair, uint64_t span,
                                         struct tdc_worker *worker, struct tdc_pair_sums *partials,
                                         unsigned *how)
{
    uint64_t first = span * pair->span_chunks * TDC_PAIR_CHUNK;
    size_t count = span_elements(pair, span);
    enum tdc_chunk_result result = TDC_CHUNK_DONE;
    tdc_source_want(&pair->n_source, first, count);
    tdc_source_want(&pair->b_source, first, count);
    for (size_t at = 0; at < count && result == TDC_CHUNK_DONE; at += TDC_PAIR_CHUNK)
        result = take_copied_chunk(pair, first + at, least(TDC_PAIR_CHUNK, count - at), worker,
                                   partials + at / TDC_PAIR_CHUNK, how);
    return result;
}

/* ---- spans ----------------------------------------------------------------------------------- */

enum tdc_chunk_result tdc_pair_span(const struct tdc_open_pair *pair, uint64_t span,
                                    struct tdc_worker *worker, struct tdc_pair_sums *partials,
                                    unsigned *how)
{
    uint64_t first = span * pair->span_chunks * TDC_PAIR_CHUNK;
    size_t count = span_elements(pair, span);
    const void *n = NULL, *b = NULL;
    if (worker->backend == &tdc_backend_cpu && is_copied(pair))
        return take_copied(pair, span, worker, partials, how);
    enum tdc_chunk_result result = get_span(pair, first, count, worker, &n, &b);
    if (result == TDC_CHUNK_DONE && !reduce(pair, worker, n, b, count, partials, how))
        result = tdc_chunk_lost();
    return result == TDC_CHUNK_DONE ? grow_series(pair, first, n, b, count) : result;
}

enum tdc_chunk_result tdc_pair_hand_over(const struct tdc_open_pair *pair, uint64_t span,
                                         struct tdc_worker *worker, struct tdc_span_work *work)
{
    uint64_t first = span * pair->span_chunks * TDC_PAIR_CHUNK;
    size_t count = span_elements(pair, span);
    const void *n = NULL, *b = NULL;
    if ((work->by_cpu || worker->backend == &tdc_backend_cpu) && is_copied(pair))
        return take_copied(pair, span, worker, work->partials, &work->how);
    enum tdc_chunk_result result = get_span(pair, first, count, worker, &n, &b);
    if (result == TDC_CHUNK_DONE && !hand_over(pair, worker, n, b, count, work))
        result = tdc_chunk_lost();
    return result == TDC_CHUNK_DONE ? grow_series(pair, first, n, b, count) : result;
}

enum tdc_chunk_result tdc_pair_settle(const struct tdc_open_pair *pair, struct tdc_worker *worker,
                                      struct tdc_pair_sums *partials, unsigned how)
{
    if (how != (TDC_CHUNK_BY_DEVICE | TDC_CHUNK_FELL_BACK))
        return TDC_CHUNK_DONE;
    const struct tdc_backend *backend = worker->backend;
    enum tdc_chunk_result result = TDC_CHUNK_DONE;
    worker->backend = &tdc_backend_cpu;
    struct tdc_open_pair again = *pair;
    again.series = NULL; /* they are complete */
    tdc_pair_moved(&again);
    for (uint64_t span = 0; span < pair->spans && result == TDC_CHUNK_DONE; span++)
        result = tdc_pair_span(&again, span, worker, partials + span * pair->span_chunks,
                               &(unsigned){0});
    worker->backend = backend;
    return result;
}

void tdc_pair_release(const struct tdc_open_pair *pair, uint64_t span, uint64_t count)
{
    uint64_t first = span * pair->span_chunks * TDC_PAIR_CHUNK;
    uint64_t elements = count * pair->span_chunks * TDC_PAIR_CHUNK, left = pair->n.count - first;
    if (elements > left)
        elements = left;
    tdc_source_release(&pair->n_source, first, elements);
    tdc_source_release(&pair->b_source, first, elements);
}

/* ---- finishing ------------------------------------------------------------------------------- */

struct finishing {
    const struct tdc_open_pair *pair;
    struct tdc_outcome *outcome;
};

static void fetch_elements(void *argument)
{
    struct finishing *finishing = argument;
    const struct tdc_tensor *n = &finishing->pair->n, *b = &finishing->pair->b;
    struct tdc_outcome *outcome = finishing->outcome;
    tdc_gather_elements(n, outcome->sums.abs_at, 1, outcome->abs_n.bytes);
    tdc_gather_elements(b, outcome->sums.abs_at, 1, outcome->abs_b.bytes);
    tdc_gather_elements(n, outcome->sums.rel_at, 1, outcome->rel_n.bytes);
    tdc_gather_elements(b, outcome->sums.rel_at, 1, outcome->rel_b.bytes);
    if (n->dimensions == 0) {
        tdc_gather_elements(n, 0, 1, outcome->n_element);
        tdc_gather_elements(b, 0, 1, outcome->b_element);
    }
}

bool tdc_pair_finish(const struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    struct finishing finishing = {pair, outcome};
    if (!tdc_guarded_read(fetch_elements, &finishing) || !tdc_pair_fill_norms(pair, outcome) ||
        !tdc_pair_find_apart(pair, outcome))
        return false;
    if (pair->n.coding == TDC_CODING_E2M1) { /* positions are those of the dump's elements */
        outcome->sums.abs_at /= 2;
        outcome->sums.rel_at /= 2;
        outcome->apart_at /= 2;
    }
    return true;
}
