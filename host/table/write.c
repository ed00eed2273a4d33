/* write.c - a table as files, after or while it is being filled. */
#include <stdlib.h>

#include "host/table/aligned.h"
#include "host/table/columns.h"
#include "host/table/overview.h"
#include "io/base/error.h"
#include "io/table/sink.h"

/* As many files as there are formats. */
#define MOST_SINKS 4

/* Counts and origins as JSON: some hundred bytes an origin. */
#define OVERVIEW_LIMIT ((size_t)1 << 30)

static tdc_status open_sink(const struct tdc_output *output, struct tdc_sink **sink,
                            struct tdc_error *error)
{
    const struct tdc_table *table = output->table;
    const char *names[TDC_MOST_COLUMNS];
    double widths[TDC_MOST_COLUMNS];
    for (size_t i = 0; i < table->column_count; i++) {
        names[i] = tdc_column_name(table->columns[i]);
        widths[i] = tdc_column_width(table->columns[i]);
    }
    bool extended = table->rules->extended;
    struct tdc_sink_spec spec = {
        .path = output->path,
        .exclusive = (output->flags & TDC_OUTPUT_EXCLUSIVE) != 0,
        .columns = names,
        .column_count = table->column_count,
        .rows = table->row_count,
        .sheet = table->highlight_cells ? "Sheet" : "Sheet1",
        .header_style = extended || !table->highlight_cells,
        .polish = extended,
        .widths = widths,
        .escape_formulas = extended,
        .argb_yellow = !extended,
        .object = extended,
    };
    return tdc_sink_open(output->format, &spec, sink, error);
}

/* The cells of a row are made once for all files. */
static tdc_status write_row(struct tdc_table *table, size_t row, struct tdc_sink *const *sinks,
                            size_t sink_count, struct tdc_error *error)
{
    struct tdc_cell cells[TDC_MOST_COLUMNS];
    struct tdc_text members;
    tdc_text_init(&members, OVERVIEW_LIMIT);
    tdc_aligned_series_json(table, row, &members);
    tdc_status status = tdc_table_row(table, row, cells, error);
    if (status == TDC_OK && members.failed)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the series of row %zu", row);
    for (size_t i = 0; i < sink_count && status == TDC_OK; i++) {
        tdc_sink_members(sinks[i], tdc_text_get(&members));
        status = tdc_sink_row(sinks[i], cells, (tdc_colour)table->rows[row].colour, error);
    }
    tdc_text_free(&members);
    return status;
}

/* Closes the sinks of a table whose rows are written (status: how that went). One that fails takes
 * those behind it along: nothing of them is left. written, if any, tells by place what is. */
static tdc_status close_sinks(const struct tdc_table *table, struct tdc_sink *const *sinks,
                              size_t count, tdc_status status, const size_t *places, bool *written,
                              struct tdc_error *error)
{
    struct tdc_text overview;
    tdc_text_init(&overview, OVERVIEW_LIMIT);
    if (status == TDC_OK && table->rules->extended && !tdc_overview_json(table, &overview))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the overview");
    size_t closed = 0;
    for (; closed < count && status == TDC_OK; closed++) {
        tdc_sink_tail(sinks[closed], tdc_text_get(&overview));
        status = tdc_sink_close(sinks[closed], error);
        if (written != NULL)
            written[places[closed]] = status == TDC_OK;
    }
    for (; closed < count; closed++)
        tdc_sink_discard(sinks[closed]);
    tdc_text_free(&overview);
    return status;
}

tdc_status tdc_table_write(tdc_table *table, tdc_format format, const char *path,
                           struct tdc_error *error)
{
    struct tdc_sink *sink;
    const struct tdc_output output = {.table = table, .format = format, .path = path};
    tdc_status status = open_sink(&output, &sink, error);
    if (status != TDC_OK)
        return status;
    for (size_t row = 0; row < table->row_count && status == TDC_OK; row++)
        status = write_row(table, row, &sink, 1, error);
    return close_sinks(table, &sink, 1, status, NULL, NULL, error);
}

/* ---- following ------------------------------------------------------------------------------- */

/*
 * The row a waiting writer is woken for: some way ahead, since waking it for every row takes the
 * time of comparing a small tensor from the thread that does it.
 */
static size_t row_to_wake_for(struct tdc_table *table, size_t row)
{
    const size_t lead = 256;
    size_t last = table->row_count - 1, ahead = last - row < lead ? last : row + lead;
    return atomic_load(&table->rows[ahead].judged) ? row : ahead;
}

bool tdc_table_await(struct tdc_table *table, size_t row)
{
    if (atomic_load(&table->rows[row].judged))
        return true;
    pthread_mutex_lock(&table->lock);
    while (!atomic_load(&table->rows[row].judged) && !table->abandoned) {
        size_t wanted = row_to_wake_for(table, row);
        atomic_store(&table->wanted, wanted);
        while (!atomic_load(&table->rows[wanted].judged) && !table->abandoned)
            pthread_cond_wait(&table->progressed, &table->lock);
    }
    atomic_store(&table->wanted, SIZE_MAX);
    bool judged = atomic_load(&table->rows[row].judged);
    pthread_mutex_unlock(&table->lock);
    return judged;
}

static tdc_status follow_rows(struct tdc_table *table, struct tdc_sink *const *sinks,
                              size_t sink_count, struct tdc_error *error)
{
    struct tdc_highlighter highlighter;
    tdc_highlighter_init(&highlighter, table);
    tdc_status status = TDC_OK;
    size_t start = 0;
    while (start < table->row_count && status == TDC_OK) {
        size_t end = tdc_highlighter_block(&highlighter, start);
        for (size_t row = start; row < end && status == TDC_OK; row++)
            if (!tdc_table_await(table, row))
                status = tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
        if (status == TDC_OK && !tdc_highlighter_run(&highlighter, start, end))
            status = atomic_load(&table->failed)
                         ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for origins")
                         : tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
        for (; start < end && status == TDC_OK; start++)
            status = write_row(table, start, sinks, sink_count, error);
    }
    if (status == TDC_OK && !tdc_highlighter_finish(&highlighter))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for origins");
    tdc_highlighter_free(&highlighter);
    return status;
}

tdc_status tdc_table_follow(struct tdc_table *table, const struct tdc_output *outputs,
                            size_t output_count, bool *written, struct tdc_error *error)
{
    struct tdc_sink *sinks[MOST_SINKS] = {NULL};
    size_t places[MOST_SINKS] = {0}; /* among the outputs */
    size_t opened = 0;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < output_count && status == TDC_OK; i++) {
        if (outputs[i].table != table)
            continue;
        if (opened == MOST_SINKS)
            status = tdc_fail(error, TDC_ERR_ARGUMENT, "%s: too many files for one table",
                              outputs[i].path);
        else
            status = open_sink(&outputs[i], &sinks[opened], error);
        if (status == TDC_OK)
            places[opened++] = i;
    }
    if (status == TDC_OK)
        status = follow_rows(table, sinks, opened, error);
    return close_sinks(table, sinks, opened, status, places, written, error);
}
