/* write.c - a table as files, after or while it is being filled. */
#include <stdlib.h>

#include "host/table/columns.h"
#include "host/table/table_json.h"
#include "io/base/error.h"
#include "io/table/sink.h"

/* As many files as there are formats, and some. */
#define MOST_SINKS 8

/* Counts and origins as JSON: some hundred bytes an origin. A row is no longer than its texts. */
#define JSON_LIMIT ((size_t)1 << 30)

/* The files of one table. */
struct files {
    struct tdc_table *table;
    struct tdc_sink *sinks[MOST_SINKS];
    tdc_format formats[MOST_SINKS];
    size_t places[MOST_SINKS]; /* among the outputs */
    size_t count;
    struct tdc_text json; /* of the row, and of what stands around the rows */
};

static bool takes_objects(const struct files *files, size_t i)
{
    return files->table->rules->extended &&
           (files->formats[i] == TDC_FORMAT_JSON || files->formats[i] == TDC_FORMAT_JSONL);
}

/* Its first line holds what only the last row decides: it is written when the others are. */
static bool comes_last(const struct files *files, size_t i)
{
    return takes_objects(files, i) && files->formats[i] == TDC_FORMAT_JSONL;
}

static tdc_status no_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a result file");
}

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
        .objects = extended,
    };
    return tdc_sink_open(output->format, &spec, sink, error);
}

/* The members before the rows; of a file whose first line is all there is, those behind, too. */
static tdc_status put_head(struct files *files, size_t i, bool whole, struct tdc_error *error)
{
    struct tdc_json_object object;
    tdc_text_clear(&files->json);
    tdc_object_begin_bare(&object, &files->json);
    tdc_table_json_head(files->table, &object);
    if (whole)
        tdc_table_json_tail(files->table, &object);
    tdc_object_end_bare(&object);
    if (files->json.failed)
        return no_memory(error);
    return tdc_sink_head(files->sinks[i], tdc_text_get(&files->json), error);
}

static tdc_status open_file(struct files *files, const struct tdc_output *output, size_t place,
                            struct tdc_error *error)
{
    size_t i = files->count;
    if (i == MOST_SINKS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: too many files for one table", output->path);
    tdc_status status = open_sink(output, &files->sinks[i], error);
    if (status != TDC_OK)
        return status;
    files->formats[i] = output->format;
    files->places[i] = place;
    files->count++;
    return takes_objects(files, i) && !comes_last(files, i) ? put_head(files, i, false, error)
                                                            : TDC_OK;
}

/* The cells of a row, and its object, are made once for all files. */
static tdc_status write_row(struct files *files, size_t row, bool last, struct tdc_error *error)
{
    struct tdc_table *table = files->table;
    struct tdc_cell cells[TDC_MOST_COLUMNS];
    bool filled = false, composed = false;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < files->count && status == TDC_OK; i++) {
        if (comes_last(files, i) != last)
            continue;
        if (takes_objects(files, i)) {
            if (!composed) {
                tdc_text_clear(&files->json);
                tdc_table_json_row(table, row, &files->json);
                composed = true;
            }
            if (files->json.failed)
                return no_memory(error);
            status = tdc_sink_object(files->sinks[i], files->json.data, files->json.length, error);
        } else {
            if (!filled)
                status = tdc_table_row(table, row, cells, error);
            filled = true;
            if (status == TDC_OK)
                status = tdc_sink_row(files->sinks[i], cells, (tdc_colour)table->rows[row].colour,
                                      error);
        }
    }
    return status;
}

/* The files that had to wait for the last row. */
static tdc_status write_last(struct files *files, struct tdc_error *error)
{
    bool any = false;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < files->count && status == TDC_OK; i++) {
        if (!comes_last(files, i))
            continue;
        any = true;
        status = put_head(files, i, true, error);
    }
    for (size_t row = 0; any && row < files->table->row_count && status == TDC_OK; row++)
        status = write_row(files, row, true, error);
    return status;
}

/* Closes the files of a table whose rows are written (status: how that went). One that fails takes
 * those behind it along: nothing of them is left. written, if any, tells by place what is. */
static tdc_status close_files(struct files *files, tdc_status status, bool *written,
                              struct tdc_error *error)
{
    if (status == TDC_OK)
        status = write_last(files, error);
    if (status == TDC_OK && files->table->rules->extended) {
        struct tdc_json_object object;
        tdc_text_clear(&files->json);
        tdc_object_begin_bare(&object, &files->json);
        tdc_table_json_tail(files->table, &object);
        tdc_object_end_bare(&object);
        if (files->json.failed)
            status = no_memory(error);
    }
    size_t closed = 0;
    for (; closed < files->count && status == TDC_OK; closed++) {
        tdc_sink_tail(files->sinks[closed], tdc_text_get(&files->json));
        status = tdc_sink_close(files->sinks[closed], error);
        if (written != NULL)
            written[files->places[closed]] = status == TDC_OK;
    }
    for (; closed < files->count; closed++)
        tdc_sink_discard(files->sinks[closed]);
    tdc_text_free(&files->json);
    return status;
}

static void start_files(struct files *files, struct tdc_table *table)
{
    *files = (struct files){.table = table};
    tdc_text_init(&files->json, JSON_LIMIT);
}

tdc_status tdc_table_write(tdc_table *table, tdc_format format, const char *path,
                           struct tdc_error *error)
{
    struct files files;
    const struct tdc_output output = {.table = table, .format = format, .path = path};
    start_files(&files, table);
    tdc_status status = open_file(&files, &output, 0, error);
    for (size_t row = 0; row < table->row_count && status == TDC_OK; row++)
        status = write_row(&files, row, false, error);
    return close_files(&files, status, NULL, error);
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

static tdc_status follow_rows(struct files *files, struct tdc_error *error)
{
    struct tdc_table *table = files->table;
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
            status = write_row(files, start, false, error);
    }
    if (status == TDC_OK && !tdc_highlighter_finish(&highlighter))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for origins");
    tdc_highlighter_free(&highlighter);
    return status;
}

tdc_status tdc_table_follow(struct tdc_table *table, const struct tdc_output *outputs,
                            size_t output_count, bool *written, struct tdc_error *error)
{
    struct files files;
    tdc_status status = TDC_OK;
    start_files(&files, table);
    for (size_t i = 0; i < output_count && status == TDC_OK; i++)
        if (outputs[i].table == table)
            status = open_file(&files, &outputs[i], i, error);
    if (status == TDC_OK)
        status = follow_rows(&files, error);
    return close_files(&files, status, written, error);
}
