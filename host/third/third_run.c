/*
 * third_run.c - the rows of a table against a third run, before they are judged.
 *
 * A thread takes a row and goes through its three tensors block by block; large rows come
 * afterwards, one after the other, and all threads take spans of them. Blocks are merged in order
 * within a span and spans in order within a row, so nothing depends on the number of threads. What
 * cannot be read, or has another shape, is left out here: the row itself tells.
 */
#include <stdlib.h>
#include <string.h>

#include "host/api/options.h"
#include "host/engine/job_path.h"
#include "host/engine/logical/logical.h"
#include "host/table/aligned.h"
#include "host/table/table.h"
#include "host/third/third_rows.h"
#include "io/base/error.h"
#include "io/base/team.h"
#include "io/file/mapping_guard.h"
#include "io/table/sink.h"
#include "kernels/dtype.h"

enum {
    BLOCK = 4096,       /* elements that are added at a time */
    PIECE = 16 * BLOCK, /* that are read at a time */
    SPAN = 16 * PIECE,  /* whose sums are merged by themselves */
    SIDES = 3
};

/* One of the three tensors of a row. */
struct third_side {
    const struct tdc_dump *dump;
    const struct tdc_record *record;
    const struct tdc_logical *whole; /* of aligned rows, instead of the two */
    const char *dtype;
    struct tdc_logical unrounded; /* the same without its cast */
    struct tdc_assembled *assembled;
    struct tdc_tensor tensor;
    struct tdc_source source;
    bool open;
};

/* A row whose tensors are open, for any number of threads. */
struct third_sides {
    struct third_side sides[SIDES];
    struct tdc_grain grains[SIDES];
};

/* What a thread has of its own. */
struct third_worker {
    struct third_sides row; /* of small rows */
    struct tdc_text path;
    struct tdc_span_buffer buffers[SIDES];
    double values[SIDES][BLOCK];
    /* of the piece that is being added */
    const struct third_sides *current;
    struct tdc_third_sums sums;
    const void *elements[SIDES];
    size_t count;
};

struct third_run {
    struct tdc_table *table;
    const struct tdc_match *match; /* of A with C */
    uint32_t *partners;            /* by record of A: that of C, or TDC_UNPAIRED */
    const size_t *chosen;          /* rows of the table; NULL: all */
    size_t count;
    struct tdc_third_row *rows; /* as many */
    const struct tdc_options *options;
    bool *large; /* as many: left for all threads together */
    atomic_size_t next;
};

/* A large row. */
struct third_shared {
    const struct third_sides *row;
    struct tdc_third_sums *sums; /* by span */
    size_t spans;
    const struct tdc_options *options;
    atomic_size_t next, done;
};

static bool open_side(struct tdc_text *path_text, struct third_side *side, tdc_io io)
{
    struct tdc_error ignored;
    const struct tdc_record *record = side->record;
    side->assembled = NULL;
    if (side->whole != NULL) {
        side->unrounded = *side->whole;
        side->unrounded.rounding = TDC_ROUND_NONE;
        side->open =
            tdc_logical_open(&side->unrounded, &side->tensor, &side->assembled, &ignored) == TDC_OK;
        if (side->open)
            tdc_source_open(&side->source, &side->tensor, io);
        return side->open;
    }
    if (record->scalar || record->refusal != NULL ||
        (record->tensor == NULL && !tdc_record_has_file(record)))
        return false;
    if (record->tensor != NULL) {
        side->tensor = *record->tensor;
    } else {
        const char *path =
            tdc_job_path(path_text, side->dump->data_folder, record->data_name, &ignored);
        if (path == NULL ||
            tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &side->tensor, &ignored) != TDC_OK)
            return false;
    }
    side->open = true;
    tdc_source_open(&side->source, &side->tensor, io);
    return true;
}

static bool same_shape(const struct tdc_tensor *a, const struct tdc_tensor *b)
{
    return a->dimensions == b->dimensions &&
           memcmp(a->shape, b->shape, a->dimensions * sizeof *a->shape) == 0;
}

