/* merge.c - chosen rows of all ranks' compare results side by side: a sheet for each metric. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/merge/merge_config.h"
#include "host/analysis/merge/rank_files.h"
#include "host/analysis/merge/rank_table.h"
#include "host/dump/dump.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/table/workbook.h"
#include "io/text/pytext.h"

#define MERGED_LIMIT ((size_t)8 << 30)
#define VALUE_LIMIT  ((size_t)1 << 20)
#define MOST_METRICS 16

/* What one rank adds: for each name, by its number, a cell for each metric. */
struct rank_column {
    long rank;
    struct tdc_cell **cells; /* NULL: the rank has no such row */
    size_t count;
};

struct merging {
    const struct tdc_merge_config *config;
    const struct tdc_options *options;
    const char *metrics[MOST_METRICS]; /* in the order of the sheets */
    size_t metric_count;               /* 0: not yet known */
    struct tdc_arena arena;
    struct tdc_name_table names; /* of rows, in the order of the sheets */
    struct rank_column *columns;
    size_t column_count;
    struct tdc_text text;
};

/* ---- which metrics --------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static void say_unfit(const struct merging *merging, long rank, const char *const *allowed)
{
    char list[512] = "";
    for (; *allowed != NULL; allowed++) {
        bool given = false;
        for (size_t i = 0; i < merging->metric_count; i++)
            given |= strcmp(merging->metrics[i], *allowed) == 0;
        size_t used = strlen(list);
        if (!given)
            snprintf(list + used, sizeof list - used, "%s'%s'", used != 0 ? ", " : "", *allowed);
    }
    tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING,
                     "Compare indexes in rank%ld compare result are not consistent with those in "
                     "other compare results, please check!",
                     rank);
    tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING,
                     "The compare result will not be shown in merged result.");
    tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING, "The invalid compare indexes: {%s}",
                     list);
}

/* Has the table of this rank what is asked for? The first one decides when nothing is. */
static bool fits(struct merging *merging, long rank, tdc_mode mode)
{
    if (mode == TDC_MODE_NONE)
        tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING,
                         "A valid dump task can not be identified from rank%ld compare result, "
                         "please check! The compare result will not be shown in merged result.",
                         rank);
    else if (mode == TDC_MODE_DIGEST)
        tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING,
                         "Rank%ld compare result is 'md5' dump task and does not support merging "
                         "result, please check! The compare result will not be shown in merged "
                         "result.",
                         rank);
    if (mode == TDC_MODE_NONE || mode == TDC_MODE_DIGEST)
        return false;
    const char *const *allowed = tdc_rank_table_metrics(mode);
    for (size_t i = 0; merging->metric_count == 0 && allowed[i] != NULL; i++)
        merging->metrics[i] = allowed[i];
    while (merging->metric_count < MOST_METRICS && merging->metrics[merging->metric_count] != NULL)
        merging->metric_count++;
    for (size_t i = 0; i < merging->metric_count; i++)
        if (!is_one_of(merging->metrics[i], allowed)) {
            say_unfit(merging, rank, allowed);
            return false;
        }
    return true;
}

static tdc_status take_metrics(struct merging *merging, struct tdc_error *error)
{
    const struct tdc_merge_config *config = merging->config;
    for (size_t i = 0; i < config->metric_count; i++) {
        bool repeated = false;
        for (size_t k = 0; k < merging->metric_count; k++)
            repeated |= strcmp(merging->metrics[k], config->metrics[i]) == 0;
        if (repeated)
            continue;
        if (merging->metric_count == MOST_METRICS)
            return tdc_fail(error, TDC_ERR_ARGUMENT, "more metrics than any table has");
        merging->metrics[merging->metric_count++] = config->metrics[i];
    }
    return TDC_OK;
}

/* ---- one rank -------------------------------------------------------------------------------- */

struct places {
    size_t name, npu_max, bench_max;
    size_t metrics[MOST_METRICS];
};

