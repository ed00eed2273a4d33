/* changes.h - which sides of which rows are changed before they are compared. */
#ifndef TDC_HOST_CHANGES_H
#define TDC_HOST_CHANGES_H

#include "host/table/table.h"

/* Looks at the rows of a table of tensors: joined files, padding of grouped operators, matrices of
 * options->products. TDC_ERR_FORMAT and the like for that file, TDC_ERR_MEMORY. */
tdc_status tdc_changes_find(struct tdc_table *table, const struct tdc_options *options,
                            struct tdc_error *error);

#endif
