#include "host/torchair/report_row.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/source.h"
#include "host/graph/files/ge_statistics.h"
#include "host/torchair/float_table.h"
#include "io/base/error.h"
#include "io/base/team.h"
#include "io/base/text.h"
#include "io/file/mapping_guard.h"
#include "io/tensor/ge/ge_dump.h"
#include "kernels/dtype.h"

#define PIECE     ((uint64_t)1 << 20) /* elements that a thread takes at once: part of the result */
#define AT_ONCE   ((size_t)4096)      /* elements that are float32 at a time: likewise */
#define LENGTHS   "data shape doesn't match."
#define BAD_DTYPE "unsupported npy dtype"

/* The sums of some elements of a row, by side and of both. */
struct piece {
    size_t row;
    uint64_t first;
    struct tdc_lone_sums golden, mine;
    struct tdc_soft_sums both;
};

struct filling {
    struct tdc_report_row *rows;
    size_t count;
    const struct tdc_report_style *style;
    const struct tdc_options *options;
    struct piece *pieces; /* of the second round: rows that are larger than one */
    size_t piece_count;
    pthread_mutex_t lock;
    size_t next; /* row or piece */
    atomic_bool no_memory;
};

struct open_side {
    struct tdc_tensor tensor;
    struct tdc_source source;
    struct tdc_span_buffer buffer;
    struct tdc_tensor_scratch *scratch;
    tdc_dtype dtype;
    bool open;
};

struct worker {
    struct filling *filling;
    struct open_side golden, mine;
    struct tdc_float_tables tables;
    size_t opened; /* row + 1 of the second round */
    float g[AT_ONCE], m[AT_ONCE];
};

/* ---- a side ---------------------------------------------------------------------------------- */

static const char *dtype_text(const struct tdc_tensor *tensor, bool ge,
                              const struct tdc_report_style *style)
{
    if (tensor->coding == TDC_CODING_INT4)
        return "torch.int8";
    if (tensor->coding == TDC_CODING_UINT1)
        return "torch.uint8";
    tdc_dtype dtype = tdc_source_dtype(tensor);
    if (ge && dtype == TDC_U16)
        return style->u16;
    if (ge && dtype == TDC_U32)
        return style->u32;
    if (ge && dtype == TDC_BF16)
        return "torch.float32";
    if (ge && (dtype == TDC_F8_E4M3 || dtype == TDC_F8_E5M2))
        return "torch.float64";
    const char *text = tdc_dtype_entry(dtype)->torch;
    return text != NULL ? text : tdc_dtype_entry(dtype)->name;
}

char *tdc_report_shape(const uint64_t *sizes, size_t dimensions)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 12);
    tdc_text_addc(&text, '[');
    tdc_text_add_sizes(&text, sizes, dimensions, ", ");
    tdc_text_addc(&text, ']');
    char *copy = text.failed ? NULL : strdup(tdc_text_get(&text));
    tdc_text_free(&text);
    return copy;
}

static bool is_ge(const char *name)
{
    return tdc_ge_name(name, &(size_t){0}, &(enum tdc_ge_list){0}, &(uint64_t){0});
}

static void set_reason(struct worker *worker, struct tdc_report_row *row, const char *text)
{
    if (row->reason == NULL)
        row->reason = strdup(text);
    if (row->reason == NULL)
        worker->filling->no_memory = true;
}

static void close_side(struct open_side *side)
{
    if (side->open)
        tdc_tensor_close(&side->tensor);
    side->open = false;
}

/* Opens the tensor of a side; large files are mapped, small ones read. */
static tdc_status open_side(struct worker *worker, struct open_side *side, const char *name,
                            struct tdc_error *error)
{
    size_t length = strlen(name);
    bool pth = length > 4 && strcmp(name + length - 4, ".pth") == 0;
    tdc_status status =
        pth ? tdc_tensor_open(name, TDC_TENSOR_PT, &side->tensor, error)
            : tdc_tensor_open_with(side->scratch, name, NULL, NULL, &side->tensor, error);
    side->open = status == TDC_OK;
    if (status != TDC_OK)
        return status;
    if (side->tensor.coding == TDC_CODING_HIF8)
        side->tensor.coding = TDC_CODING_HIF8_LOOSE;
    side->dtype = tdc_source_dtype(&side->tensor);
    tdc_source_open(&side->source, &side->tensor, worker->filling->options->io);
    if (!tdc_float_tables_prepare(&worker->tables, side->dtype)) {
        close_side(side);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", name);
    }
    return TDC_OK;
}

