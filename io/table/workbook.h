/*
 * workbook.h - an Excel workbook of several sheets, each a table with its own columns.
 *
 * For results that are small enough to be asked for row by row after they were found; one large
 * table goes through io/table/sink.h.
 */
#ifndef TDC_IO_WORKBOOK_H
#define TDC_IO_WORKBOOK_H

#include "tdcmp.h"

struct tdc_workbook_sheet {
    const char *name; /* at most 31 characters, none of []:*?/\ and none of XML's */
    const char *const *columns;
    size_t column_count; /* at least 1 */
    size_t rows;
    /* Fills all cells of a row; texts stay valid until the next call. */
    void (*row)(void *context, size_t row, struct tdc_cell *cells);
    void *context;
};

/* Sheets of TDC_SHEET_ROWS and more rows are split evenly into NAME_part_0, NAME_part_1, ...
 * `exclusive`: fail if the file exists; else it is replaced. */
tdc_status tdc_workbook_write(const char *path, bool exclusive,
                              const struct tdc_workbook_sheet *sheets, size_t count,
                              struct tdc_error *error);

#endif
