/* write.c - a table as files, after or while it is being filled. */
#include <stdlib.h>

#include "host/table/columns.h"
#include "host/table/sheet.h"
#include "host/table/table_json.h"
#include "io/base/error.h"
#include "io/table/row_blocks.h"
#include "io/table/sink.h"

/* As many files as there are formats, and some. */
#define MOST_SINKS 8

/* Counts and origins as JSON: some hundred bytes an origin. A row is no longer than its texts. */
#define JSON_LIMIT ((size_t)1 << 30)

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

/* The files of one table. */
struct files {
    struct tdc_table *table;
    const struct tdc_output *outputs;
    size_t output_count;
    struct tdc_sink *sinks[MOST_SINKS];
    size_t places[MOST_SINKS]; /* of the sinks, among the outputs */
    size_t opened;
    struct tdc_text json;           /* of the row, and of what stands around the rows */
    struct tdc_sheet_layout layout; /* of extended rules */
    tdc_status status;              /* of writing */
    struct tdc_error *error;
};

static bool takes_objects(const struct tdc_output *output)
{
    return output->table->rules->extended &&
           (output->format == TDC_FORMAT_JSON || output->format == TDC_FORMAT_JSONL);
}

/* Files that hold, before their first row, what only the last one decides: how many rows were
 * chosen, or all counts. The others follow the rows as they are judged. */
static bool comes_late(const struct tdc_output *output)
{
    return output->classes != 0 || (takes_objects(output) && output->format == TDC_FORMAT_JSONL);
}

static bool is_sheet(const struct tdc_output *output)
{
    return output->table->rules->extended && output->format == TDC_FORMAT_XLSX;
}

static tdc_status no_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a result file");
}

/* Of a table all of whose rows are judged and coloured, or for an output of all rows. */
static tdc_status open_sink(const struct tdc_output *output, const struct tdc_sheet_layout *layout,
                            struct tdc_sink **sink, struct tdc_error *error)
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
        .objects = extended,
    };
    if (is_sheet(output))
        tdc_sheet_describe(table, layout, &spec);
    return tdc_sink_open(output->format, &spec, sink, error);
}

/* The members before the rows; of a file whose first line is all there is, those behind, too. */
static tdc_status put_head(struct files *files, size_t i)
{
    const struct tdc_output *output = &files->outputs[files->places[i]];
    struct tdc_json_object object;
    if (!takes_objects(output))
        return TDC_OK;
    tdc_text_clear(&files->json);
    tdc_object_begin_bare(&object, &files->json);
    tdc_table_json_head(files->table, &object);
    if (output->format == TDC_FORMAT_JSONL)
        tdc_table_json_tail(files->table, &object);
    tdc_object_end_bare(&object);
    if (files->json.failed)
        return no_memory(files->error);
    return tdc_sink_head(files->sinks[i], tdc_text_get(&files->json), files->error);
}

static void open_file(struct files *files, size_t place)
{
    const struct tdc_output *output = &files->outputs[place];
    if (files->opened == MOST_SINKS) {
        files->status = tdc_fail(files->error, TDC_ERR_ARGUMENT, "%s: too many files for one table",
                                 output->path);
        return;
    }
    files->status = open_sink(output, &files->layout, &files->sinks[files->opened], files->error);
    if (files->status != TDC_OK)
        return;
    files->places[files->opened++] = place;
    files->status = put_head(files, files->opened - 1);
}

static void open_files(struct files *files, bool late)
{
    for (size_t i = 0; i < files->output_count && files->status == TDC_OK; i++)
        if (files->outputs[i].table == files->table && comes_late(&files->outputs[i]) == late)
            open_file(files, i);
}

/* The cells of a row, and its object, are made once for all files [first, end). */
static void write_row(struct files *files, size_t row, size_t first, size_t end)
{
    struct tdc_table *table = files->table;
    struct tdc_cell cells[TDC_MOST_COLUMNS];
    bool filled = false, composed = false;
    for (size_t i = first; i < end && files->status == TDC_OK; i++) {
        if (takes_objects(&files->outputs[files->places[i]])) {
            if (!composed) {
                tdc_text_clear(&files->json);
                tdc_table_json_row(table, row, &files->json);
                composed = true;
            }
            files->status = files->json.failed ? no_memory(files->error)
                                               : tdc_sink_object(files->sinks[i], files->json.data,
                                                                 files->json.length, files->error);
        } else {
            if (!filled)
                files->status = tdc_table_row(table, row, cells, files->error);
            filled = true;
            bool sheet = is_sheet(&files->outputs[files->places[i]]);
            struct tdc_cell arranged[TDC_MOST_COLUMNS];
            if (files->status == TDC_OK && sheet)
                tdc_sheet_cells(&files->layout, cells, arranged);
            if (files->status == TDC_OK)
                files->status = tdc_sink_row(files->sinks[i], sheet ? arranged : cells,
                                             (tdc_colour)table->rows[row].colour, files->error);
        }
    }
}

