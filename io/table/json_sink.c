/*
 * json_sink.c - an array with one object a row, each on its own line (RFC 8259), alone or as a
 * member of an object; or the lines without the array.
 *
 * Where rows are made of cells, numbers that JSON has no word for are the strings "NaN", "Infinity"
 * and "-Infinity".
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/table/sink_backend.h"
#include "io/table/json_object.h"

/* Names come from the program itself; the limit only guards the sum of their lengths. */
#define KEYS_LIMIT ((size_t)64 << 20)
#define LINE_LIMIT ((size_t)1 << 30)

/* What stands before each value, `{"A": ` or `, "B": `, in one text. */
struct json_state {
    struct tdc_text keys;
    size_t *ends; /* of each column's piece */
    struct tdc_text line;
};

static void add_key(struct tdc_text *keys, const char *name)
{
    tdc_json_add_string(keys, name, strlen(name));
    tdc_text_adds(keys, ": ");
}

static void put_number(struct tdc_text *line, double value)
{
    if (isfinite(value))
        tdc_json_add_finite(line, value);
    else
        tdc_text_addf(line, "\"%s\"", tdc_json_word(value));
}

static void put_value(struct tdc_text *line, const struct tdc_cell *cell)
{
    switch (cell->kind) {
    case TDC_CELL_NONE:
        tdc_text_adds(line, "null");
        break;
    case TDC_CELL_TEXT:
        tdc_json_add_string(line, cell->text, cell->length);
        break;
    case TDC_CELL_NUMBER:
        put_number(line, cell->number);
        break;
    case TDC_CELL_BOOL:
        tdc_text_adds(line, cell->truth ? "true" : "false");
        break;
    }
}

static tdc_status json_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                           struct tdc_error *error)
{
    struct json_state *state = sink->state;
    struct tdc_text *line = &state->line;
    tdc_text_clear(line);
    if (sink->rows != 0 && !sink->lines)
        tdc_text_adds(line, ",\n");
    size_t begin = 0;
    for (size_t i = 0; i < sink->column_count; i++) {
        tdc_text_add(line, state->keys.data + begin, state->ends[i] - begin);
        begin = state->ends[i];
        put_value(line, &cells[i]);
    }
    if (colour == TDC_COLOUR_YELLOW)
        tdc_text_adds(line, ", \"colour\": \"yellow\"");
    else if (colour == TDC_COLOUR_RED)
        tdc_text_adds(line, ", \"colour\": \"red\"");
    tdc_text_adds(line, sink->lines ? "}\n" : "}");
    if (line->failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", sink->file.path);
    tdc_put(&sink->writer, line->data, line->length);
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

static tdc_status json_begin(struct tdc_sink *sink, const struct tdc_sink_spec *spec,
                             struct tdc_error *error)
{
    struct json_state *state = calloc(1, sizeof *state);
    sink->state = state;
    if (state == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    tdc_text_init(&state->keys, KEYS_LIMIT);
    tdc_text_init(&state->line, LINE_LIMIT);
    state->ends = calloc(spec->column_count, sizeof *state->ends);
    if (state->ends == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    for (size_t i = 0; i < spec->column_count; i++) {
        tdc_text_adds(&state->keys, i == 0 ? "{" : ", ");
        add_key(&state->keys, spec->columns[i]);
        state->ends[i] = state->keys.length;
    }
    if (state->keys.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: the column names are too long", spec->path);
    if (!sink->objects && !sink->lines)
        TDC_PUT_LITERAL(&sink->writer, "[\n");
    return TDC_OK;
}

static void end_list(struct tdc_sink *sink)
{
    struct tdc_byte_writer *writer = &sink->writer;
    if (sink->rows != 0)
        tdc_putc(writer, '\n');
    tdc_putc(writer, ']');
    if (sink->objects && sink->tail != NULL) {
        TDC_PUT_LITERAL(writer, ",\n");
        tdc_put(writer, sink->tail, strlen(sink->tail));
    }
    if (sink->objects)
        tdc_putc(writer, '}');
    tdc_putc(writer, '\n');
}

static tdc_status json_end(struct tdc_sink *sink, struct tdc_error *error)
{
    if (!sink->lines)
        end_list(sink);
    return tdc_byte_writer_flush(&sink->writer) ? TDC_OK : tdc_sink_write_error(sink, error);
}

static void json_release(struct tdc_sink *sink)
{
    struct json_state *state = sink->state;
    if (state == NULL)
        return;
    tdc_text_free(&state->keys);
    tdc_text_free(&state->line);
    free(state->ends);
    free(state);
    sink->state = NULL;
}

const struct tdc_sink_backend tdc_json_backend = {
    .begin = json_begin, .row = json_row, .end = json_end, .release = json_release};
