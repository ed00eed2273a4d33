/* csv_field.h - writing one field of a CSV row. */
#ifndef TDC_IO_CSV_FIELD_H
#define TDC_IO_CSV_FIELD_H

#include "io/base/text.h"

/* Quoted only when it must be. */
void tdc_csv_field(struct tdc_text *text, const char *field);

#endif
