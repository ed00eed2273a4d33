/*
 * column_kind.h - what a reader that guesses types takes the cells of a csv file for.
 *
 * msprobe reads its tables with pandas and then treats numbers as texts; which rows fail depends on
 * the other rows of the column.
 */
#ifndef TDC_PRECHECK_COLUMN_KIND_H
#define TDC_PRECHECK_COLUMN_KIND_H

#include "io/table/text_table.h"

enum tdc_column_kind {
    TDC_COLUMN_TEXT,
    TDC_COLUMN_FLOAT, /* numbers and missing values, not all of them whole */
    TDC_COLUMN_INTEGER
};

enum tdc_column_kind tdc_column_kind(const struct tdc_text_table *table, size_t column);
/* Taken for a missing value: empty, "nan", "N/A" and the like. */
bool tdc_cell_is_missing(const char *cell);

#endif
