/* kernel_compare.c - kernel dumps of MindSpore: a table for each rank and step of both sides. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel_dump/kernel_cells.h"
#include "host/kernel_dump/kernel_places.h"
#include "io/base/error.h"
#include "io/file/out_file.h"

#define ARENA_LIMIT ((size_t)8 << 30)

struct work {
    struct tdc_arena arena;
    struct tdc_kernel_places npu, bench;
    const struct tdc_kernel_choice *choice;
    const struct tdc_options *options;
    const char *output;
    tdc_format format;
    size_t tables;
};

/* ---- one table ------------------------------------------------------------------------------- */

/* Items of both sides in the order of their keys; NULL where one side has none. */
struct line {
    const struct tdc_kernel_item *npu, *bench;
};

static struct line *join(const struct tdc_kernel_list *npu, const struct tdc_kernel_list *bench,
                         size_t *count)
{
    struct line *lines = calloc(npu->count + bench->count + 1, sizeof *lines);
    *count = 0;
    for (size_t n = 0, b = 0; lines != NULL && (n < npu->count || b < bench->count);) {
        int order = n == npu->count     ? 1
                    : b == bench->count ? -1
                                        : tdc_kernel_order(&npu->items[n], &bench->items[b]);
        lines[*count].npu = order <= 0 ? &npu->items[n++] : NULL;
        lines[(*count)++].bench = order >= 0 ? &bench->items[b++] : NULL;
    }
    return lines;
}

static const char *const base_columns[] = {
    "NPU Name",           "Bench Name", "NPU Dtype",  "Bench Dtype",  "NPU Tensor Shape",
    "Bench Tensor Shape", "NPU max",    "NPU min",    "NPU mean",     "NPU l2norm",
    "Bench max",          "Bench min",  "Bench mean", "Bench l2norm", "Accuracy Reached or Not",
    "Err_message"};
static const char *const file_columns[] = {"Cosine",
                                           "EucDist",
                                           "MaxAbsErr",
                                           "MaxRelativeErr",
                                           "One Thousandth Err Ratio",
                                           "Five Thousandths Err Ratio"};
