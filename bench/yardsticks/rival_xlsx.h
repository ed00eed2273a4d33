/* rival_xlsx.h - libxlsxwriter writing the cells of a table from memory: the least an xlsx costs.
 */
#ifndef TDC_BENCH_RIVAL_XLSX_H
#define TDC_BENCH_RIVAL_XLSX_H

#include "bench/tools/measure.h"
#include "io/base/arena.h"

struct tdc_xlsx_rival {
    const char *path; /* overwritten */
    struct tdc_cell *cells;
    size_t rows, columns; /* of a sheet; the first row holds the names of the columns */
    struct tdc_arena arena;
};

/* Whether this program has the library. */
bool tdc_xlsx_rival_there(void);

/* Compares one task and keeps its cells. To be freed in any case. */
tdc_status tdc_xlsx_rival_collect(struct tdc_xlsx_rival *rival, const struct tdc_task *task,
                                  const struct tdc_options *options, struct tdc_error *error);
void tdc_xlsx_rival_free(struct tdc_xlsx_rival *rival);

/* For struct tdc_work; laps[0]: from opening to closing the workbook. */
tdc_status tdc_xlsx_rival_write(void *rival, double laps[TDC_LAPS], struct tdc_error *error);

#endif