static bool is_text(const struct tdc_cell *cell, const char *text)
{
    return cell->kind == TDC_CELL_TEXT && strcmp(cell->text, text) == 0;
}

/* A spreadsheet would run it. */
static bool is_malicious(const struct tdc_cell *cell)
{
    double number;
    return cell->kind == TDC_CELL_TEXT && !tdc_python_float(cell->text, cell->length, &number) &&
           tdc_runs_as_formula(cell->text, cell->length);
}

static const struct tdc_cell *cell_of(const struct tdc_rank_row *row, size_t column)
{
    static const struct tdc_cell nothing = {.kind = TDC_CELL_TEXT, .text = ""};
    return column < row->count ? &row->cells[column] : &nothing;
}

static bool keep_cell(struct merging *merging, const struct tdc_rank_row *row,
                      const struct places *places, size_t metric, struct tdc_cell *kept)
{
    const struct tdc_cell *value = cell_of(row, places->metrics[metric]);
    *kept = *value;
    tdc_text_clear(&merging->text);
    if (is_text(value, "N/A") || is_text(value, "unsupported") || is_text(value, "Nan")) {
        tdc_text_adds(&merging->text, "NPU:");
        tdc_rank_table_add_cell(&merging->text, cell_of(row, places->npu_max));
        tdc_text_adds(&merging->text, "  Bench:");
        tdc_rank_table_add_cell(&merging->text, cell_of(row, places->bench_max));
    } else if (value->kind == TDC_CELL_TEXT) {
        tdc_text_add(&merging->text, value->text, value->length);
    } else {
        return true;
    }
    kept->length = merging->text.length;
    kept->text = tdc_arena_text(&merging->arena, tdc_text_get(&merging->text), kept->length);
    return kept->text != NULL && !merging->text.failed;
}

/* The row's place in the sheets, a new one at their end if it has none yet. */
static uint32_t place_of(struct merging *merging, const struct tdc_cell *name)
{
    uint32_t number = tdc_names_find(&merging->names, name->text, name->length);
    if (number != TDC_NAME_NONE)
        return number;
    bool fresh;
    char *kept = tdc_arena_text(&merging->arena, name->text, name->length);
    return kept != NULL ? tdc_names_put(&merging->names, kept, name->length, &fresh)
                        : TDC_NAME_NONE;
}

static tdc_status out_of_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the merged rows");
}

static tdc_status keep_row(struct merging *merging, struct rank_column *column,
                           const struct tdc_rank_row *row, const struct places *places,
                           struct tdc_error *error)
{
    const struct tdc_cell *name = cell_of(row, places->name);
    const struct tdc_cell *bad = is_malicious(name) ? name : NULL;
    for (size_t i = 0; i < merging->metric_count && bad == NULL; i++)
        if (is_malicious(cell_of(row, places->metrics[i])))
            bad = cell_of(row, places->metrics[i]);
    if (bad != NULL)
        return tdc_fail(error, TDC_ERR_REFUSED,
                        "Malicious value [%s] is not allowed to be written into the merged xlsx.",
                        bad->text);
    uint32_t place = place_of(merging, name);
    if (place == TDC_NAME_NONE)
        return out_of_memory(error);
    if (place >= column->count) {
        size_t more =
            (size_t)place + 1 > 2 * column->count ? (size_t)place + 64 : 2 * column->count;
        struct tdc_cell **grown = realloc(column->cells, more * sizeof *grown);
        if (grown == NULL)
            return out_of_memory(error);
        memset(grown + column->count, 0, (more - column->count) * sizeof *grown);
        column->cells = grown;
        column->count = more;
    }
    if (column->cells[place] != NULL) /* the first row of a name counts */
        return TDC_OK;
    struct tdc_cell *cells =
        tdc_arena_zeroed(&merging->arena, merging->metric_count, sizeof *cells);
    for (size_t i = 0; i < merging->metric_count && cells != NULL; i++)
        if (!keep_cell(merging, row, places, i, &cells[i]))
            return out_of_memory(error);
    column->cells[place] = cells;
    return cells != NULL ? TDC_OK : out_of_memory(error);
}

