/* atb_compare.c - two execution rounds of ATB, tensor by tensor, as msprobe 26 lists them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dump/atb_list.h"
#include "host/atb/atb_statistics.h"
#include "host/engine/engine.h"
#include "host/judge/compat/compat.h"
#include "io/base/error.h"
#include "io/table/sink.h"
#include "io/text/pytext.h"

#define CELL_ROOM 40

/* Columns of the two tables; those before and behind the middle are the same. */
static const char *const statistics_columns[] = {"Max Diff",
                                                 "Min Diff",
                                                 "Mean Diff",
                                                 "Norm Diff",
                                                 "Relative Err of Max(%)",
                                                 "Relative Err of Min(%)",
                                                 "Relative Err of Mean(%)",
                                                 "Relative Err of Norm(%)"};
static const char *const tensor_columns[] = {"Cosine",
                                             "Euc Distance",
                                             "Max Absolute Err",
                                             "Max Relative Err",
                                             "One Thousandth Err Ratio",
                                             "Five Thousandth Err Ratio"};
static const char *const front_columns[] = {"Target Data Name",       "Golden Data Name",
                                            "Target Device and PID",  "Golden Device and PID",
                                            "Target Execution Count", "Golden Execution Count",
                                            "Target Data Type",       "Golden Data Type",
                                            "Target Data Shape",      "Golden Data Shape"};
static const char *const back_columns[] = {"Target Max",  "Golden Max",  "Target Min",
                                           "Golden Min",  "Target Mean", "Golden Mean",
                                           "Target Norm", "Golden Norm"};

enum {
    FRONT = sizeof front_columns / sizeof *front_columns,
    BACK = sizeof back_columns / sizeof *back_columns,
    STATISTICS_COLUMNS = sizeof statistics_columns / sizeof *statistics_columns,
    TENSOR_COLUMNS = sizeof tensor_columns / sizeof *tensor_columns,
    MOST_MIDDLE = STATISTICS_COLUMNS,
    MOST_COLUMNS = FRONT + MOST_MIDDLE + BACK
};

struct pair {
    const struct tdc_atb_item *target, *golden;
    char middle[MOST_MIDDLE][CELL_ROOM];
    struct tdc_atb_statistics own[2]; /* tensor mode: of the target's file and of the golden one */
    bool vanished;
};

struct comparison {
    struct tdc_atb_list target, golden;
    struct pair *pairs;
    size_t count;
    bool statistics;
};

/* ---- statistics ------------------------------------------------------------------------------ */

static void compare_statistics(struct pair *pair)
{
    for (int i = 0; i < TDC_STATISTICS; i++) {
        char *diff = pair->middle[i], *relative = pair->middle[TDC_STATISTICS + i];
        const char *left = pair->target->stats[i], *right = pair->golden->stats[i];
        double n, b;
        strcpy(diff, "N/A");
        strcpy(relative, "N/A");
        if (!tdc_python_float(left, strlen(left), &n) ||
            !tdc_python_float(right, strlen(right), &b))
            continue;
        tdc_float_repr(n - b, diff);
        if (n - b == 0)
            strcpy(relative, "0.0");
        else if (b != 0)
            tdc_float_repr(fabs((n - b) / b * 100), relative);
    }
}

/* ---- tensors --------------------------------------------------------------------------------- */

static void write_metric(struct tdc_value value, char *text)
{
    if (value.form == TDC_HOLDS_NUMBER && !isnan(value.number))
        tdc_float_repr(value.number, text);
    else
        strcpy(text, value.form == TDC_HOLDS_UNSUPPORTED ? "unsupported" : "N/A");
}

/* The six values by the rules of the ordinary comparison; without two tensors that can be compared
 * there are none. */
static void write_metrics(const struct tdc_outcome *outcome, struct pair *pair)
{
    static const struct tdc_match any_file = {0};
    const struct tdc_case row_case = {
        .match = &any_file, .n_file = pair->target->file, .b_file = pair->golden->file};
    for (int i = 0; i < TENSOR_COLUMNS; i++)
        strcpy(pair->middle[i], "N/A");
    if (outcome->code != TDC_OUTCOME_COMPARED)
        return;
    struct tdc_row row = {0};
    struct tdc_text message;
    tdc_text_init(&message, (size_t)1 << 12);
    tdc_rules_compat26.judge_tensor(&row_case, outcome, &row, NULL, &message);
    tdc_text_free(&message);
    for (int i = 0; i < TENSOR_COLUMNS; i++)
        write_metric(row.values[i], pair->middle[i]);
}