/* Reads what is mapped: inside tdc_guarded_read. */
static void add_piece(void *argument)
{
    struct third_worker *worker = argument;
    const struct third_sides *row = worker->current;
    for (size_t at = 0; at < worker->count; at += BLOCK) {
        size_t count = worker->count - at < BLOCK ? worker->count - at : BLOCK;
        struct tdc_third_sums block = {0};
        for (int i = 0; i < SIDES; i++) {
            tdc_dtype dtype = tdc_source_dtype(&row->sides[i].tensor);
            const unsigned char *elements = worker->elements[i];
            tdc_widen(dtype, elements + at * tdc_dtype_size(dtype), count, worker->values[i]);
        }
        const struct tdc_third_side a = {worker->values[0], worker->values[2], row->grains[0]};
        const struct tdc_third_side b = {worker->values[1], worker->values[2], row->grains[1]};
        tdc_third_add(&block, &a, &b, count);
        tdc_third_merge(&worker->sums, &block);
    }
}

/* The elements of one span. */
static bool add_span(struct third_worker *worker, const struct third_sides *row, size_t span,
                     struct tdc_third_sums *total)
{
    uint64_t first = (uint64_t)span * SPAN, all = row->sides[0].tensor.count;
    uint64_t end = all - first < SPAN ? all : first + SPAN;
    worker->current = row;
    worker->sums = (struct tdc_third_sums){0};
    for (; first < end; first += PIECE) {
        worker->count = (size_t)(end - first < PIECE ? end - first : PIECE);
        for (int i = 0; i < SIDES; i++)
            if (tdc_source_get(&row->sides[i].source, first, worker->count, &worker->buffers[i],
                               &worker->elements[i]) != TDC_CHUNK_DONE)
                return false;
        if (!tdc_guarded_read(add_piece, worker))
            return false;
        for (int i = 0; i < SIDES; i++)
            tdc_source_release(&row->sides[i].source, first, worker->count);
    }
    *total = worker->sums;
    return true;
}

static size_t spans_of(const struct third_sides *row)
{
    return (size_t)((row->sides[0].tensor.count + SPAN - 1) / SPAN);
}

/* Which three tensors a row is of; false: not all are there. */
static bool choose_sides(const struct third_run *run, struct third_sides *chosen, size_t item)
{
    const struct tdc_table *table = run->table;
    size_t index = run->chosen != NULL ? run->chosen[item] : item;
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, index);
    for (int i = 0; i < SIDES && aligned != NULL; i++) {
        chosen->sides[i].whole = aligned->sides[i];
        chosen->sides[i].dtype = aligned->dtypes[i];
        if (aligned->sides[i] == NULL || aligned->dtypes[i] == NULL)
            return false;
    }
    if (aligned != NULL)
        return aligned->settled == TDC_ROW_NONE;
    if (row->npu == TDC_UNPAIRED || row->bench == TDC_UNPAIRED ||
        run->partners[row->npu] == TDC_UNPAIRED)
        return false;
    const struct tdc_dump *dumps[SIDES] = {table->match->npu, table->match->bench,
                                           run->match->bench};
    const uint32_t records[SIDES] = {row->npu, row->bench, run->partners[row->npu]};
    for (int i = 0; i < SIDES; i++) {
        struct third_side *side = &chosen->sides[i];
        side->dump = dumps[i];
        side->record = &dumps[i]->records[records[i]];
        side->dtype = side->record->dtype;
    }
    return true;
}

static void close_row(struct third_sides *row)
{
    for (int i = 0; i < SIDES; i++)
        if (row->sides[i].open) {
            tdc_tensor_close(&row->sides[i].tensor);
            tdc_assembled_close(row->sides[i].assembled);
        }
}

/* False, with nothing open: not all three are there in one shape, with elements. */
static bool open_row(const struct third_run *run, struct tdc_text *path, size_t index,
                     struct third_sides *row)
{
    *row = (struct third_sides){.grains = {{0}}};
    if (!choose_sides(run, row, index))
        return false;
    bool ready = true;
    for (int i = 0; i < SIDES && ready; i++) {
        ready = open_side(path, &row->sides[i], run->options->io) &&
                same_shape(&row->sides[0].tensor, &row->sides[i].tensor);
        row->grains[i] = tdc_grain_of(tdc_dtype_at_end(row->sides[i].dtype));
    }
    ready = ready && row->sides[0].tensor.count != 0;
    if (!ready)
        close_row(row);
    return ready;
}