/* Does the name hold the API as one or more whole parts at their end? */
static bool names_api(const struct tdc_cell *name, const char *api)
{
    size_t length = strlen(api);
    if (name->kind != TDC_CELL_TEXT)
        return false;
    for (const char *at = strstr(name->text, api); at != NULL; at = strstr(at + 1, api))
        if (at[length] == '.')
            return true;
    return false;
}

static tdc_status take_rows(struct merging *merging, struct rank_column *column,
                            struct tdc_rank_table *table, struct tdc_error *error)
{
    struct places places = {.name = tdc_rank_table_column(table, "NPU Name"),
                            .npu_max = tdc_rank_table_column(table, "NPU max"),
                            .bench_max = tdc_rank_table_column(table, "Bench max")};
    tdc_rank_table_settle(table, places.npu_max);
    tdc_rank_table_settle(table, places.bench_max);
    for (size_t i = 0; i < merging->metric_count; i++) {
        places.metrics[i] = tdc_rank_table_column(table, merging->metrics[i]);
        tdc_rank_table_settle(table, places.metrics[i]);
    }
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < merging->config->api_count && status == TDC_OK; i++) {
        const char *api = merging->config->apis[i];
        bool found = false;
        for (size_t k = 1; k < table->count && status == TDC_OK; k++) {
            const struct tdc_rank_row *row = &table->rows[k];
            if (!names_api(cell_of(row, places.name), api))
                continue;
            found = true;
            status = keep_row(merging, column, row, &places, error);
        }
        if (!found)
            tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING,
                             "%s not found in rank%ld compare result.", api, column->rank);
    }
    return status;
}

static tdc_status merge_rank(struct merging *merging, const struct tdc_rank_file *file,
                             struct tdc_error *error)
{
    tdc_analysis_say(merging->options, TDC_MESSAGE_INFO, "Parsing rank%ld compare result...",
                     file->rank);
    struct tdc_rank_table table;
    tdc_status status = tdc_rank_table_read(file->path, &table, error);
    bool used = false;
    if (status == TDC_OK && table.count < 2)
        tdc_analysis_say(merging->options, TDC_MESSAGE_WARNING,
                         "Rank%ld compare result is empty and will not shown in merged result.",
                         file->rank);
    else if (status == TDC_OK)
        used = fits(merging, file->rank, tdc_rank_table_mode(&table));
    if (used) {
        struct rank_column *column = &merging->columns[merging->column_count++];
        *column = (struct rank_column){.rank = file->rank};
        status = take_rows(merging, column, &table, error);
    }
    tdc_rank_table_free(&table);
    return status;
}

/* ---- the workbook ---------------------------------------------------------------------------- */

/* One sheet: a metric of all ranks. */
struct metric_sheet {
    const struct merging *merging;
    size_t metric;
};

static void fill_row(void *context, size_t row, struct tdc_cell *cells)
{
    const struct metric_sheet *sheet = context;
    const struct merging *merging = sheet->merging;
    const struct tdc_name_key *name = &merging->names.keys[row];
    cells[0] = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = name->text, .length = name->length};
    for (size_t i = 0; i < merging->column_count; i++) {
        const struct rank_column *column = &merging->columns[i];
        const struct tdc_cell *found = row < column->count ? column->cells[row] : NULL;
        cells[i + 1] = found != NULL ? found[sheet->metric]
                                     : (struct tdc_cell){.kind = TDC_CELL_NONE, .text = ""};
    }
}

