/* columns.h - the columns of a table, for those who write it. */
#ifndef TDC_HOST_COLUMNS_H
#define TDC_HOST_COLUMNS_H

#include "host/table/table.h"

const char *tdc_column_name(const struct tdc_column *column);
/* Sensible width in a sheet, in characters. */
double tdc_column_width(const struct tdc_column *column);
/* How its numbers look there: enum tdc_number_look. */
unsigned char tdc_column_look(const struct tdc_column *column);

#endif
