#include "io/table/xlsx_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/text/pytext.h"
#include "io/table/sink.h"
#include "io/base/utf8_step.h"

struct tdc_xlsx_column tdc_xlsx_column_name(size_t index)
{
    char reversed[3];
    struct tdc_xlsx_column column = {.length = 0};
    size_t count = 0;
    for (size_t rest = index + 1; rest != 0 && count < 3; rest = (rest - 1) / 26)
        reversed[count++] = (char)('A' + (rest - 1) % 26);
    while (count != 0)
        column.letters[column.length++] = reversed[--count];
    return column;
}

/* Bytes that stand for themselves. */
static const bool plain[256] = {
    ['\t'] = true, ['\n'] = true,        [' ' ... '%'] = true,  ['\'' ... ';'] = true,
    ['='] = true,  ['?' ... '^'] = true, ['`' ... 0x7f] = true,
};

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

/* Would a spreadsheet take the beginning for an escaped character? */
static bool looks_escaped(const char *text, size_t length)
{
    return length >= 7 && text[1] == 'x' && is_hex(text[2]) && is_hex(text[3]) && is_hex(text[4]) &&
           is_hex(text[5]) && text[6] == '_';
}

static void put_escaped(struct tdc_byte_writer *writer, uint32_t character)
{
    char text[16];
    int length = snprintf(text, sizeof text, "_x%04X_", (unsigned)(character & 0xffff));
    tdc_put(writer, text, (size_t)length);
}

/* One character that does not, or not always, stand for itself. Returns its bytes. */
static size_t put_special(struct tdc_byte_writer *writer, const char *text, size_t length)
{
    size_t taken;
    uint32_t character = tdc_utf8_step(text, length, &taken);
    if (character == '&')
        TDC_PUT_LITERAL(writer, "&amp;");
    else if (character == '<')
        TDC_PUT_LITERAL(writer, "&lt;");
    else if (character == '>')
        TDC_PUT_LITERAL(writer, "&gt;");
    else if (character == '_' && looks_escaped(text, length))
        put_escaped(writer, '_');
    else if (character < 0x20 || character == 0xfffe || character == 0xffff)
        put_escaped(writer, character);
    else if (character == TDC_UTF8_REPLACEMENT)
        TDC_PUT_LITERAL(writer, TDC_UTF8_REPLACEMENT_TEXT);
    else
        tdc_put(writer, text, taken);
    return taken;
}

static void put_characters(struct tdc_byte_writer *writer, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t run = at;
        while (run < length && plain[(unsigned char)text[run]])
            run++;
        tdc_put(writer, text + at, run - at);
        at = run;
        if (at < length)
            at += put_special(writer, text + at, length - at);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void put_text(struct tdc_byte_writer *writer, const char *text, size_t length)
{
    length = tdc_utf16_prefix(text, length, TDC_CELL_CHARACTERS);
    /* Readers drop blanks at the ends otherwise. */
    if (length != 0 && (is_blank(text[0]) || is_blank(text[length - 1])))
        TDC_PUT_LITERAL(writer, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    else
        TDC_PUT_LITERAL(writer, " t=\"inlineStr\"><is><t>");
    put_characters(writer, text, length);
    TDC_PUT_LITERAL(writer, "</t></is></c>");
}

static void put_number(struct tdc_byte_writer *writer, double value)
{
    char number[TDC_FLOAT_TEXT];
    size_t length = tdc_float_g16(value, number);
    if (!isfinite(value)) {
        put_text(writer, number, length);
        return;
    }
    TDC_PUT_LITERAL(writer, "><v>");
    tdc_put(writer, number, length);
    TDC_PUT_LITERAL(writer, "</v></c>");
}

static void put_cell(struct tdc_byte_writer *writer, const struct tdc_cell *cell)
{
    switch (cell->kind) {
    case TDC_CELL_NONE:
        TDC_PUT_LITERAL(writer, "/>");
        break;
    case TDC_CELL_TEXT:
        put_text(writer, cell->text, cell->length);
        break;
    case TDC_CELL_NUMBER:
        put_number(writer, cell->number);
        break;
    case TDC_CELL_BOOL:
        if (cell->truth)
            TDC_PUT_LITERAL(writer, " t=\"b\"><v>1</v></c>");
        else
            TDC_PUT_LITERAL(writer, " t=\"b\"><v>0</v></c>");
        break;
    }
}

struct tdc_xlsx_style tdc_xlsx_style(int style)
{
    struct tdc_xlsx_style made;
    int length = style == 0 ? snprintf(made.text, sizeof made.text, "\"")
                            : snprintf(made.text, sizeof made.text, "\" s=\"%d\"", style);
    made.length = (unsigned char)length;
    return made;
}

/* Starts a row; the digits of its number. */
static size_t begin_row(struct tdc_byte_writer *writer, uint32_t row, char digits[16])
{
    size_t length = (size_t)snprintf(digits, 16, "%u", (unsigned)row);
    TDC_PUT_LITERAL(writer, "<row r=\"");
    tdc_put(writer, digits, length);
    TDC_PUT_LITERAL(writer, "\">");
    return length;
}

void tdc_xlsx_put_styled_row(struct tdc_byte_writer *writer, const struct tdc_xlsx_column *columns,
                             size_t column_count, uint32_t row, const struct tdc_cell *cells,
                             const struct tdc_xlsx_style *styles, bool sparse)
{
    char digits[16];
    size_t length = begin_row(writer, row, digits);
    for (size_t i = 0; i < column_count; i++) {
        if (sparse && cells[i].kind == TDC_CELL_NONE)
            continue;
        TDC_PUT_LITERAL(writer, "<c r=\"");
        tdc_put(writer, columns[i].letters, columns[i].length);
        tdc_put(writer, digits, length);
        tdc_put(writer, styles[i].text, styles[i].length);
        put_cell(writer, &cells[i]);
    }
    TDC_PUT_LITERAL(writer, "</row>");
}

void tdc_xlsx_put_row(struct tdc_byte_writer *writer, const struct tdc_xlsx_column *columns,
                      size_t column_count, uint32_t row, const struct tdc_cell *cells, int style)
{
    /* What follows the column letters is the same in all cells of the row. */
    char place[32];
    size_t length = begin_row(writer, row, place);
    struct tdc_xlsx_style suffix = tdc_xlsx_style(style);
    memcpy(place + length, suffix.text, suffix.length);
    length += suffix.length;
    for (size_t i = 0; i < column_count; i++) {
        TDC_PUT_LITERAL(writer, "<c r=\"");
        tdc_put(writer, columns[i].letters, columns[i].length);
        tdc_put(writer, place, length);
        put_cell(writer, &cells[i]);
    }
    TDC_PUT_LITERAL(writer, "</row>");
}
