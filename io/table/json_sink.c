/*
 * json_sink.c - an array with one object a row, each on its own line (RFC 8259), alone or as a
 * member of an object.
 *
 * Numbers are the shortest text that reads back the same; JSON has no word for the others, so they
 * are the strings "NaN", "Infinity" and "-Infinity".
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/text/pytext.h"
#include "io/table/sink_backend.h"
#include "io/base/text.h"
#include "io/base/utf8_step.h"

/* Names come from the program itself; the limit only guards the sum of their lengths. */
#define KEYS_LIMIT ((size_t)64 << 20)

/* What stands before each value, `{"A": ` or `, "B": `, in one text. */
struct json_state {
    struct tdc_text keys;
    size_t *ends; /* of each column's piece */
};

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Room for the longest escape. */
#define ESCAPE_ROOM 8

static size_t escape(char out[ESCAPE_ROOM], unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    out[0] = '\\';
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if ((unsigned char)letters[i] == byte) {
            out[1] = letters[i + 1];
            return 2;
        }
    }
    memcpy(out + 1, "u00", 3);
    out[4] = hex[byte >> 4];
    out[5] = hex[byte & 15];
    return 6;
}

/* The next piece of a text as it stands between the quotes: either a run of the text itself or a
 * short replacement in `room`. Returns the bytes of the text it stands for. */
static size_t next_piece(const char *text, size_t length, char room[ESCAPE_ROOM],
                         const char **piece, size_t *piece_length)
{
    size_t run = 0;
    while (run < length && is_plain((unsigned char)text[run]))
        run++;
    *piece = text;
    *piece_length = run;
    if (run != 0)
        return run;
    size_t taken;
    uint32_t character = tdc_utf8_step(text, length, &taken);
    *piece_length = taken;
    if (character < 0x80) {
        *piece = room;
        *piece_length = escape(room, (unsigned char)character);
    } else if (character == TDC_UTF8_REPLACEMENT) {
        *piece = TDC_UTF8_REPLACEMENT_TEXT;
        *piece_length = sizeof TDC_UTF8_REPLACEMENT_TEXT - 1;
    }
    return taken;
}

static void put_string(struct tdc_byte_writer *writer, const char *text, size_t length)
{
    tdc_putc(writer, '"');
    for (size_t at = 0; at < length;) {
        char room[ESCAPE_ROOM];
        const char *piece;
        size_t piece_length;
        at += next_piece(text + at, length - at, room, &piece, &piece_length);
        tdc_put(writer, piece, piece_length);
    }
    tdc_putc(writer, '"');
}

void tdc_json_add_string(struct tdc_text *out, const char *text, size_t length)
{
    tdc_text_addc(out, '"');
    for (size_t at = 0; at < length;) {
        char room[ESCAPE_ROOM];
        const char *piece;
        size_t piece_length;
        at += next_piece(text + at, length - at, room, &piece, &piece_length);
        tdc_text_add(out, piece, piece_length);
    }
    tdc_text_addc(out, '"');
}

void tdc_json_add_number(struct tdc_text *out, double value)
{
    char text[TDC_FLOAT_TEXT];
    if (isfinite(value))
        tdc_text_add(out, text, tdc_float_repr(value, text));
    else
        tdc_text_adds(out, isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

static void add_key(struct tdc_text *keys, const char *name)
{
    tdc_json_add_string(keys, name, strlen(name));
    tdc_text_adds(keys, ": ");
}

/* The shortest text that reads back as the same double; whole numbers without ".0", but a negative
 * zero keeps it, so that readers do not take it for the integer 0. */
static void put_finite(struct tdc_byte_writer *writer, double value)
{
    char text[TDC_FLOAT_TEXT];
    size_t length = tdc_float_repr(value, text);
    if (length > 2 && value != 0 && memcmp(text + length - 2, ".0", 2) == 0)
        length -= 2;
    tdc_put(writer, text, value == 0 && !signbit(value) ? 1 : length);
}

static void put_number(struct tdc_byte_writer *writer, double value)
{
    if (isnan(value))
        TDC_PUT_LITERAL(writer, "\"NaN\"");
    else if (isinf(value) && value > 0)
        TDC_PUT_LITERAL(writer, "\"Infinity\"");
    else if (isinf(value))
        TDC_PUT_LITERAL(writer, "\"-Infinity\"");
    else
        put_finite(writer, value);
}

static void put_value(struct tdc_byte_writer *writer, const struct tdc_cell *cell)
{
    switch (cell->kind) {
    case TDC_CELL_NONE:
        TDC_PUT_LITERAL(writer, "null");
        break;
    case TDC_CELL_TEXT:
        put_string(writer, cell->text, cell->length);
        break;
    case TDC_CELL_NUMBER:
        put_number(writer, cell->number);
        break;
    case TDC_CELL_BOOL:
        if (cell->truth)
            TDC_PUT_LITERAL(writer, "true");
        else
            TDC_PUT_LITERAL(writer, "false");
        break;
    }
}

static tdc_status json_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                           struct tdc_error *error)
{
    struct tdc_byte_writer *writer = &sink->writer;
    const struct json_state *state = sink->state;
    if (sink->rows != 0)
        TDC_PUT_LITERAL(writer, ",\n");
    size_t begin = 0;
    for (size_t i = 0; i < sink->column_count; i++) {
        tdc_put(writer, state->keys.data + begin, state->ends[i] - begin);
        begin = state->ends[i];
        put_value(writer, &cells[i]);
    }
    if (sink->members != NULL && sink->members[0] != '\0') {
        TDC_PUT_LITERAL(writer, ", ");
        tdc_put(writer, sink->members, strlen(sink->members));
    }
    if (colour == TDC_COLOUR_YELLOW)
        TDC_PUT_LITERAL(writer, ", \"colour\": \"yellow\"");
    else if (colour == TDC_COLOUR_RED)
        TDC_PUT_LITERAL(writer, ", \"colour\": \"red\"");
    tdc_putc(writer, '}');
    return writer->failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

static tdc_status json_begin(struct tdc_sink *sink, const struct tdc_sink_spec *spec,
                             struct tdc_error *error)
{
    struct json_state *state = calloc(1, sizeof *state);
    sink->state = state;
    if (state == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    tdc_text_init(&state->keys, KEYS_LIMIT);
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
    if (sink->object)
        TDC_PUT_LITERAL(&sink->writer, "{\"rows\": ");
    TDC_PUT_LITERAL(&sink->writer, "[\n");
    return TDC_OK;
}

static tdc_status json_end(struct tdc_sink *sink, struct tdc_error *error)
{
    if (sink->rows != 0)
        tdc_putc(&sink->writer, '\n');
    tdc_putc(&sink->writer, ']');
    if (sink->object) {
        if (sink->tail != NULL) {
            TDC_PUT_LITERAL(&sink->writer, ",\n");
            tdc_put(&sink->writer, sink->tail, strlen(sink->tail));
        }
        tdc_putc(&sink->writer, '}');
    }
    tdc_putc(&sink->writer, '\n');
    return tdc_byte_writer_flush(&sink->writer) ? TDC_OK : tdc_sink_write_error(sink, error);
}

static void json_release(struct tdc_sink *sink)
{
    struct json_state *state = sink->state;
    if (state == NULL)
        return;
    tdc_text_free(&state->keys);
    free(state->ends);
    free(state);
    sink->state = NULL;
}

const struct tdc_sink_backend tdc_json_backend = {json_begin, json_row, json_end, json_release};
