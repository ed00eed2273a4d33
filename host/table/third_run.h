/* third_run.h - what a third run says about a row; internal to host/table. */
#ifndef TDC_HOST_THIRD_RUN_H
#define TDC_HOST_THIRD_RUN_H

#include "host/table/table.h"

/* A row that is different by no more than the reference differs from itself is the same. */
void tdc_noise_judge(const struct tdc_table *table, size_t index, struct tdc_row *row,
                     struct tdc_text *message);

#endif
