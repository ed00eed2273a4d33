/* xlsx_sheets.h - a workbook of several sheets with the same columns and as many rows each. */
#ifndef TDC_IO_XLSX_SHEETS_H
#define TDC_IO_XLSX_SHEETS_H

#include "tdcmp.h"

struct tdc_xlsx_sheets {
    const char *path;         /* must not exist */
    const char *const *names; /* of letters, digits and blanks, at most 31 of them */
    size_t count;
    const struct tdc_cell *header;
    size_t columns, rows; /* of each sheet */
    /* Fills the cells of a row; a text that is NULL leaves its cell out. */
    void (*fill)(void *context, size_t sheet, size_t row, struct tdc_cell *cells);
    void *context;
};

/* Complete or not there at all. */
tdc_status tdc_xlsx_sheets_write(const struct tdc_xlsx_sheets *sheets, struct tdc_error *error);

#endif
