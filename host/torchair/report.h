/* report.h - rows of TorchAir's table as a csv file. */
#ifndef TDC_HOST_REPORT_H
#define TDC_HOST_REPORT_H

#include "host/torchair/report_row.h"

/* Names of the metrics, as the columns have them. */
extern const char *const tdc_report_metrics[TDC_SOFT_METRICS];

/* Sorts the rows and writes those that the old tools keep; *dropped is the number of the others.
 * The numbers of rows go on from *next_id. */
tdc_status tdc_report_write(struct tdc_report_row *rows, size_t count, const char *path,
                            uint64_t *next_id, size_t *dropped, struct tdc_error *error);

#endif
