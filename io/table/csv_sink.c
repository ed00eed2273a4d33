/*
 * csv_sink.c - RFC 4180 in UTF-8 without a byte order mark, lines ended by "\n".
 *
 * Cells are quoted only where the format asks for it. A NUL, which ends the file for many readers,
 * and bytes that are not UTF-8 become U+FFFD.
 */
#include <math.h>
#include <string.h>

#include "io/base/error.h"
#include "io/text/pytext.h"
#include "io/table/sink_backend.h"
#include "io/base/utf8_step.h"

/* What a text holds, told by its bytes. */
enum {
    HAS_QUOTE = 1,    /* must be doubled */
    NEEDS_QUOTES = 2, /* separators and line ends */
    NEEDS_CHECK = 4   /* not ASCII, or NUL */
};

static const unsigned char byte_traits[256] = {
    [0] = NEEDS_CHECK,     ['"'] = HAS_QUOTE | NEEDS_QUOTES,
    [','] = NEEDS_QUOTES,  ['\n'] = NEEDS_QUOTES,
    ['\r'] = NEEDS_QUOTES, [0x80 ... 0xff] = NEEDS_CHECK,
};

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* The high bit of a byte that equals c; of those behind one it may be wrong. */
static uint64_t bytes_equal(uint64_t word, char c)
{
    uint64_t difference = word ^ (ONES * (unsigned char)c);
    return (difference - ONES) & ~difference & HIGHS;
}

/* Whether one of eight bytes may have traits: all of them that do are control characters, beyond
 * ASCII, quotes or commas. */
static bool has_traits(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return ((((word - ONES * 0x20) | word) & HIGHS) | bytes_equal(word, '"') |
            bytes_equal(word, ',')) != 0;
}

static unsigned bytes_traits(const char *text, size_t length)
{
    unsigned traits = 0;
    for (size_t i = 0; i < length; i++)
        traits |= byte_traits[(unsigned char)text[i]];
    return traits;
}

static unsigned text_traits(const char *text, size_t length)
{
    unsigned traits = 0;
    for (; length >= 8; text += 8, length -= 8)
        if (has_traits(text))
            traits |= bytes_traits(text, 8);
    return traits | bytes_traits(text, length);
}

/* Would a spreadsheet run the text? It looks past tabs and carriage returns, and takes the full
 * width forms of the signs (U+FF0B, U+FF0D, U+FF1D, U+FF20) for the signs. */
static bool is_formula(const char *text, size_t length)
{
    while (length != 0 && (*text == '\t' || *text == '\r')) {
        text++;
        length--;
    }
    if (length == 0)
        return false;
    size_t taken;
    uint32_t first = tdc_utf8_step(text, length, &taken);
    if (first >= 0xff01 && first <= 0xff5e)
        first -= 0xff01 - 0x21;
    return first == '+' || first == '-' || first == '=' || first == '@';
}

static void put_checked(struct tdc_byte_writer *writer, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t taken;
        uint32_t character = tdc_utf8_step(text + at, length - at, &taken);
        if (character == 0 || character == TDC_UTF8_REPLACEMENT)
            TDC_PUT_LITERAL(writer, TDC_UTF8_REPLACEMENT_TEXT);
        else
            tdc_put(writer, text + at, taken);
        if (character == '"')
            tdc_putc(writer, '"');
        at += taken;
    }
}

static void put_doubling_quotes(struct tdc_byte_writer *writer, const char *text, size_t length)
{
    while (length != 0) {
        const char *quote = memchr(text, '"', length);
        size_t run = quote == NULL ? length : (size_t)(quote - text) + 1;
        tdc_put(writer, text, run);
        if (quote != NULL)
            tdc_putc(writer, '"');
        text += run;
        length -= run;
    }
}

