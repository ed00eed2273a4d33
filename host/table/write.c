/* write.c - a table as files, after or while it is being filled. */
#include <stdlib.h>

#include "host/table/columns.h"
#include "host/table/overview.h"
#include "io/base/error.h"
#include "io/table/sink.h"

/* As many files as there are formats. */
#define MOST_SINKS 4

/* Counts and origins as JSON: some hundred bytes an origin. */
#define OVERVIEW_LIMIT ((size_t)1 << 30)

bool tdc_table_selected(const tdc_table *table, size_t row, unsigned classes)
{
    const struct tdc_row *held = &table->rows[row];
    if (classes == 0 || (classes & 1u << held->row_class) != 0)
        return true;
    return held->origin != TDC_ORIGIN_NONE && (classes & 1u << TDC_ROW_DIFFERENT) != 0;
}

static size_t selected_rows(const struct tdc_table *table, unsigned classes)
{
    size_t count = 0;
    for (size_t row = 0; row < table->row_count; row++)
        count += tdc_table_selected(table, row, classes);
    return count;
}

/* Of a table all of whose rows are judged and coloured, or for an output of all rows. */
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
        .streamed = (output->flags & TDC_OUTPUT_STREAM) != 0,
        .stream = output->stream,
        .columns = names,
        .column_count = table->column_count,
        .rows = output->classes == 0 ? table->row_count : selected_rows(table, output->classes),
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
    tdc_status status = tdc_table_row(table, row, cells, error);
    for (size_t i = 0; i < sink_count && status == TDC_OK; i++)
        status = tdc_sink_row(sinks[i], cells, (tdc_colour)table->rows[row].colour, error);
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

/* Waits for the rows of a block and colours them. */
static tdc_status judge_block(struct tdc_highlighter *highlighter, size_t start, size_t end,
                              struct tdc_error *error)
{
    struct tdc_table *table = highlighter->table;
    for (size_t row = start; row < end; row++)
        if (!tdc_table_await(table, row))
            return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    if (tdc_highlighter_run(highlighter, start, end))
        return TDC_OK;
    return atomic_load(&table->failed)
               ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for origins")
               : tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
}

/* The files of one table. */
struct following {
    struct tdc_table *table;
    const struct tdc_output *outputs;
    size_t output_count;
    struct tdc_sink *sinks[MOST_SINKS];
    size_t places[MOST_SINKS]; /* of the sinks, among the outputs */
    size_t opened;
    tdc_status status; /* of writing */
    struct tdc_error *error;
};

/* Those that get all rows can follow; the others can be opened when it is known how many they get.
 */
static void open_sinks(struct following *work, bool selective)
{
    for (size_t i = 0; i < work->output_count && work->status == TDC_OK; i++) {
        const struct tdc_output *output = &work->outputs[i];
        if (output->table != work->table || (output->classes != 0) != selective)
            continue;
        if (work->opened == MOST_SINKS)
            work->status = tdc_fail(work->error, TDC_ERR_ARGUMENT,
                                    "%s: too many files for one table", output->path);
        else
            work->status = open_sink(output, &work->sinks[work->opened], work->error);
        if (work->status == TDC_OK)
            work->places[work->opened++] = i;
    }
}

/* A failure to write is kept, and the rows are judged to the end: they are the answer. */
static tdc_status follow_rows(struct following *work)
{
    struct tdc_table *table = work->table;
    struct tdc_highlighter highlighter;
    tdc_highlighter_init(&highlighter, table);
    tdc_status status = TDC_OK;
    for (size_t start = 0; start < table->row_count && status == TDC_OK;) {
        size_t end = tdc_highlighter_block(&highlighter, start);
        status = judge_block(&highlighter, start, end, work->error);
        for (; start < end && status == TDC_OK; start++)
            if (work->status == TDC_OK)
                work->status = write_row(table, start, work->sinks, work->opened, work->error);
    }
    if (status == TDC_OK && !tdc_highlighter_finish(&highlighter))
        status = tdc_fail(work->error, TDC_ERR_MEMORY, "out of memory for origins");
    tdc_highlighter_free(&highlighter);
    return status;
}

/* What goes to the files of some rows, which are opened behind `first` others. */
static void write_selected(struct following *work, size_t first)
{
    open_sinks(work, true);
    for (size_t i = first; i < work->opened; i++) {
        unsigned classes = work->outputs[work->places[i]].classes;
        for (size_t row = 0; row < work->table->row_count && work->status == TDC_OK; row++)
            if (tdc_table_selected(work->table, row, classes))
                work->status = write_row(work->table, row, &work->sinks[i], 1, work->error);
    }
}

tdc_status tdc_table_follow(struct tdc_table *table, const struct tdc_output *outputs,
                            size_t output_count, bool *written, struct tdc_error *error)
{
    struct following work = {
        .table = table, .outputs = outputs, .output_count = output_count, .error = error};
    open_sinks(&work, false);
    tdc_status status = follow_rows(&work);
    if (status == TDC_OK && work.status == TDC_OK)
        write_selected(&work, work.opened);
    status = status == TDC_OK ? work.status : status;
    return close_sinks(table, work.sinks, work.opened, status, work.places, written, error);
}
