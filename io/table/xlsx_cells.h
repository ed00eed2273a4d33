/*
 * xlsx_cells.h - one row of a sheet as XML.
 *
 * Texts are always inline strings, also the empty one and those that look like formulas. They are
 * cut at TDC_CELL_CHARACTERS; characters XML cannot hold are written as _xHHHH_, which
 * spreadsheets turn back, and a text that already looks like that is protected.
 */
#ifndef TDC_IO_XLSX_CELLS_H
#define TDC_IO_XLSX_CELLS_H

#include "io/file/byte_writer.h"
#include "tdcmp.h"

/* "A" to "XFD". */
struct tdc_xlsx_column {
    char letters[3];
    unsigned char length;
};

#define TDC_XLSX_COLUMNS 16384u

/* index < TDC_XLSX_COLUMNS. */
struct tdc_xlsx_column tdc_xlsx_column_name(size_t index);

/* What stands behind the row number of a cell: `" s="7"`, or the closing quote alone. */
struct tdc_xlsx_style {
    char text[15];
    unsigned char length;
};
struct tdc_xlsx_style tdc_xlsx_style(int style);

/* The same with a style by column. Cells without content are left out where `sparse`. */
void tdc_xlsx_put_styled_row(struct tdc_byte_writer *writer, const struct tdc_xlsx_column *columns,
                             size_t column_count, uint32_t row, const struct tdc_cell *cells,
                             const struct tdc_xlsx_style *styles, bool sparse);

/* row counts from 1. style is the index of a cell format in the styles of the book, 0: none. */
void tdc_xlsx_put_row(struct tdc_byte_writer *writer, const struct tdc_xlsx_column *columns,
                      size_t column_count, uint32_t row, const struct tdc_cell *cells, int style);

#endif
