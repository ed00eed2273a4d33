/* overview.h - what a filled table says on the whole, for result files. */
#ifndef TDC_HOST_OVERVIEW_H
#define TDC_HOST_OVERVIEW_H

#include "host/table/table.h"

/* Appends `"counts": {...}, "origins": [...]`: rows by level, and the origins in network order.
 * False when out of memory. */
bool tdc_overview_json(const struct tdc_table *table, struct tdc_text *out);

#endif