static tdc_status write_book(struct merging *merging, const char *path, struct tdc_error *error)
{
    size_t columns = merging->column_count + 1;
    const char **header = tdc_arena_zeroed(&merging->arena, columns, sizeof *header);
    if (header == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < columns; i++) {
        char name[32] = "NPU Name";
        if (i != 0)
            snprintf(name, sizeof name, "rank%ld", merging->columns[i - 1].rank);
        header[i] = tdc_arena_text(&merging->arena, name, strlen(name));
        if (header[i] == NULL)
            return out_of_memory(error);
    }
    struct metric_sheet contexts[MOST_METRICS];
    struct tdc_workbook_sheet sheets[MOST_METRICS];
    for (size_t i = 0; i < merging->metric_count; i++) {
        contexts[i] = (struct metric_sheet){merging, i};
        sheets[i] = (struct tdc_workbook_sheet){.name = merging->metrics[i],
                                                .columns = header,
                                                .column_count = columns,
                                                .rows = merging->names.count,
                                                .row = fill_row,
                                                .context = &contexts[i]};
    }
    return tdc_workbook_write(path, true, sheets, merging->metric_count, error);
}

static tdc_status save(struct merging *merging, const char *output, struct tdc_error *error)
{
    tdc_stamp *stamp = NULL;
    tdc_status status = tdc_stamp_new(output, &stamp, error);
    char name[64];
    if (status == TDC_OK)
        snprintf(name, sizeof name, "multi_ranks_compare_merge_%s.xlsx", tdc_stamp_text(stamp));
    char *path = status == TDC_OK ? tdc_path_join(output, name) : NULL;
    if (status == TDC_OK && path == NULL)
        status = out_of_memory(error);
    if (status == TDC_OK)
        status = write_book(merging, path, error);
    if (status == TDC_OK)
        tdc_analysis_say(merging->options, TDC_MESSAGE_INFO,
                         "The compare results of the multi-ranks are merged and saved in: %s.",
                         path);
    free(path);
    tdc_stamp_free(stamp);
    return status;
}

static tdc_status merge_files(struct merging *merging, const struct tdc_rank_files *files,
                              const char *output, struct tdc_error *error)
{
    tdc_status status = take_metrics(merging, error);
    merging->columns = calloc(files->count + 1, sizeof *merging->columns);
    if (status == TDC_OK && merging->columns == NULL)
        status = out_of_memory(error);
    for (size_t i = 0; i < files->count && status == TDC_OK; i++)
        status = tdc_cancel_is_set(merging->options->cancel)
                     ? tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted")
                     : merge_rank(merging, &files->files[i], error);
    if (status == TDC_OK && merging->column_count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "Nothing to merge.");
    if (status == TDC_OK && merging->column_count == 1)
        tdc_analysis_say(merging->options, TDC_MESSAGE_INFO,
                         "Only one compare result gets merge data.");
    return status == TDC_OK ? save(merging, output, error) : status;
}

tdc_status tdc_results_merge(const char *input, const char *output, const char *config,
                             unsigned flags, const struct tdc_options *options,
                             struct tdc_error *error)
{
    struct tdc_rank_files files;
    struct tdc_merge_config wanted = {0};
    tdc_status status =
        tdc_rank_files_find(input, (flags & TDC_MERGE_LENIENT) != 0, options, &files, error);
    if (status == TDC_OK && files.count < 2)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "Number of compare result is no more than 1, no need to merge.");
    if (status == TDC_OK)
        status = tdc_merge_config_load(config, &wanted, error);
    struct merging merging = {.config = &wanted, .options = options};
    tdc_arena_init(&merging.arena, MERGED_LIMIT);
    tdc_text_init(&merging.text, VALUE_LIMIT);
    tdc_names_init(&merging.names);
    if (status == TDC_OK)
        status = merge_files(&merging, &files, output, error);
    for (size_t i = 0; i < merging.column_count; i++)
        free(merging.columns[i].cells);
    free(merging.columns);
    tdc_names_free(&merging.names);
    tdc_text_free(&merging.text);
    tdc_arena_free(&merging.arena);
    tdc_merge_config_free(&wanted);
    tdc_rank_files_free(&files);
    return status;
}
