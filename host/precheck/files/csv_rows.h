/* csv_rows.h - the rows of an existing result file, to be kept or dropped. */
#ifndef TDC_PRECHECK_CSV_ROWS_H
#define TDC_PRECHECK_CSV_ROWS_H

#include "tdcmp.h"

struct tdc_csv_row {
    size_t start, end; /* bytes of the file, line end included */
    const char *first; /* content of the first field, without quotes */
    size_t first_length;
    bool verdict; /* another field is "pass" or "error" */
    bool dropped;
};

struct tdc_csv_rows {
    char *path;
    char *bytes;
    size_t size;
    char *unquoted; /* first fields */
    size_t unquoted_size;
    struct tdc_csv_row *rows; /* rows[0] is the header, when there is one */
    size_t count;
    bool torn; /* the file ends inside a row */
};

/*
 * Reads whole rows. A file that ends inside its header counts as empty; a missing file too, unless
 * it must exist. TDC_ERR_REFUSED when the header lacks a field of the wanted one.
 */
tdc_status tdc_csv_rows_read(const char *path, const char *header, bool must_exist,
                             struct tdc_csv_rows *rows, struct tdc_error *error);
/* Replaces the file, at once, when rows were dropped or its end was torn. */
tdc_status tdc_csv_rows_write(const struct tdc_csv_rows *rows, struct tdc_error *error);
void tdc_csv_rows_free(struct tdc_csv_rows *rows);

#endif