static void put_text(const struct tdc_sink *sink, const char *text, size_t length,
                     struct tdc_byte_writer *writer)
{
    unsigned traits = text_traits(text, length);
    /* An empty cell alone on its line would be an empty line, which readers skip. */
    bool quoted = (traits & NEEDS_QUOTES) != 0 || (length == 0 && sink->column_count == 1);
    if (quoted)
        tdc_putc(writer, '"');
    if (sink->escape_formulas && is_formula(text, length))
        tdc_putc(writer, '\'');
    if (traits & NEEDS_CHECK)
        put_checked(writer, text, length);
    else if (traits & HAS_QUOTE)
        put_doubling_quotes(writer, text, length);
    else
        tdc_put(writer, text, length);
    if (quoted)
        tdc_putc(writer, '"');
}

/* Numbers of a row that have been made into texts: both sides often have the same. */
#define RECENT_NUMBERS 16

struct recent_number {
    uint64_t bits;
    size_t length;
    char text[TDC_FLOAT_TEXT];
};

struct recent_numbers {
    unsigned used; /* a bit for each place that holds one */
    struct recent_number numbers[RECENT_NUMBERS];
};

/* In tables of our own a number reads back as the same double; those of others have 16 digits. */
static size_t number_text(const struct tdc_sink *sink, double value, char text[TDC_FLOAT_TEXT])
{
    size_t length =
        sink->escape_formulas ? tdc_float_repr(value, text) : tdc_float_g16(value, text);
    bool whole = sink->escape_formulas && length > 2 && memcmp(text + length - 2, ".0", 2) == 0;
    return whole ? length - 2 : length;
}

static void put_number(const struct tdc_sink *sink, double value, struct recent_numbers *recent,
                       struct tdc_byte_writer *writer)
{
    if (value == 0 && !signbit(value)) {
        tdc_putc(writer, '0');
        return;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned place = (unsigned)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 60);
    struct recent_number *number = &recent->numbers[place];
    if ((recent->used & 1u << place) == 0 || number->bits != bits) {
        recent->used |= 1u << place;
        number->bits = bits;
        number->length = number_text(sink, value, number->text);
    }
    tdc_put(writer, number->text, number->length);
}

static void csv_form(const struct tdc_sink *sink, const struct tdc_cell *cells,
                     struct tdc_byte_writer *writer)
{
    struct recent_numbers recent;
    recent.used = 0;
    for (size_t i = 0; i < sink->column_count; i++) {
        if (i != 0)
            tdc_putc(writer, ',');
        switch (cells[i].kind) {
        case TDC_CELL_NONE:
            break;
        case TDC_CELL_TEXT:
            put_text(sink, cells[i].text, cells[i].length, writer);
            break;
        case TDC_CELL_NUMBER:
            if (cells[i].text != NULL)
                tdc_put(writer, cells[i].text, cells[i].length);
            else
                put_number(sink, cells[i].number, &recent, writer);
            break;
        case TDC_CELL_BOOL:
            if (cells[i].truth)
                TDC_PUT_LITERAL(writer, "True");
            else
                TDC_PUT_LITERAL(writer, "False");
            break;
        }
    }
    tdc_putc(writer, '\n');
}

static tdc_status csv_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                          struct tdc_error *error)
{
    (void)colour;
    csv_form(sink, cells, &sink->writer);
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

static tdc_status csv_begin(struct tdc_sink *sink, const struct tdc_sink_spec *spec,
                            struct tdc_error *error)
{
    for (size_t i = 0; i < spec->column_count; i++) {
        if (i != 0)
            tdc_putc(&sink->writer, ',');
        put_text(sink, spec->columns[i], strlen(spec->columns[i]), &sink->writer);
    }
    tdc_putc(&sink->writer, '\n');
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

static tdc_status csv_end(struct tdc_sink *sink, struct tdc_error *error)
{
    return tdc_byte_writer_flush(&sink->writer) ? TDC_OK : tdc_sink_write_error(sink, error);
}

static void csv_release(struct tdc_sink *sink)
{
    (void)sink;
}

const struct tdc_sink_backend tdc_csv_backend = {
    .begin = csv_begin, .row = csv_row, .end = csv_end, .release = csv_release, .form = csv_form};