static void settle(struct third_run *run, size_t index, const struct tdc_third_sums *total)
{
    tdc_third_settle(total, &run->rows[index]);
    run->rows[index].known = true;
}

static void work_on_row(struct third_run *run, struct third_worker *worker, size_t index)
{
    struct tdc_third_sums total;
    if (!open_row(run, &worker->path, index, &worker->row))
        return;
    run->large[index] = spans_of(&worker->row) > 1;
    if (!run->large[index] && add_span(worker, &worker->row, 0, &total))
        settle(run, index, &total);
    close_row(&worker->row);
}

static struct third_worker *new_worker(void)
{
    struct third_worker *worker = calloc(1, sizeof *worker);
    if (worker != NULL)
        tdc_text_init(&worker->path, (size_t)1 << 16);
    return worker;
}

static void free_worker(struct third_worker *worker)
{
    tdc_text_free(&worker->path);
    for (int i = 0; i < SIDES; i++)
        tdc_span_buffer_free(&worker->buffers[i]);
    free(worker);
}

static void work(void *argument, int member)
{
    (void)member;
    struct third_run *run = argument;
    struct third_worker *worker = new_worker();
    if (worker == NULL)
        return; /* the others do it all, or nobody has begun */
    for (size_t i; (i = atomic_fetch_add(&run->next, 1)) < run->count;)
        if (!tdc_cancel_is_set(run->options->cancel))
            work_on_row(run, worker, i);
    free_worker(worker);
}

static void work_on_spans(void *argument, int member)
{
    (void)member;
    struct third_shared *shared = argument;
    struct third_worker *worker = new_worker();
    if (worker == NULL)
        return; /* the others do it all, or the row is not known */
    for (size_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->spans;)
        if (!tdc_cancel_is_set(shared->options->cancel) &&
            add_span(worker, shared->row, i, &shared->sums[i]))
            atomic_fetch_add(&shared->done, 1);
    free_worker(worker);
}

/* One row, by all threads. False when out of memory. */
static bool work_together(struct third_run *run, struct tdc_text *path, struct third_sides *row,
                          size_t index)
{
    if (!open_row(run, path, index, row))
        return true; /* changed since */
    struct third_shared shared = {.row = row, .spans = spans_of(row), .options = run->options};
    shared.sums = calloc(shared.spans, sizeof *shared.sums);
    if (shared.sums != NULL)
        tdc_team_run(tdc_team_size(run->options->threads), work_on_spans, &shared);
    bool started = shared.sums != NULL && atomic_load(&shared.next) != 0;
    if (started && atomic_load(&shared.done) == shared.spans) {
        struct tdc_third_sums total = {0};
        for (size_t i = 0; i < shared.spans; i++)
            tdc_third_merge(&total, &shared.sums[i]);
        settle(run, index, &total);
    }
    free(shared.sums);
    close_row(row);
    return started;
}

static bool work_on_large(struct third_run *run)
{
    struct tdc_text path;
    struct third_sides *row = malloc(sizeof *row);
    bool ok = row != NULL;
    tdc_text_init(&path, (size_t)1 << 16);
    for (size_t i = 0; i < run->count && ok; i++)
        if (run->large[i] && !tdc_cancel_is_set(run->options->cancel))
            ok = work_together(run, &path, row, i);
    tdc_text_free(&path);
    free(row);
    return ok;
}