/* Opens and describes a side of a row; what is wrong with it is the row's reason. */
static void take_side(struct worker *worker, struct open_side *side, struct tdc_report_row *row,
                      struct tdc_report_side *to)
{
    struct tdc_error error = {0};
    tdc_lone_clear(&to->sums);
    if (to->name == NULL)
        return;
    if (tdc_is_ge_statistic(to->name)) {
        struct tdc_error why = {0};
        tdc_status read = tdc_report_written_side(to, &why);
        worker->filling->no_memory = worker->filling->no_memory || read == TDC_ERR_MEMORY;
        set_reason(worker, row,
                   read == TDC_OK ? "statistics were dumped, not tensors: there are no metrics."
                                  : why.message);
        return;
    }
    tdc_status status = open_side(worker, side, to->name, &error);
    bool ge = is_ge(to->name);
    if (status == TDC_OK && side->tensor.dtype == TDC_TEXT) {
        close_side(side);
        status = TDC_ERR_UNSUPPORTED;
    }
    if (status != TDC_OK) {
        if (status == TDC_ERR_MEMORY)
            worker->filling->no_memory = true;
        set_reason(worker, row,
                   status == TDC_ERR_UNSUPPORTED && tdc_ends_in(to->name, ".npy") ? BAD_DTYPE
                                                                                  : error.message);
        return;
    }
    to->dtype = dtype_text(&side->tensor, ge, worker->filling->style);
    to->shape = tdc_report_shape(side->tensor.shape, side->tensor.dimensions);
    to->count = side->tensor.count;
    if (to->shape == NULL)
        worker->filling->no_memory = true;
}

/* ---- elements -------------------------------------------------------------------------------- */

struct reading {
    struct worker *worker;
    const void *golden, *mine; /* NULL: that side is not wanted */
    size_t count;
    struct piece *piece;
};

static void reduce(void *argument)
{
    const struct reading *reading = argument;
    struct worker *worker = reading->worker;
    size_t g_size = tdc_dtype_size(worker->golden.dtype),
           m_size = tdc_dtype_size(worker->mine.dtype);
    for (size_t first = 0; first < reading->count; first += AT_ONCE) {
        size_t count = reading->count - first < AT_ONCE ? reading->count - first : AT_ONCE;
        if (reading->golden != NULL) {
            tdc_floats_of(&worker->tables, worker->golden.dtype,
                          (const char *)reading->golden + first * g_size, count, worker->g);
            tdc_lone_add(&reading->piece->golden, worker->g, count);
        }
        if (reading->mine != NULL) {
            tdc_floats_of(&worker->tables, worker->mine.dtype,
                          (const char *)reading->mine + first * m_size, count, worker->m);
            tdc_lone_add(&reading->piece->mine, worker->m, count);
        }
        if (reading->golden != NULL && reading->mine != NULL)
            tdc_soft_add(&reading->piece->both, worker->g, worker->m, count);
    }
}

/* Some elements of a side, or none: *elements stays NULL. */
static enum tdc_chunk_result get_elements(struct open_side *side, uint64_t first, uint64_t count,
                                          const void **elements)
{
    *elements = NULL;
    if (!side->open || count == 0)
        return TDC_CHUNK_DONE;
    return tdc_source_get(&side->source, first, (size_t)count, &side->buffer, elements);
}

static uint64_t part_of(uint64_t count, uint64_t first)
{
    uint64_t left = first < count ? count - first : 0;
    return left < PIECE ? left : PIECE;
}

static const char *chunk_problem(enum tdc_chunk_result result)
{
    return result == TDC_CHUNK_NO_MEMORY     ? "out of memory"
           : result == TDC_CHUNK_NOT_NUMBERS ? "not numbers"
                                             : "a file changed while it was read";
}

/* Both sides together where they are equally long, else one after the other. */
static void reduce_piece(struct worker *worker, struct tdc_report_row *row, struct piece *piece)
{
    struct open_side *golden = &worker->golden, *mine = &worker->mine;
    uint64_t g_count = part_of(row->golden.count, piece->first);
    uint64_t m_count = part_of(row->mine.count, piece->first);
    bool together = golden->open && mine->open && row->golden.count == row->mine.count;
    enum tdc_chunk_result result = TDC_CHUNK_DONE;
    tdc_lone_clear(&piece->golden);
    tdc_lone_clear(&piece->mine);
    tdc_soft_clear(&piece->both);
    for (int turn = 0; turn < (together ? 1 : 2) && result == TDC_CHUNK_DONE; turn++) {
        struct reading reading = {.worker = worker, .piece = piece};
        if (together || turn == 0)
            result = get_elements(golden, piece->first, g_count, &reading.golden);
        if (result == TDC_CHUNK_DONE && (together || turn == 1))
            result = get_elements(mine, piece->first, m_count, &reading.mine);
        reading.count = (size_t)(reading.golden != NULL ? g_count : m_count);
        if (result == TDC_CHUNK_DONE && (reading.golden != NULL || reading.mine != NULL) &&
            !tdc_guarded_read(reduce, &reading))
            result = TDC_CHUNK_VANISHED;
    }
    if (golden->open)
        tdc_source_release(&golden->source, piece->first, g_count);
    if (mine->open)
        tdc_source_release(&mine->source, piece->first, m_count);
    if (result != TDC_CHUNK_DONE) {
        pthread_mutex_lock(&worker->filling->lock);
        set_reason(worker, row, chunk_problem(result));
        pthread_mutex_unlock(&worker->filling->lock);
    }
}