static const char *const statistic_columns[] = {
    "Max diff",       "Min diff",        "Mean diff",       "L2norm diff",  "MaxRelativeErr",
    "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr", "NPU CSV File", "Bench CSV File"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void put_files(struct tdc_kernel_cells *row, const struct tdc_kernel_pair *pair,
                      bool brackets)
{
    const struct tdc_kernel_side *npu = &pair->npu, *bench = &pair->bench;
    tdc_kernel_put_text(row, npu->path);
    tdc_kernel_put_text(row, bench->path);
    tdc_kernel_put_text(row, npu->read ? tdc_dtype_name(npu->dtype) : NULL);
    tdc_kernel_put_text(row, bench->read ? tdc_dtype_name(bench->dtype) : NULL);
    tdc_kernel_put_shape(row, npu, brackets);
    tdc_kernel_put_shape(row, bench, brackets);
    tdc_kernel_put_stats(row, npu);
    tdc_kernel_put_stats(row, bench);
    tdc_kernel_put_text(row, pair->verdict);
    tdc_kernel_put_text(row, pair->message);
    for (int i = 0; i < TDC_TENSOR_VALUES; i++)
        tdc_kernel_put_value(row, pair->compared ? pair->values[i] : (struct tdc_value){0});
}

static void put_relative(struct tdc_kernel_cells *row, float difference, float bench)
{
    float relative = difference / bench;
    if (bench == 0 || isnan(relative)) {
        tdc_kernel_put_text(row, bench == 0 ? "N/A" : "Nan");
        return;
    }
    struct tdc_text text;
    tdc_text_init(&text, 64);
    tdc_kernel_number(&text, (double)fabsf(relative * 100), true);
    tdc_text_addc(&text, '%');
    tdc_kernel_put_text(row, tdc_text_get(&text));
    tdc_text_free(&text);
}

/* Two lines of statistic.csv; a missing one has neither shape nor type. */
static void put_statistics(struct tdc_kernel_cells *row, const struct line *line)
{
    static const struct tdc_kernel_item none = {.stats = {NAN, NAN, NAN, NAN}};
    const struct tdc_kernel_item *n = line->npu != NULL ? line->npu : &none;
    const struct tdc_kernel_item *b = line->bench != NULL ? line->bench : &none;
    char message[256] = "";
    bool no_shape =
        (n->shape != NULL && n->shape[0] == '\0') || (b->shape != NULL && b->shape[0] == '\0');
    if (no_shape)
        strcat(message, "This is type of scalar data, can not compare.\n");
    else if (n->shape == NULL || b->shape == NULL || strcmp(n->shape, b->shape) != 0)
        strcat(message, "Tensor shapes do not match.\n");
    if (n->dtype == NULL || b->dtype == NULL || strcmp(n->dtype, b->dtype) != 0)
        strcat(message, "Dtype of NPU and bench Tensor do not match. Skipped.\n");
    bool good = message[0] == '\0';
    float most = b->stats[TDC_MAX] > n->stats[TDC_MAX] ? b->stats[TDC_MAX] : n->stats[TDC_MAX];
    double off = (double)(n->stats[TDC_MAX] - b->stats[TDC_MAX]) / ((double)most + 1e-10);
    if (isnan(n->stats[TDC_MAX]) && isnan(b->stats[TDC_MAX]))
        off = 0;
    tdc_kernel_put_text(row, n->key);
    tdc_kernel_put_text(row, b->key);
    tdc_kernel_put_text(row, n->dtype);
    tdc_kernel_put_text(row, b->dtype);
    tdc_kernel_put_text(row, n->shape);
    tdc_kernel_put_text(row, b->shape);
    for (int i = 0; i < TDC_STATISTICS; i++)
        tdc_kernel_put_number(row, (double)n->stats[i], true);
    for (int i = 0; i < TDC_STATISTICS; i++)
        tdc_kernel_put_number(row, (double)b->stats[i], true);
    tdc_kernel_put_text(row, !good ? "" : off <= 0.5 ? "Yes" : "No");
    tdc_kernel_put_text(row, message);
    for (int i = 0; i < TDC_STATISTICS; i++)
        tdc_kernel_put_number(row, good ? (double)(n->stats[i] - b->stats[i]) : (double)NAN, true);
    for (int i = 0; i < TDC_STATISTICS; i++) {
        if (good)
            put_relative(row, n->stats[i] - b->stats[i], b->stats[i]);
        else
            tdc_kernel_put_text(row, NULL);
    }
    tdc_kernel_put_text(row, n->path);
    tdc_kernel_put_text(row, b->path);
}

static tdc_status write_rows(const struct work *work, struct tdc_sink *sink,
                             const struct line *lines, const struct tdc_kernel_pair *pairs,
                             size_t count, struct tdc_error *error)
{
    struct tdc_kernel_cells row;
    tdc_status status = TDC_OK;
    tdc_kernel_cells_init(&row);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        tdc_kernel_cells_begin(&row);
        if (pairs != NULL)
            put_files(&row, &pairs[i], work->choice->brackets);
        else
            put_statistics(&row, &lines[i]);
        status = tdc_kernel_cells_good(&row) ? tdc_sink_row(sink, row.cells, TDC_COLOUR_NONE, error)
                                             : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    tdc_kernel_cells_free(&row);
    return status;
}

static tdc_status write_table(struct work *work, const struct tdc_kernel_place *place,
                              const struct line *lines, const struct tdc_kernel_pair *pairs,
                              size_t count, struct tdc_error *error)
{
    const char *columns[TDC_KERNEL_CELLS];
    size_t more = pairs != NULL ? COUNT(file_columns) : COUNT(statistic_columns);
    memcpy(columns, base_columns, sizeof base_columns);
    memcpy(columns + COUNT(base_columns), pairs != NULL ? file_columns : statistic_columns,
           more * sizeof *columns);
    tdc_stamp *stamp = NULL;
    struct tdc_text path;
    tdc_text_init(&path, (size_t)1 << 16);
    tdc_status status = tdc_stamp_new(work->output, &stamp, error);
    if (status == TDC_OK) {
        tdc_text_addf(&path, "%s/compare_result_%ld_%ld_%s.%s", work->output, place->rank,
                      place->step, tdc_stamp_text(stamp),
                      work->format == TDC_FORMAT_XLSX ? "xlsx" : "csv");
        struct tdc_sink_spec spec = {.path = tdc_text_get(&path),
                                     .exclusive = true,
                                     .columns = columns,
                                     .column_count = COUNT(base_columns) + more,
                                     .rows = count,
                                     .sheet = "Sheet1",
                                     .header_style = true};
        struct tdc_sink *sink = NULL;
        status = path.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory")
                             : tdc_sink_open(work->format, &spec, &sink, error);
        if (status == TDC_OK)
            status = write_rows(work, sink, lines, pairs, count, error);
        if (status == TDC_OK)
            status = tdc_sink_close(sink, error);
        else
            tdc_sink_discard(sink);
        if (status == TDC_OK && work->options->message != NULL)
            work->options->message(work->options->context, TDC_MESSAGE_INFO, tdc_text_get(&path));
        tdc_stamp_free(stamp);
    }
    tdc_text_free(&path);
    return status;
}

static struct tdc_kernel_side side_of(const struct tdc_kernel_item *item)
{
    return item == NULL ? (struct tdc_kernel_side){0}
                        : (struct tdc_kernel_side){
                              .path = item->path, .folder = item->folder, .file = item->file};
}

static tdc_status compare_place(struct work *work, const struct tdc_kernel_place *place,
                                const struct tdc_kernel_list *npu,
                                const struct tdc_kernel_list *bench, struct tdc_error *error)
{
    size_t count;
    struct line *lines = join(npu, bench, &count);
    struct tdc_kernel_pair *pairs = NULL;
    tdc_status status = TDC_OK;
    if (lines != NULL && npu->mode == TDC_KERNEL_FILES) {
        pairs = calloc(count + 1, sizeof *pairs);
        for (size_t i = 0; i < count && pairs != NULL; i++)
            pairs[i] = (struct tdc_kernel_pair){
                .npu = side_of(lines[i].npu), .bench = side_of(lines[i].bench), .strict = true};
    }
    if (lines == NULL || (npu->mode == TDC_KERNEL_FILES && pairs == NULL))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a table");
    if (status == TDC_OK && pairs != NULL)
        status = tdc_kernel_pairs_compare(pairs, count, work->options, error);
    if (status == TDC_OK && count != 0) {
        status = write_table(work, place, lines, pairs, count, error);
        work->tables++;
    }
    free(pairs);
    free(lines);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static tdc_status do_place(struct work *work, const struct tdc_kernel_place *place,
                           struct tdc_error *error)
{
    struct tdc_kernel_list npu = {0}, bench = {0};
    tdc_status status =
        tdc_kernel_place_load(&work->arena, &work->npu, place, work->options, &npu, error);
    if (status == TDC_OK)
        status =
            tdc_kernel_place_load(&work->arena, &work->bench, place, work->options, &bench, error);
    if (status == TDC_OK && npu.mode == bench.mode && npu.mode != TDC_KERNEL_NONE) {
        status = compare_place(work, place, &npu, &bench, error);
    } else if (status == TDC_OK && work->options->message != NULL) {
        char text[128];
        snprintf(text, sizeof text, "rank %ld step %ld: %s: left out", place->rank, place->step,
                 npu.mode != bench.mode ? "npy files on one side, statistics on the other"
                                        : "neither npy files nor statistic.csv");
        work->options->message(work->options->context, TDC_MESSAGE_ERROR, text);
    }
    free(npu.items);
    free(bench.items);
    return status;
}

tdc_status tdc_kernel_dumps_compare(const char *npu, const char *bench, const char *output,
                                    const struct tdc_kernel_choice *choice, tdc_format format,
                                    const struct tdc_options *options, size_t *tables,
                                    struct tdc_error *error)
{
    struct work work = {.choice = choice, .options = options, .output = output, .format = format};
    tdc_arena_init(&work.arena, ARENA_LIMIT);
    tdc_status status = tdc_kernel_places_find(&work.arena, npu, choice, &work.npu, error);
    if (status == TDC_OK)
        status = tdc_kernel_places_find(&work.arena, bench, choice, &work.bench, error);
    for (size_t i = 0; i < work.npu.count && status == TDC_OK; i++) {
        const struct tdc_kernel_place *place = &work.npu.places[i];
        if ((i == 0 || !tdc_kernel_same_place(place, place - 1)) &&
            tdc_kernel_has_place(&work.bench, place))
            status = do_place(&work, place, error);
    }
    if (status == TDC_OK && work.tables == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "%s and %s have no kernel dump of a rank and step in common", npu, bench);
    *tables = work.tables;
    free(work.npu.places);
    free(work.bench.places);
    tdc_arena_free(&work.arena);
    return status;
}
