/*
 * third_run.c - the rows of a table against a third run, before they are judged.
 *
 * A thread takes a row and goes through its three tensors block by block; blocks are merged in
 * order, so nothing depends on the number of threads. What cannot be read, or has another shape, is
 * left out here: the row itself tells.
 */
#include <stdlib.h>
#include <string.h>

#include "host/api/options.h"
#include "host/engine/job_path.h"
#include "host/judge/third.h"
#include "host/table/aligned.h"
#include "host/table/table.h"
#include "io/base/error.h"
#include "io/base/team.h"
#include "io/file/mapping_guard.h"
#include "io/table/sink.h"
#include "kernels/dtype.h"

enum {
    BLOCK = 4096,
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
    struct tdc_span_buffer buffer;
    double values[BLOCK];
    bool open;
};

struct third_worker {
    struct third_side sides[SIDES];
    struct tdc_text path;
    struct tdc_third_sums sums;
    /* of the block that is being added */
    const void *elements[SIDES];
    size_t count;
};

struct third_run {
    struct tdc_table *table;
    const struct tdc_match *match; /* of A with C */
    uint32_t *partners;            /* by record of A: that of C, or TDC_UNPAIRED */
    struct tdc_third_row *rows;
    const struct tdc_options *options;
    atomic_size_t next;
    atomic_bool failed;
};

static bool open_side(struct third_worker *worker, struct third_side *side, tdc_io io)
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
            tdc_job_path(&worker->path, side->dump->data_folder, record->data_name, &ignored);
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

static void widen(tdc_dtype dtype, const void *elements, size_t count, double *values)
{
    const unsigned char *bytes = elements;
    size_t size = tdc_dtype_size(dtype);
    for (size_t i = 0; i < count; i++) {
        float single;
        if (dtype == TDC_F64) {
            memcpy(&values[i], bytes + i * size, size);
        } else if (dtype == TDC_F32) {
            memcpy(&single, bytes + i * size, size);
            values[i] = (double)single;
        } else {
            double imaginary;
            values[i] = tdc_element_value(dtype, bytes + i * size, &imaginary);
        }
    }
}

/* Reads what is mapped: inside tdc_guarded_read. */
static void add_block(void *argument)
{
    struct third_worker *worker = argument;
    struct tdc_grain grains[SIDES];
    for (int i = 0; i < SIDES; i++) {
        struct third_side *side = &worker->sides[i];
        widen(tdc_source_dtype(&side->tensor), worker->elements[i], worker->count, side->values);
        grains[i] = tdc_grain_of(tdc_dtype_at_end(side->dtype));
    }
    tdc_third_add(&worker->sums, worker->sides[0].values, worker->sides[1].values,
                  worker->sides[2].values, worker->count, grains[0], grains[1]);
}

/* All elements, a chunk of blocks at a time. */
static bool add_all(struct third_worker *worker, struct tdc_third_sums *total)
{
    uint64_t count = worker->sides[0].tensor.count;
    for (uint64_t first = 0; first < count; first += BLOCK) {
        uint64_t left = count - first;
        worker->count = left < BLOCK ? (size_t)left : BLOCK;
        worker->sums = (struct tdc_third_sums){0};
        for (int i = 0; i < SIDES; i++)
            if (tdc_source_get(&worker->sides[i].source, first, worker->count,
                               &worker->sides[i].buffer, &worker->elements[i]) != TDC_CHUNK_DONE)
                return false;
        if (!tdc_guarded_read(add_block, worker))
            return false;
        tdc_third_merge(total, &worker->sums);
    }
    return true;
}

/* Which three tensors a row is of; false: not all are there. */
static bool choose_sides(const struct third_run *run, struct third_worker *worker, size_t index)
{
    const struct tdc_table *table = run->table;
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, index);
    for (int i = 0; i < SIDES && aligned != NULL; i++) {
        worker->sides[i].whole = aligned->sides[i];
        worker->sides[i].dtype = aligned->dtypes[i];
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
        struct third_side *side = &worker->sides[i];
        side->dump = dumps[i];
        side->record = &dumps[i]->records[records[i]];
        side->dtype = side->record->dtype;
    }
    return true;
}

