/*
 * xlsx_parts.h - what an Excel workbook consists of besides the rows of its sheets.
 *
 * An xlsx file is a zip archive of XML files: types, relations, the workbook with the names of its
 * sheets, styles, and the sheets. All but the sheets' rows are small and known before the first
 * row, and are put through the writer, whose drain is the archive's.
 */
#ifndef TDC_IO_XLSX_PARTS_H
#define TDC_IO_XLSX_PARTS_H

#include "io/table/sink.h"
#include "io/table/xlsx_cells.h"
#include "io/table/zip_writer.h"

/* Indices of the cell formats in the styles. */
enum {
    TDC_XLSX_PLAIN,
    TDC_XLSX_HEADER, /* bold, framed, centred */
    TDC_XLSX_YELLOW,
    TDC_XLSX_RED,
    /* of polished books: */
    TDC_XLSX_BOLD,
    TDC_XLSX_LOOKS /* + 3 * enum tdc_number_look + tdc_colour */
};

/* A sheet of a workbook whose sheets are different tables. */
struct tdc_xlsx_sheet {
    char name[32];
    size_t rows, column_count;
};

struct tdc_xlsx_book {
    struct tdc_zip_writer zip;
    struct tdc_byte_writer *xml; /* drains into zip */
    const char *sheet;           /* name of the only sheet: letters and digits; NULL: part_0, ... */
    /* NULL: the sheets are parts of one table; else `sheet`, `rows` and `column_count` are unused
     */
    const struct tdc_xlsx_sheet *sheets;
    size_t sheet_count;
    size_t rows; /* of the table, headers not counted */
    size_t rows_a_sheet;
    struct tdc_xlsx_column *columns;
    size_t column_count;
    double *widths; /* of the columns, with filters and a frozen header; NULL: none of these */
    bool argb_yellow;
    /* with widths; see struct tdc_sink_spec */
    bool *folded;
    size_t frozen_columns;
    struct tdc_sink_page *pages;
    size_t page_count;
};

/* Members that are not sheets. */
#define TDC_XLSX_FIXED_PARTS 5u

/* Rows of a sheet (0, 1, ...) below its header. */
size_t tdc_xlsx_sheet_rows(const struct tdc_xlsx_book *book, size_t sheet);

/* Everything that comes before the sheets; 0 or an errno. */
int tdc_xlsx_put_parts(struct tdc_xlsx_book *book);
/* Begins a sheet up to where its rows go, and ends it after them. */
/* The same for a page. */
void tdc_xlsx_begin_page(struct tdc_xlsx_book *book, size_t page);
int tdc_xlsx_end_page(struct tdc_xlsx_book *book);
void tdc_xlsx_begin_sheet(struct tdc_xlsx_book *book, size_t sheet);
int tdc_xlsx_end_sheet(struct tdc_xlsx_book *book, size_t sheet);

#endif