/* Of a file that could not be compared, or holds infinities. */
static void read_statistics(const struct tdc_atb_list *list, const struct tdc_atb_item *item,
                            struct tdc_atb_statistics *statistics, bool *vanished)
{
    struct tdc_tensor tensor;
    struct tdc_error error;
    struct tdc_text path;
    tdc_atb_no_statistics(statistics);
    if (item->file == NULL)
        return;
    tdc_text_init(&path, (size_t)1 << 16);
    tdc_text_addf(&path, "%s/%s", list->folder, item->file);
    if (!path.failed &&
        tdc_tensor_open(tdc_text_get(&path), TDC_TENSOR_ATB, &tensor, &error) == TDC_OK) {
        if (!tdc_atb_statistics_of_tensor(&tensor, statistics))
            *vanished = true;
        tdc_tensor_close(&tensor);
    }
    tdc_text_free(&path);
}

static void pair_done(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    const struct comparison *comparison = context;
    struct pair *pair = job->row;
    write_metrics(outcome, pair);
    bool summed = outcome->code == TDC_OUTCOME_COMPARED && outcome->n_dimensions != 0;
    if (!summed ||
        !tdc_atb_statistics_of_sums(&outcome->sums, false, outcome->n_dtype, &pair->own[0]))
        read_statistics(&comparison->target, pair->target, &pair->own[0], &pair->vanished);
    if (!summed ||
        !tdc_atb_statistics_of_sums(&outcome->sums, true, outcome->b_dtype, &pair->own[1]))
        read_statistics(&comparison->golden, pair->golden, &pair->own[1], &pair->vanished);
}