/* ---- a row ----------------------------------------------------------------------------------- */

static uint64_t pieces_of(const struct tdc_report_row *row)
{
    uint64_t longest = row->golden.count > row->mine.count ? row->golden.count : row->mine.count;
    return (longest + PIECE - 1) / PIECE;
}

static void take_sums(struct tdc_report_row *row, struct tdc_soft_sums *both,
                      const struct piece *piece)
{
    tdc_lone_merge(&row->golden.sums, &piece->golden);
    tdc_lone_merge(&row->mine.sums, &piece->mine);
    tdc_soft_merge(both, &piece->both);
}

/* What the checks of the old tools say, in one text; else the metrics. */
static void judge(struct filling *filling, struct tdc_report_row *row,
                  const struct tdc_soft_sums *both)
{
    const struct tdc_lone_sums *g = &row->golden.sums, *m = &row->mine.sums;
    char text[160];
    if (row->reason != NULL || row->golden.shape == NULL || row->mine.shape == NULL)
        return;
    bool apart = row->golden.count != row->mine.count;
    bool golden = g->nan + g->inf != 0, mine = m->nan + m->inf != 0;
    if (apart || golden || mine) {
        snprintf(text, sizeof text, "%s%s%s%s%s", apart ? LENGTHS : "",
                 apart && (golden || mine) ? " " : "",
                 golden ? "golden_data includes NAN or inf." : "", golden && mine ? " " : "",
                 mine ? "my_data includes NAN or inf." : "");
        row->reason = strdup(text);
        if (row->reason == NULL)
            filling->no_memory = true;
        return;
    }
    if (row->golden.count == 0)
        return;
    tdc_soft_metrics(both, row->golden.count, row->metrics);
    row->judged = true;
}

/* First round: a row is opened and described, and reduced unless it is large. */
static void do_row(struct worker *worker, size_t index)
{
    struct filling *filling = worker->filling;
    struct tdc_report_row *row = &filling->rows[index];
    take_side(worker, &worker->golden, row, &row->golden);
    take_side(worker, &worker->mine, row, &row->mine);
    if (pieces_of(row) <= 1) {
        struct piece piece = {.row = index};
        struct tdc_soft_sums both;
        tdc_soft_clear(&both);
        reduce_piece(worker, row, &piece);
        take_sums(row, &both, &piece);
        judge(filling, row, &both);
        if (filling->options->progress != NULL)
            filling->options->progress(filling->options->context, 1, 0);
    }
    close_side(&worker->golden);
    close_side(&worker->mine);
}

/* Second round: a piece of a large row. */
static void do_piece(struct worker *worker, size_t index)
{
    struct filling *filling = worker->filling;
    struct piece *piece = &filling->pieces[index];
    struct tdc_report_row *row = &filling->rows[piece->row];
    if (worker->opened != piece->row + 1) {
        struct tdc_error error;
        close_side(&worker->golden);
        close_side(&worker->mine);
        worker->opened = piece->row + 1;
        bool changed = (row->golden.shape != NULL && !row->golden.written &&
                        (open_side(worker, &worker->golden, row->golden.name, &error) != TDC_OK ||
                         worker->golden.tensor.count != row->golden.count)) ||
                       (row->mine.shape != NULL && !row->mine.written &&
                        (open_side(worker, &worker->mine, row->mine.name, &error) != TDC_OK ||
                         worker->mine.tensor.count != row->mine.count));
        if (changed) {
            close_side(&worker->golden);
            close_side(&worker->mine);
            pthread_mutex_lock(&filling->lock);
            set_reason(worker, row, chunk_problem(TDC_CHUNK_VANISHED));
            pthread_mutex_unlock(&filling->lock);
        }
    }
    reduce_piece(worker, row, piece);
}

