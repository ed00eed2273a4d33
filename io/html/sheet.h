/*
 * sheet.h - rows gathered by columns, for a page that holds them packed.
 *
 * A column is of texts until a number comes: a text takes four bytes (its place in the sheet's
 * dictionary, in which each text is once), a number eight. The sheet owns copies of everything.
 * Not safe for use from several threads at once.
 */
#ifndef TDC_IO_HTML_SHEET_H
#define TDC_IO_HTML_SHEET_H

#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "tdcmp.h"

#define TDC_HTML_MOST_COLUMNS 160

/* A text that came lately, and its place in the dictionary. */
struct tdc_html_recent {
    const char *text; /* the dictionary's; NULL: none */
    size_t length;
    uint32_t place;
};
#define TDC_HTML_RECENT 8u

struct tdc_html_column {
    const char *name;
    uint32_t *texts; /* places in the dictionary; NULL when the column is of numbers */
    double *numbers; /* a cell without a number is a NaN that names its text (tdc_html_box) */
    /* most columns have few texts, or those of the row above: the dictionary is too large for the
     * processor's caches */
    struct tdc_html_recent recent[TDC_HTML_RECENT];
};

struct tdc_html_sheet {
    const char *name; /* a literal */
    struct tdc_html_column columns[TDC_HTML_MOST_COLUMNS];
    size_t column_count;
    size_t rows, capacity;
    struct tdc_arena arena;
    struct tdc_name_table texts;  /* place 0 is the empty text */
    struct tdc_html_recent found; /* there last: both sides of a row often have the same name */
};

/* Reserves nothing. */
void tdc_html_sheet_init(struct tdc_html_sheet *sheet, const char *name);
void tdc_html_sheet_free(struct tdc_html_sheet *sheet);

/* The column of that name, new when there was none (the rows before have nothing in it); -1 when
 * out of memory or of columns. */
int tdc_html_sheet_column(struct tdc_html_sheet *sheet, const char *name);

/* Room for so many more rows, which spares moving them as they come; false when out of memory. */
bool tdc_html_sheet_reserve(struct tdc_html_sheet *sheet, size_t rows);

/* One more row: cells[i] belongs to the column places[i], all others have nothing. False when out
 * of memory; the row is not there then. */
bool tdc_html_sheet_row(struct tdc_html_sheet *sheet, const int *places,
                        const struct tdc_cell *cells, size_t count);

/* Keeps the rows whose flag is set, in their order, and of the dictionary what they use. False when
 * out of memory: nothing has changed then. */
bool tdc_html_sheet_keep(struct tdc_html_sheet *sheet, const bool *flags);

/* The bits of a cell in a column of numbers that is a text: no computation yields them. */
uint64_t tdc_html_box(uint32_t place);
bool tdc_html_boxed(uint64_t bits, uint32_t *place);

#endif