/* The files that had to wait for the last row. */
static void write_late(struct files *files)
{
    size_t first = files->opened;
    open_files(files, true);
    for (size_t i = first; i < files->opened; i++) {
        unsigned classes = files->outputs[files->places[i]].classes;
        for (size_t row = 0; row < files->table->row_count && files->status == TDC_OK; row++)
            if (tdc_table_selected(files->table, row, classes))
                write_row(files, row, i, i + 1);
    }
}

/* Closes the files of a table whose rows are written (status: how that went). One that fails takes
 * those behind it along: nothing of them is left. written, if any, tells by place what is. */
static tdc_status close_files(struct files *files, tdc_status status, bool *written)
{
    if (status == TDC_OK && files->table->rules->extended) {
        struct tdc_json_object object;
        tdc_text_clear(&files->json);
        tdc_object_begin_bare(&object, &files->json);
        tdc_table_json_tail(files->table, &object);
        tdc_object_end_bare(&object);
        if (files->json.failed)
            status = no_memory(files->error);
    }
    size_t closed = 0;
    for (; closed < files->opened && status == TDC_OK; closed++) {
        if (is_sheet(&files->outputs[files->places[closed]]))
            status = tdc_sheet_pages(files->table, files->sinks[closed], files->error);
        if (status != TDC_OK)
            break;
        tdc_sink_tail(files->sinks[closed], tdc_text_get(&files->json));
        status = tdc_sink_close(files->sinks[closed], files->error);
        if (written != NULL)
            written[files->places[closed]] = status == TDC_OK;
    }
    for (; closed < files->opened; closed++)
        tdc_sink_discard(files->sinks[closed]);
    tdc_text_free(&files->json);
    return status;
}

static void start_files(struct files *files, struct tdc_table *table,
                        const struct tdc_output *outputs, size_t count, struct tdc_error *error)
{
    *files =
        (struct files){.table = table, .outputs = outputs, .output_count = count, .error = error};
    tdc_text_init(&files->json, JSON_LIMIT);
    if (table->rules->extended)
        tdc_sheet_arrange(table, &files->layout);
    open_files(files, false);
}

tdc_status tdc_table_write(tdc_table *table, tdc_format format, const char *path,
                           struct tdc_error *error)
{
    struct files files;
    const struct tdc_output output = {.table = table, .format = format, .path = path};
    start_files(&files, table, &output, 1, error);
    for (size_t row = 0; row < table->row_count && files.status == TDC_OK; row++)
        write_row(&files, row, 0, files.opened);
    write_late(&files);
    return close_files(&files, files.status, NULL);
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

static tdc_status cells_of(void *table, size_t row, struct tdc_text *texts, struct tdc_cell *cells,
                           struct tdc_error *error)
{
    return tdc_table_cells(table, row, texts, cells, error);
}

/* Smaller tables are written before a thread has begun. */
#define ROWS_FOR_HELPERS 2048

/* NULL: rows are written one by one. */
static struct tdc_row_blocks *start_blocks(struct files *files, int threads)
{
    bool alone = files->opened == 1 && files->status == TDC_OK &&
                 !takes_objects(&files->outputs[files->places[0]]) &&
                 !is_sheet(&files->outputs[files->places[0]]);
    if (!alone || files->table->row_count < ROWS_FOR_HELPERS)
        return NULL;
    return tdc_row_blocks_start(files->sinks[0], threads, cells_of, files->table);
}

/* A failure to write is kept, and the rows are judged to the end: they are the answer. */
static tdc_status follow_rows(struct files *files, int threads)
{
    struct tdc_table *table = files->table;
    struct tdc_highlighter highlighter;
    tdc_highlighter_init(&highlighter, table);
    struct tdc_row_blocks *blocks = start_blocks(files, threads);
    tdc_status status = TDC_OK;
    for (size_t start = 0; start < table->row_count && status == TDC_OK;) {
        size_t end = tdc_highlighter_block(&highlighter, start);
        status = judge_block(&highlighter, start, end, files->error);
        if (status == TDC_OK && blocks != NULL)
            tdc_row_blocks_ready(blocks, end);
        for (; blocks == NULL && start < end && status == TDC_OK; start++)
            write_row(files, start, 0, files->opened);
        start = end;
    }
    if (blocks != NULL)
        files->status = tdc_row_blocks_end(blocks, status == TDC_OK ? files->error : NULL);
    if (status == TDC_OK && !tdc_highlighter_finish(&highlighter))
        status = tdc_fail(files->error, TDC_ERR_MEMORY, "out of memory for origins");
    tdc_highlighter_free(&highlighter);
    return status;
}

tdc_status tdc_table_follow(struct tdc_table *table, const struct tdc_output *outputs,
                            size_t output_count, int threads, bool *written,
                            struct tdc_error *error)
{
    struct files files;
    start_files(&files, table, outputs, output_count, error);
    tdc_status status = follow_rows(&files, threads);
    if (status == TDC_OK)
        write_late(&files);
    return close_files(&files, status == TDC_OK ? files.status : status, written);
}