/* ---- all rows -------------------------------------------------------------------------------- */

static bool take_next(struct filling *filling, size_t count, size_t *index)
{
    pthread_mutex_lock(&filling->lock);
    bool more = filling->next < count && !filling->no_memory &&
                !tdc_cancel_is_set(filling->options->cancel);
    if (more)
        *index = filling->next++;
    pthread_mutex_unlock(&filling->lock);
    return more;
}

static void work(void *argument, int member)
{
    (void)member;
    struct filling *filling = argument;
    struct worker *worker = calloc(1, sizeof *worker);
    size_t index;
    if (worker != NULL) {
        worker->filling = filling;
        worker->golden.scratch = tdc_tensor_scratch_new();
        worker->mine.scratch = tdc_tensor_scratch_new();
    }
    if (worker == NULL || worker->golden.scratch == NULL || worker->mine.scratch == NULL) {
        pthread_mutex_lock(&filling->lock);
        filling->no_memory = true;
        pthread_mutex_unlock(&filling->lock);
    } else if (filling->pieces == NULL) {
        while (take_next(filling, filling->count, &index))
            do_row(worker, index);
    } else {
        while (take_next(filling, filling->piece_count, &index))
            do_piece(worker, index);
    }
    if (worker == NULL)
        return;
    struct open_side *sides[] = {&worker->golden, &worker->mine};
    for (size_t i = 0; i < 2; i++) {
        close_side(sides[i]);
        tdc_span_buffer_free(&sides[i]->buffer);
        tdc_tensor_scratch_free(sides[i]->scratch);
    }
    tdc_float_tables_free(&worker->tables);
    free(worker);
}

/* Pieces of all rows that the first round left alone. */
static bool cut_rows(struct filling *filling)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < filling->count; i++) {
        uint64_t pieces = pieces_of(&filling->rows[i]);
        count += pieces > 1 ? (size_t)pieces : 0;
    }
    filling->piece_count = count;
    if (count == 0)
        return true;
    filling->pieces = calloc(count, sizeof *filling->pieces);
    for (size_t i = 0; i < filling->count && filling->pieces != NULL; i++) {
        uint64_t pieces = pieces_of(&filling->rows[i]);
        for (uint64_t k = 0; k < pieces && pieces > 1; k++)
            filling->pieces[at++] = (struct piece){.row = i, .first = k * PIECE};
    }
    return filling->pieces != NULL;
}

static void join_pieces(struct filling *filling)
{
    for (size_t i = 0; i < filling->piece_count;) {
        struct tdc_report_row *row = &filling->rows[filling->pieces[i].row];
        struct tdc_soft_sums both;
        size_t index = filling->pieces[i].row;
        tdc_soft_clear(&both);
        for (; i < filling->piece_count && filling->pieces[i].row == index; i++)
            take_sums(row, &both, &filling->pieces[i]);
        judge(filling, row, &both);
    }
}

static tdc_status result_of(const struct filling *filling, struct tdc_error *error)
{
    if (tdc_cancel_is_set(filling->options->cancel))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    return filling->no_memory ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory") : TDC_OK;
}

tdc_status tdc_report_rows_fill(struct tdc_report_row *rows, size_t count,
                                const struct tdc_report_style *style,
                                const struct tdc_options *options, struct tdc_error *error)
{
    struct filling filling = {.rows = rows, .count = count, .style = style, .options = options};
    int threads = tdc_team_size(options->threads);
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    pthread_mutex_init(&filling.lock, NULL);
    tdc_team_run(threads, work, &filling);
    tdc_status status = result_of(&filling, error);
    if (status == TDC_OK && !cut_rows(&filling))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK && filling.piece_count != 0) {
        filling.next = 0;
        tdc_team_run(threads, work, &filling);
        status = result_of(&filling, error);
        if (status == TDC_OK)
            join_pieces(&filling);
    }
    free(filling.pieces);
    pthread_mutex_destroy(&filling.lock);
    tdc_guard_end();
    return status;
}

void tdc_report_row_free(struct tdc_report_row *row)
{
    free(row->golden.shape);
    free(row->mine.shape);
    free(row->reason);
}

bool tdc_report_row_dropped(const struct tdc_report_row *row)
{
    bool golden = row->golden.dtype != NULL && strcmp(row->golden.dtype, "torch.int8") == 0;
    bool mine = row->mine.dtype != NULL && strcmp(row->mine.dtype, "torch.int8") == 0;
    bool both = row->golden.dtype != NULL && row->mine.dtype != NULL;
    return (row->reason != NULL && strcmp(row->reason, LENGTHS) == 0) || (both && golden != mine);
}
