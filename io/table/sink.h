/*
 * sink.h - where the rows of a result table go: xlsx, csv, json or jsonl.
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
    bool streamed;              /* goes to the descriptor when complete; the path is a name */
    int stream;                 /* of streamed */
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
    /* json and jsonl: rows are objects that the caller has made (tdc_sink_object), with what
     * tdc_sink_head and tdc_sink_tail give around them; otherwise they are made of the cells, and
     * the file is an array of them, or has one a line */
    bool objects;
};

/* Creates the file under a temporary name. The spec need not outlive the call. */
tdc_status tdc_sink_open(tdc_format format, const struct tdc_sink_spec *spec,
                         struct tdc_sink **sink, struct tdc_error *error);
/* cells has column_count entries. Infinite and NaN numbers are written as the texts inf, -inf, nan
 * (json: Infinity, -Infinity, NaN, in quotes). Bytes that are not UTF-8 become U+FFFD. In json a
 * row with a colour has a last member "colour". After a failure the sink only takes close or
 * discard. */
tdc_status tdc_sink_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                        struct tdc_error *error);
/*
 * json and jsonl with spec.objects: members of the whole, `"name": value` with commas between,
 * before the first row and behind the last; the text of the tail must live until the sink is
 * closed. json: an object with the rows as its member "rows" between the two. jsonl: the head is
 * the first line; it takes no tail. No effect on others.
 */
tdc_status tdc_sink_head(struct tdc_sink *sink, const char *members, struct tdc_error *error);
void tdc_sink_tail(struct tdc_sink *sink, const char *members);
/* A row, in place of tdc_sink_row. */
tdc_status tdc_sink_object(struct tdc_sink *sink, const char *object, size_t length,
                           struct tdc_error *error);
/* Completes the file and gives it its name. Frees the sink in any case; on failure, also an earlier
 * one of a row, there is no file. */
tdc_status tdc_sink_close(struct tdc_sink *sink, struct tdc_error *error);
/* Gives up: nothing is left behind. NULL is fine. */
void tdc_sink_discard(struct tdc_sink *sink);

#endif
