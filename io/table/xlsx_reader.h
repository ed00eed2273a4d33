/*
 * xlsx_reader.h - the first sheet of a workbook as rows of typed cells.
 *
 * Texts may be shared or inline, with or without runs; cells of an error and formulas count with
 * the value that is stored for them. A cell that is not there is an empty text. Bounded by the
 * sizes of the archive's members, the columns of a sheet and an arena.
 */
#ifndef TDC_IO_XLSX_READER_H
#define TDC_IO_XLSX_READER_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_sheet_row {
    struct tdc_cell *cells; /* texts terminated; a number has the text it is stored as */
    size_t count;
};

struct tdc_sheet {
    struct tdc_arena arena;
    struct tdc_sheet_row *rows; /* without those of no cell */
    size_t count, capacity;
};

/* The sheet is to be freed in any case. */
tdc_status tdc_sheet_read(const char *path, struct tdc_sheet *sheet, struct tdc_error *error);
/* The same from bytes in memory; name begins messages. */
tdc_status tdc_sheet_parse(const unsigned char *bytes, size_t size, const char *name,
                           struct tdc_sheet *sheet, struct tdc_error *error);
void tdc_sheet_free(struct tdc_sheet *sheet);

/* For other readers: an empty sheet, and a row of `count` empty texts; NULL: out of memory. */
void tdc_sheet_start(struct tdc_sheet *sheet);
struct tdc_cell *tdc_sheet_add(struct tdc_sheet *sheet, size_t count);

#endif
