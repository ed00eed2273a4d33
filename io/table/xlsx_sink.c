/*
 * xlsx_sink.c - Excel workbooks.
 *
 * The sheets are deflated into the result as their rows come: there is no other file, memory is
 * taken when the sink is opened and never after, and every write is looked at. Libraries for
 * workbooks do none of the three.
 */
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/table/sink_backend.h"
#include "io/table/xlsx_parts.h"

/* Rows of a sheet below the header. */
#define EXCEL_ROWS ((size_t)1048575)

struct xlsx_state {
    struct tdc_xlsx_book book;
    struct tdc_cell *header;
    char *header_texts; /* all names, one after the other */
    int header_style;
    size_t sheet;     /* the one being written */
    size_t rows_here; /* in it, or in the page */
    size_t page;      /* being written; page_count: none yet */
    /* by colour and column; NULL: the colour alone */
    struct tdc_xlsx_style *styles;
};

/* ---- the beginning -------------------------------------------------------------------------- */

static bool copy_header(struct xlsx_state *state, const struct tdc_sink_spec *spec)
{
    size_t total = 1;
    for (size_t i = 0; i < spec->column_count; i++)
        total += strlen(spec->columns[i]);
    state->book.columns = calloc(spec->column_count, sizeof *state->book.columns);
    state->header = calloc(spec->column_count, sizeof *state->header);
    state->header_texts = malloc(total);
    if (state->book.columns == NULL || state->header == NULL || state->header_texts == NULL)
        return false;
    char *to = state->header_texts;
    for (size_t i = 0; i < spec->column_count; i++) {
        size_t length = strlen(spec->columns[i]);
        memcpy(to, spec->columns[i], length);
        state->header[i] = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = to, .length = length};
        state->book.columns[i] = tdc_xlsx_column_name(i);
        to += length;
    }
    return true;
}

/* Room for the header with the arrow of its filter, unless the caller knows better. */
static bool choose_widths(struct xlsx_state *state, const struct tdc_sink_spec *spec)
{
    if (!spec->polish)
        return true;
    state->book.widths = calloc(spec->column_count, sizeof *state->book.widths);
    if (state->book.widths == NULL)
        return false;
    for (size_t i = 0; i < spec->column_count; i++) {
        double width = (double)strlen(spec->columns[i]) + 3;
        if (spec->widths != NULL)
            width = spec->widths[i];
        /* Excel refuses the file above 255; NaN and negative widths make no sense. */
        state->book.widths[i] = width >= 1 ? (width <= 255 ? width : 255) : 1;
    }
    return true;
}

/* What only polished books have. */
static bool copy_polish(struct xlsx_state *state, const struct tdc_sink_spec *spec)
{
    struct tdc_xlsx_book *book = &state->book;
    size_t columns = spec->column_count;
    if (!spec->polish)
        return true;
    if (spec->looks != NULL) {
        state->styles = calloc(3 * columns, sizeof *state->styles);
        if (state->styles == NULL)
            return false;
        for (size_t i = 0; i < 3 * columns; i++)
            state->styles[i] =
                tdc_xlsx_style(TDC_XLSX_LOOKS + 3 * spec->looks[i % columns] + (int)(i / columns));
    }
    if (spec->folded != NULL) {
        book->folded = calloc(columns, sizeof *book->folded);
        if (book->folded == NULL)
            return false;
        memcpy(book->folded, spec->folded, columns * sizeof *book->folded);
    }
    book->frozen_columns = spec->frozen_columns < columns ? spec->frozen_columns : 0;
    book->page_count = state->page = spec->page_count;
    if (spec->page_count == 0)
        return true;
    book->pages = calloc(spec->page_count, sizeof *book->pages);
    if (book->pages == NULL)
        return false;
    memcpy(book->pages, spec->pages, spec->page_count * sizeof *book->pages);
    return true;
}

/* A table of sheet_rows or more is spread evenly over sheets of at most that many. */
static void choose_sheets(struct tdc_xlsx_book *book, const struct tdc_sink_spec *spec,
                          size_t sheet_rows)
{
    book->rows = spec->rows;
    book->sheet_count = 1;
    book->rows_a_sheet = EXCEL_ROWS;
    book->sheet = spec->sheet;
    if (spec->rows < sheet_rows)
        return;
    book->sheet = NULL;
    book->sheet_count = spec->rows / sheet_rows + (spec->rows % sheet_rows != 0);
    book->rows_a_sheet = spec->rows / book->sheet_count + (spec->rows % book->sheet_count != 0);
}

static void start_sheet(struct tdc_sink *sink)
{
    struct xlsx_state *state = sink->state;
    state->rows_here = 0;
    tdc_xlsx_begin_sheet(&state->book, state->sheet);
    tdc_xlsx_put_row(&sink->writer, state->book.columns, sink->column_count, 1, state->header,
                     state->header_style);
}