static void work_on_row(struct third_run *run, struct third_worker *worker, size_t index)
{
    if (!choose_sides(run, worker, index))
        return;
    bool ready = true;
    for (int i = 0; i < SIDES; i++) {
        worker->sides[i].open = false;
        ready = ready && open_side(worker, &worker->sides[i], run->options->io) &&
                same_shape(&worker->sides[0].tensor, &worker->sides[i].tensor);
    }
    struct tdc_third_sums total = {0};
    if (ready && worker->sides[0].tensor.count != 0 && add_all(worker, &total)) {
        tdc_third_settle(&total, &run->rows[index]);
        run->rows[index].known = true;
    }
    for (int i = 0; i < SIDES; i++)
        if (worker->sides[i].open) {
            tdc_tensor_close(&worker->sides[i].tensor);
            tdc_assembled_close(worker->sides[i].assembled);
        }
}

static void work(void *argument, int member)
{
    (void)member;
    struct third_run *run = argument;
    struct third_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        atomic_store(&run->failed, true);
        return;
    }
    tdc_text_init(&worker->path, (size_t)1 << 16);
    for (size_t i; (i = atomic_fetch_add(&run->next, 1)) < run->table->row_count;)
        if (!tdc_cancel_is_set(run->options->cancel))
            work_on_row(run, worker, i);
    tdc_text_free(&worker->path);
    for (int i = 0; i < SIDES; i++)
        tdc_span_buffer_free(&worker->sides[i].buffer);
    free(worker);
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

tdc_status tdc_table_third(tdc_table *table, tdc_third kind, const tdc_match *third,
                           const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    if (kind != TDC_THIRD_TRUTH && kind != TDC_THIRD_NOISE)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "a third run is a truth or noise");
    bool aligned = table->match->alignment != NULL;
    if (!aligned && third == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "no third run");
    if (table->mode != TDC_MODE_TENSOR || (third != NULL && third->mode != TDC_MODE_TENSOR))
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "a third run needs real data of all three: dump with task tensor");
    if (third != NULL && third->npu != table->match->npu)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the third run was matched with another dump");
    struct third_run run = {.table = table, .match = third, .options = &whole};
    run.rows = calloc(table->row_count + 1, sizeof *run.rows);
    if (run.rows == NULL || !find_partners(&run))
        atomic_store(&run.failed, true);
    else if (!tdc_guard_begin())
        status = tdc_fail(error, TDC_ERR_SYSTEM, "no handler for SIGBUS");
    else {
        tdc_team_run(tdc_team_size(whole.threads), work, &run);
        tdc_guard_end();
    }
    if (status == TDC_OK && tdc_cancel_is_set(whole.cancel))
        status = tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    /* whoever has memory does the work: only if nobody had is some of it left */
    if (status == TDC_OK &&
        (run.rows == NULL || run.partners == NULL || atomic_load(&run.next) < table->row_count))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    free(run.partners);
    if (status != TDC_OK) {
        free(run.rows);
        return status;
    }
    struct tdc_third_row **place = kind == TDC_THIRD_TRUTH ? &table->truth : &table->noise;
    free(*place);
    *place = run.rows;
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

static struct tdc_cell number(double value)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = value};
}

static struct tdc_cell text(const char *value)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = value, .length = strlen(value)};
}

tdc_status tdc_truth_write(const tdc_table *table, const char *path, struct tdc_error *error)
{
    static const char *const columns[] = {"name",    "elements", "rmse_a",   "rmse_b", "noise_a",
                                          "noise_b", "a_nearer", "b_nearer", "equal",  "nearer"};
    enum {
        COLUMNS = sizeof columns / sizeof *columns
    };
    if (table->truth == NULL)
        return tdc_fail(error, TDC_ERR_NOTHING, "%s: there is no truth", path);
    const struct tdc_sink_spec spec = {.path = path,
                                       .exclusive = true,
                                       .columns = columns,
                                       .column_count = COLUMNS,
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
        const struct tdc_cell cells[COLUMNS] = {
            text(tdc_row_npu(table, &table->rows[i])->name),
            number((double)row->elements),
            number(row->rmse_a),
            number(row->rmse_b),
            number(row->noise_a),
            number(row->noise_b),
            number((double)row->a_nearer),
            number((double)row->b_nearer),
            number((double)row->equal),
            text(tdc_nearer_text(row->nearer)),
        };
        status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    if (status == TDC_OK)
        return tdc_sink_close(sink, error);
    tdc_sink_discard(sink);
    return status;
}
