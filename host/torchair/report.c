#include "host/torchair/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/table/sink.h"
#include "io/text/pytext.h"

const char *const tdc_report_metrics[TDC_SOFT_METRICS] = {
    "cosine_similarity",   "max_relative_error", "mean_relative_error",        "max_absolute_error",
    "mean_absolute_error", "kl_divergence",      "relative_euclidean_distance"};

enum {
    SIDE_COLUMNS = 7, /* path, type, dtype, shape, max, min, mean */
    FRONT = 2,
    METRICS = FRONT + 2 * SIDE_COLUMNS,
    COLUMNS = METRICS + TDC_SOFT_METRICS + 1
};

static const char *const columns[COLUMNS] = {"token_id",
                                             "data_id",
                                             "golden_data_path",
                                             "golden_op_type",
                                             "golden_dtype",
                                             "golden_shape",
                                             "golden_max_value",
                                             "golden_min_value",
                                             "golden_mean_value",
                                             "my_data_path",
                                             "my_op_type",
                                             "my_dtype",
                                             "my_shape",
                                             "my_max_value",
                                             "my_min_value",
                                             "my_mean_value",
                                             "cosine_similarity",
                                             "max_relative_error",
                                             "mean_relative_error",
                                             "max_absolute_error",
                                             "mean_absolute_error",
                                             "kl_divergence",
                                             "relative_euclidean_distance",
                                             "cmp_fail_reason"};

/* Texts of one row's numbers. */
struct row_texts {
    char numbers[COLUMNS][TDC_FLOAT_TEXT];
};

static struct tdc_cell text_cell(const char *text)
{
    return text != NULL
               ? (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)}
               : (struct tdc_cell){.kind = TDC_CELL_NONE};
}

static struct tdc_cell float_cell(double value, char *text)
{
    if (isnan(value))
        return (struct tdc_cell){.kind = TDC_CELL_NONE};
    tdc_float_repr(value, text);
    return text_cell(text);
}

static struct tdc_cell count_cell(uint64_t value, char *text)
{
    snprintf(text, TDC_FLOAT_TEXT, "%llu", (unsigned long long)value);
    return text_cell(text);
}

static void fill_side(const struct tdc_report_side *side, struct tdc_cell *cells,
                      struct row_texts *texts, size_t first)
{
    const struct tdc_lone_sums *sums = &side->sums;
    double nothing = sums->nan != 0 ? (double)NAN : 0;
    cells[first] = text_cell(side->name);
    cells[first + 1] = text_cell(NULL);
    cells[first + 2] = text_cell(side->dtype);
    cells[first + 3] = text_cell(side->shape);
    for (size_t i = 4; i < SIDE_COLUMNS; i++)
        cells[first + i] = text_cell(NULL);
    if (sums->count == 0)
        return;
    double mean = (double)(float)(sums->sum / (double)sums->count);
    cells[first + 4] = float_cell((double)sums->largest + nothing, texts->numbers[first + 4]);
    cells[first + 5] = float_cell((double)sums->least + nothing, texts->numbers[first + 5]);
    cells[first + 6] = float_cell(mean + nothing, texts->numbers[first + 6]);
}

static void fill_cells(const struct tdc_report_row *row, uint64_t id, struct tdc_cell *cells,
                       struct row_texts *texts)
{
    cells[0] = count_cell(row->token, texts->numbers[0]);
    cells[1] = count_cell(id, texts->numbers[1]);
    fill_side(&row->golden, cells, texts, FRONT);
    fill_side(&row->mine, cells, texts, FRONT + SIDE_COLUMNS);
    for (size_t i = 0; i < TDC_SOFT_METRICS; i++)
        cells[METRICS + i] = row->judged ? float_cell(row->metrics[i], texts->numbers[METRICS + i])
                                         : text_cell(NULL);
    cells[COLUMNS - 1] = text_cell(row->reason);
}

/* By time, inputs before outputs, by number. */
static int by_time(const void *left, const void *right)
{
    const struct tdc_report_row *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->output != b->output)
        return a->output ? 1 : -1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->created < b->created ? -1 : a->created > b->created;
}

/* Rows that stay are numbered in the order in which they were made: returns how many there are. */
static size_t number_rows(struct tdc_report_row *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        rows[i].created = tdc_report_row_dropped(&rows[i]) ? SIZE_MAX : kept++;
    return kept;
}

tdc_status tdc_report_write(struct tdc_report_row *rows, size_t count, const char *path,
                            uint64_t *next_id, size_t *dropped, struct tdc_error *error)
{
    size_t kept = number_rows(rows, count);
    struct tdc_sink_spec spec = {.path = path,
                                 .exclusive = true,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = kept,
                                 .sheet = "Sheet1"};
    struct tdc_sink *sink;
    tdc_status status = tdc_sink_open(TDC_FORMAT_CSV, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    if (count > 1)
        qsort(rows, count, sizeof *rows, by_time);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        struct tdc_cell cells[COLUMNS];
        struct row_texts texts;
        if (rows[i].created == SIZE_MAX)
            continue;
        fill_cells(&rows[i], *next_id + rows[i].created, cells, &texts);
        status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    if (status != TDC_OK) {
        tdc_sink_discard(sink);
        return status;
    }
    *dropped = count - kept;
    *next_id += kept;
    return tdc_sink_close(sink, error);
}
