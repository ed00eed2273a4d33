/* third_rows.h - some rows of a table against a third run. */
#ifndef TDC_HOST_THIRD_ROWS_H
#define TDC_HOST_THIRD_ROWS_H

#include "host/judge/third.h"

/* Fills found[i] for the row rows[i] (NULL: row i) of a table with real data; `known` is false
 * where one of the three has no such tensor. `third` as in tdc_table_third. */
tdc_status tdc_third_of_rows(tdc_table *table, const tdc_match *third, const size_t *rows,
                             size_t count, const struct tdc_options *options,
                             struct tdc_third_row *found, struct tdc_error *error);

#endif