static bool find_partners(struct third_run *run)
{
    size_t count = run->match != NULL ? run->match->npu->record_count : 0;
    run->partners = malloc((count + 1) * sizeof *run->partners);
    if (run->partners == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        run->partners[i] = TDC_UNPAIRED;
    for (size_t i = 0; run->match != NULL && i < run->match->count; i++)
        if (run->match->pairs[i].npu != TDC_UNPAIRED)
            run->partners[run->match->pairs[i].npu] = run->match->pairs[i].bench;
    return true;
}

/* Fills run->rows. */
static tdc_status work_on_all(struct third_run *run, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    bool ended = false;
    run->large = calloc(run->count + 1, sizeof *run->large);
    if (run->large != NULL && find_partners(run)) {
        if (!tdc_guard_begin()) {
            status = tdc_fail(error, TDC_ERR_SYSTEM, "no handler for SIGBUS");
        } else {
            tdc_team_run(tdc_team_size(run->options->threads), work, run);
            ended = atomic_load(&run->next) >= run->count && work_on_large(run);
            tdc_guard_end();
        }
    }
    free(run->partners);
    free(run->large);
    if (status == TDC_OK && tdc_cancel_is_set(run->options->cancel))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    /* whoever has memory does the work: only if nobody had is some of it left */
    return status == TDC_OK && !ended ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory") : status;
}

static tdc_status check_third(const tdc_table *table, const tdc_match *third,
                              struct tdc_error *error)
{
    if (table->match->alignment == NULL && third == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "no third run");
    if (table->mode != TDC_MODE_TENSOR || (third != NULL && third->mode != TDC_MODE_TENSOR))
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "a third run needs real data of all three: dump with task tensor");
    if (third != NULL && third->npu != table->match->npu)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the third run was matched with another dump");
    return TDC_OK;
}

tdc_status tdc_third_of_rows(tdc_table *table, const tdc_match *third, const size_t *rows,
                             size_t count, const struct tdc_options *options,
                             struct tdc_third_row *found, struct tdc_error *error)
{
    struct tdc_options whole;
    struct third_run run = {.table = table,
                            .match = third,
                            .chosen = rows,
                            .count = count,
                            .rows = found,
                            .options = &whole};
    memset(found, 0, count * sizeof *found);
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status == TDC_OK)
        status = check_third(table, third, error);
    return status == TDC_OK ? work_on_all(&run, error) : status;
}

tdc_status tdc_table_third(tdc_table *table, tdc_third kind, const tdc_match *third,
                           const struct tdc_options *options, struct tdc_error *error)
{
    if (kind != TDC_THIRD_TRUTH && kind != TDC_THIRD_NOISE)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "a third run is a truth or noise");
    struct tdc_third_row *rows = calloc(table->row_count + 1, sizeof *rows);
    tdc_status status =
        rows != NULL ? tdc_third_of_rows(table, third, NULL, table->row_count, options, rows, error)
                     : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status != TDC_OK) {
        free(rows);
        return status;
    }
    struct tdc_third_row **place = kind == TDC_THIRD_TRUTH ? &table->truth : &table->noise;
    free(*place);
    *place = rows;
    if (kind == TDC_THIRD_NOISE) { /* noise explains distances that origins would be told from */
        tdc_origins_free(table->origins);
        table->origins = NULL;
    }
    tdc_columns_choose(table);
    return TDC_OK;
}

bool tdc_table_third_row(const tdc_table *table, tdc_third kind, size_t row,
                         struct tdc_third_row *numbers)
{
    const struct tdc_third_row *rows = kind == TDC_THIRD_TRUTH   ? table->truth
                                       : kind == TDC_THIRD_NOISE ? table->noise
                                                                 : NULL;
    if (rows == NULL || !rows[row].known)
        return false;
    *numbers = rows[row];
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

tdc_status tdc_truth_write(const tdc_table *table, const char *path, struct tdc_error *error)
{
    if (table->truth == NULL)
        return tdc_fail(error, TDC_ERR_NOTHING, "%s: there is no truth", path);
    const struct tdc_sink_spec spec = {.path = path,
                                       .exclusive = true,
                                       .columns = tdc_truth_columns,
                                       .column_count = TDC_TRUTH_COLUMNS,
                                       .rows = table->row_count,
                                       .escape_formulas = true};
    struct tdc_sink *sink;
    tdc_status status = tdc_sink_open(TDC_FORMAT_CSV, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < table->row_count && status == TDC_OK; i++) {
        const struct tdc_third_row *row = &table->truth[i];
        if (!row->known)
            continue;
        struct tdc_cell cells[TDC_TRUTH_COLUMNS];
        tdc_truth_cells(tdc_row_npu(table, &table->rows[i])->name, row, cells);
        status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    if (status == TDC_OK)
        return tdc_sink_close(sink, error);
    tdc_sink_discard(sink);
    return status;
}
