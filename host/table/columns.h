/* columns.h - the columns of a table, for those who write it. */
#ifndef TDC_HOST_COLUMNS_H
#define TDC_HOST_COLUMNS_H

#include "host/table/table.h"

const char *tdc_column_name(const struct tdc_column *column);
/* Sensible width in a sheet, in characters. */
double tdc_column_width(const struct tdc_column *column);

/* A number where a double holds it exactly; false for complex numbers and large integers, whose
 * text is appended to out instead. */
bool tdc_element_number(tdc_dtype dtype, const struct tdc_element *element, double *number,
                        struct tdc_text *out);

/* "[3, 7]": a flat index as position in a tensor of that shape text. */
void tdc_index_text(struct tdc_text *out, const char *shape, uint64_t index);

#endif
