/*
 * sink.h - where the rows of a result table go: xlsx, csv or json.
 *
 * Rows are written in order and held nowhere: memory does not grow with the table.
 */
#ifndef TDC_IO_SINK_H
#define TDC_IO_SINK_H

#include "tdcmp.h"

/* Excel takes 1,048,576 rows; tables are split a little below. */
#define TDC_SHEET_ROWS 1048500u
/* and 32,767 characters (UTF-16 units) a cell; longer texts are cut at a character boundary. */
#define TDC_CELL_CHARACTERS 32767u

struct tdc_sink;

struct tdc_sink_spec {
    const char *path;           /* final name of the file */
    bool exclusive;             /* fail if it exists; else it is replaced */
    const char *const *columns; /* UTF-8 names */
    size_t column_count;
    size_t rows; /* how many rows will come, which xlsx takes at its word; decides about a split */
    /* xlsx: name of the only sheet, letters and digits; split tables use part_0, part_1, ... */
    const char *sheet;
    /* xlsx: bold framed header as pandas writes it */
    bool header_style;
    /* xlsx: frozen header, filters, widths by column content kind; json and csv: no effect */
    bool polish;
    const double *widths; /* column widths for polish, in characters; NULL: by header */
    /* Texts Excel would run as a formula (first character + - = @, or a tab or carriage return
     * before it, half or full width) get a leading apostrophe in csv; xlsx always writes texts as
     * texts. */
    bool escape_formulas;
    /* xlsx: store yellow as ARGB 00FFFF00, as the original tool does, not as FFFFFF00 */
    bool argb_yellow;
    /* json: an object with the rows as its member "rows", and what tdc_sink_tail gives behind it;
     * otherwise the file is the array of rows */
    bool object;
};

/* Creates the file under a temporary name. The spec need not outlive the call. */
tdc_status tdc_sink_open(tdc_format format, const struct tdc_sink_spec *spec,
                         struct tdc_sink **sink, struct tdc_error *error);
/* cells has column_count entries. Infinite and NaN numbers are written as the texts inf, -inf, nan
 * (json: Infinity, -Infinity, NaN). Bytes that are not UTF-8 become U+FFFD. In json a row with a
 * colour has a last member "colour". After a failure the sink only takes close or discard. */
tdc_status tdc_sink_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                        struct tdc_error *error);
/* json: further members of the next row alone, `"name": value` with commas between; "" or NULL:
 * none. No effect on others. */
void tdc_sink_members(struct tdc_sink *sink, const char *members);
/* json with spec.object: further members, `"name": value` with commas between; the text must live
 * until the sink is closed. No effect on others. */
void tdc_sink_tail(struct tdc_sink *sink, const char *members);
/* Completes the file and gives it its name. Frees the sink in any case; on failure, also an earlier
 * one of a row, there is no file. */
tdc_status tdc_sink_close(struct tdc_sink *sink, struct tdc_error *error);
/* Gives up: nothing is left behind. NULL is fine. */
void tdc_sink_discard(struct tdc_sink *sink);

struct tdc_text;
/* A text in quotes as JSON has it. */
void tdc_json_add_string(struct tdc_text *out, const char *text, size_t length);
/* A number; NaN and infinities as the sink writes them. */
void tdc_json_add_number(struct tdc_text *out, double value);

#endif