static tdc_status xlsx_begin(struct tdc_sink *sink, const struct tdc_sink_spec *spec,
                             struct tdc_error *error)
{
    if (spec->column_count > TDC_XLSX_COLUMNS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: more columns than a sheet can hold",
                        spec->path);
    struct xlsx_state *state = calloc(1, sizeof *state);
    sink->state = state;
    if (state == NULL || !copy_header(state, spec) || !choose_widths(state, spec) ||
        !copy_polish(state, spec))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    struct tdc_xlsx_book *book = &state->book;
    book->column_count = spec->column_count;
    book->argb_yellow = spec->argb_yellow;
    state->header_style = spec->header_style ? TDC_XLSX_HEADER : TDC_XLSX_PLAIN;
    choose_sheets(book, spec, sink->sheet_rows);
    if (book->sheet_count > TDC_ZIP_MEMBERS - TDC_XLSX_FIXED_PARTS - book->page_count)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: more rows than a workbook can hold",
                        spec->path);
    if (!tdc_zip_start(&book->zip, sink->file.fd,
                       book->sheet_count + book->page_count + TDC_XLSX_FIXED_PARTS))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    book->xml = &sink->writer;
    sink->writer.drain = tdc_zip_put;
    sink->writer.context = &book->zip;
    if (tdc_xlsx_put_parts(book) != 0)
        return tdc_sink_write_error(sink, error);
    start_sheet(sink);
    return TDC_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int style_of(tdc_colour colour)
{
    switch (colour) {
    case TDC_COLOUR_NONE:
        return TDC_XLSX_PLAIN;
    case TDC_COLOUR_YELLOW:
        return TDC_XLSX_YELLOW;
    case TDC_COLOUR_RED:
        return TDC_XLSX_RED;
    }
    return TDC_XLSX_PLAIN;
}

static tdc_status xlsx_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                           struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    if (sink->rows >= state->book.rows)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: more rows than were announced",
                        sink->file.path);
    if (state->rows_here == state->book.rows_a_sheet) {
        if (tdc_xlsx_end_sheet(&state->book, state->sheet) != 0)
            return tdc_sink_write_error(sink, error);
        state->sheet++;
        start_sheet(sink);
    }
    state->rows_here++;
    if (state->styles != NULL)
        tdc_xlsx_put_styled_row(
            &sink->writer, state->book.columns, sink->column_count, (uint32_t)state->rows_here + 1,
            cells, state->styles + (size_t)colour * sink->column_count, colour == TDC_COLOUR_NONE);
    else
        tdc_xlsx_put_row(&sink->writer, state->book.columns, sink->column_count,
                         (uint32_t)state->rows_here + 1, cells, style_of(colour));
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* Ends the sheet or page that is being written. */
static int end_current(struct xlsx_state *state)
{
    return state->page == state->book.page_count ? tdc_xlsx_end_sheet(&state->book, state->sheet)
                                                 : tdc_xlsx_end_page(&state->book);
}

/* A page that gets no row is there all the same. */
static int go_to_page(struct xlsx_state *state, size_t page)
{
    int failure = 0;
    while (failure == 0 && state->page != page) {
        size_t next = state->page == state->book.page_count ? 0 : state->page + 1;
        failure = end_current(state);
        state->page = next;
        state->rows_here = 0;
        if (failure == 0)
            tdc_xlsx_begin_page(&state->book, next);
    }
    return failure;
}

static tdc_status xlsx_page_row(struct tdc_sink *sink, size_t page, const struct tdc_cell *cells,
                                size_t count, bool bold, struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    bool back = state->page != state->book.page_count && page < state->page;
    if (page >= state->book.page_count || back || count > TDC_PAGE_COLUMNS ||
        sink->rows != state->book.rows || state->rows_here >= EXCEL_ROWS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: a row of a page that is not due",
                        sink->file.path);
    if (go_to_page(state, page) != 0)
        return tdc_sink_write_error(sink, error);
    struct tdc_xlsx_column columns[TDC_PAGE_COLUMNS];
    for (size_t i = 0; i < count; i++)
        columns[i] = tdc_xlsx_column_name(i);
    state->rows_here++;
    tdc_xlsx_put_row(&sink->writer, columns, count, (uint32_t)state->rows_here, cells,
                     bold ? TDC_XLSX_BOLD : TDC_XLSX_PLAIN);
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

/* ---- the end -------------------------------------------------------------------------------- */

static tdc_status xlsx_end(struct tdc_sink *sink, struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    if (sink->rows != state->book.rows)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: fewer rows than were announced",
                        sink->file.path);
    int failure = state->book.page_count != 0 ? go_to_page(state, state->book.page_count - 1) : 0;
    if (failure == 0 && end_current(state) == 0)
        sink->writer.failure = tdc_zip_finish(&state->book.zip);
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

static void xlsx_release(struct tdc_sink *sink)
{
    struct xlsx_state *state = sink->state;
    if (state == NULL)
        return;
    tdc_zip_free(&state->book.zip);
    free(state->book.columns);
    free(state->book.widths);
    free(state->header);
    free(state->header_texts);
    free(state->styles);
    free(state->book.folded);
    free(state->book.pages);
    free(state);
    sink->state = NULL;
}

const struct tdc_sink_backend tdc_xlsx_backend = {.begin = xlsx_begin,
                                                  .row = xlsx_row,
                                                  .end = xlsx_end,
                                                  .release = xlsx_release,
                                                  .page_row = xlsx_page_row};