static tdc_status compare_tensors(struct comparison *comparison, const struct tdc_options *options,
                                  struct tdc_error *error)
{
    struct tdc_job *jobs = calloc(comparison->count, sizeof *jobs);
    if (jobs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", comparison->count);
    for (size_t i = 0; i < comparison->count; i++) {
        struct pair *pair = &comparison->pairs[i];
        const struct tdc_atb_item *target = pair->target, *golden = pair->golden;
        jobs[i] = (struct tdc_job){.n_folder = comparison->target.folder,
                                   .n_file = target->file != NULL ? target->file : "N/A",
                                   .b_folder = comparison->golden.folder,
                                   .b_file = golden->file != NULL ? golden->file : "N/A",
                                   .order = i,
                                   .row = pair};
    }
    struct tdc_engine engine = {.rule = tdc_rules_compat26.relative,
                                .threads = options->threads,
                                .io = options->io,
                                .extremes = true,
                                .backend = &tdc_backend_cpu,
                                .options = options,
                                .done = pair_done,
                                .context = comparison};
    tdc_status status = tdc_engine_run(&engine, jobs, comparison->count, error);
    free(jobs);
    for (size_t i = 0; i < comparison->count && status == TDC_OK; i++)
        if (comparison->pairs[i].vanished)
            status = tdc_fail(error, TDC_ERR_CHANGED,
                              "%s: a file shrank while it was read, or memory ran out",
                              comparison->pairs[i].target->name);
    return status;
}

/* ---- pairing --------------------------------------------------------------------------------- */

static void say(const struct tdc_options *options, tdc_message_level level, const char *text)
{
    if (options->message != NULL)
        options->message(options->context, level, text);
}

/* What of a list is in no row. */
static void say_left_out(const struct tdc_atb_list *list, const struct tdc_options *options)
{
    char text[512];
    snprintf(text, sizeof text, "%.400s/statistic.csv: %zu lines name no tensor, %zu come again",
             list->folder, list->unusable, list->repeated);
    if (list->unusable + list->repeated != 0)
        say(options, TDC_MESSAGE_WARNING, text);
}

/* Names that both sides have, in the order of the target. */
static tdc_status make_pairs(struct comparison *comparison, const struct tdc_options *options,
                             struct tdc_error *error)
{
    const struct tdc_atb_list *target = &comparison->target, *golden = &comparison->golden;
    comparison->pairs = calloc(target->count + 1, sizeof *comparison->pairs);
    if (comparison->pairs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", target->count);
    for (size_t i = 0; i < target->count; i++) {
        const char *name = target->items[i].name;
        uint32_t number = tdc_names_find(&golden->names, name, strlen(name));
        if (number != TDC_NAME_NONE)
            comparison->pairs[comparison->count++] =
                (struct pair){.target = &target->items[i], .golden = &golden->items[number]};
    }
    size_t alone = target->count + golden->count - 2 * comparison->count;
    char text[128];
    snprintf(text, sizeof text, "%zu data names are on one side only", alone);
    if (alone != 0)
        say(options, TDC_MESSAGE_WARNING, text);
    return comparison->count != 0
               ? TDC_OK
               : tdc_fail(error, TDC_ERR_NOTHING, "no data name is on both sides");
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct tdc_cell cell_of(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static void fill_row(const struct comparison *comparison, const struct pair *pair, size_t middle,
                     struct tdc_cell *cells)
{
    const struct tdc_atb_item *sides[2] = {pair->target, pair->golden};
    for (size_t side = 0; side < 2; side++) {
        const struct tdc_atb_item *item = sides[side];
        const char *front[] = {item->name, item->device, item->execution, item->dtype, item->shape};
        for (size_t i = 0; i < sizeof front / sizeof *front; i++)
            cells[2 * i + side] = cell_of(front[i]);
        for (int i = 0; i < TDC_STATISTICS; i++)
            cells[FRONT + middle + 2 * (size_t)i + side] =
                cell_of(comparison->statistics ? item->stats[i] : pair->own[side].texts[i]);
    }
    for (size_t i = 0; i < middle; i++)
        cells[FRONT + i] = cell_of(pair->middle[i]);
}

static tdc_status write_table(const struct comparison *comparison, const char *path,
                              struct tdc_error *error)
{
    const char *columns[MOST_COLUMNS];
    size_t middle = comparison->statistics ? STATISTICS_COLUMNS : TENSOR_COLUMNS;
    memcpy(columns, front_columns, sizeof front_columns);
    memcpy(columns + FRONT, comparison->statistics ? statistics_columns : tensor_columns,
           middle * sizeof *columns);
    memcpy(columns + FRONT + middle, back_columns, sizeof back_columns);
    struct tdc_sink_spec spec = {.path = path,
                                 .exclusive = true,
                                 .columns = columns,
                                 .column_count = FRONT + middle + BACK,
                                 .rows = comparison->count,
                                 .sheet = "Sheet1",
                                 .header_style = true};
    struct tdc_sink *sink;
    tdc_status status = tdc_sink_open(TDC_FORMAT_XLSX, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < comparison->count && status == TDC_OK; i++) {
        struct tdc_cell cells[MOST_COLUMNS] = {0};
        fill_row(comparison, &comparison->pairs[i], middle, cells);
        status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    if (status == TDC_OK)
        return tdc_sink_close(sink, error);
    tdc_sink_discard(sink);
    return status;
}

static tdc_status write_result(const struct comparison *comparison, const char *output,
                               const struct tdc_options *options, struct tdc_error *error)
{
    tdc_stamp *stamp;
    struct tdc_text path, message;
    tdc_text_init(&path, (size_t)1 << 16);
    tdc_text_init(&message, (size_t)1 << 17);
    tdc_status status = tdc_stamp_new(output, &stamp, error);
    if (status == TDC_OK) {
        tdc_text_addf(&path, "%s/atb_%s_compare_result_%s.xlsx", output,
                      comparison->statistics ? "stats" : "tensor", tdc_stamp_text(stamp));
        tdc_text_addf(&message,
                      "Complete ATB dump data comparison. Comparison result has been saved at %s",
                      tdc_text_get(&path));
        status = path.failed || message.failed
                     ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", output)
                     : write_table(comparison, tdc_text_get(&path), error);
        if (status == TDC_OK)
            say(options, TDC_MESSAGE_INFO, tdc_text_get(&message));
        tdc_stamp_free(stamp);
    }
    tdc_text_free(&path);
    tdc_text_free(&message);
    return status;
}

tdc_status tdc_atb_compare(const char *target, const char *golden, const char *output,
                           const struct tdc_options *options, struct tdc_error *error)
{
    struct comparison comparison = {0};
    tdc_status status = tdc_atb_list_load(golden, &comparison.golden, error);
    if (status == TDC_OK)
        status = tdc_atb_list_load(target, &comparison.target, error);
    if (status == TDC_OK && comparison.target.statistics != comparison.golden.statistics)
        status = tdc_fail(error, TDC_ERR_MISMATCH, "Unvalid ATB dump data");
    comparison.statistics = comparison.target.statistics;
    if (status == TDC_OK) {
        say_left_out(&comparison.target, options);
        say_left_out(&comparison.golden, options);
        status = make_pairs(&comparison, options, error);
    }
    for (size_t i = 0; i < comparison.count && comparison.statistics; i++)
        compare_statistics(&comparison.pairs[i]);
    if (status == TDC_OK && !comparison.statistics)
        status = compare_tensors(&comparison, options, error);
    if (status == TDC_OK)
        status = write_result(&comparison, output, options, error);
    free(comparison.pairs);
    tdc_atb_list_free(&comparison.target);
    tdc_atb_list_free(&comparison.golden);
    return status;
}
