/* precision_verdict.h - one row of a device's details, judged by the same row of a GPU's. */
#ifndef TDC_PRECHECK_PRECISION_VERDICT_H
#define TDC_PRECHECK_PRECISION_VERDICT_H

#include "io/table/text_table.h"
#include "io/base/text.h"

#define TDC_PRECISION_COLUMNS 28
#define TDC_PRECISION_CELL    64

extern const char tdc_precision_header[];

struct tdc_precision_row {
    const struct tdc_text_row *npu, *gpu;
    const struct tdc_text_table *npu_table, *gpu_table;
    char cells[TDC_PRECISION_COLUMNS][TDC_PRECISION_CELL];
    struct tdc_text message;
    tdc_check status;
    tdc_dtype dtype;     /* TDC_DTYPE_NONE for one that is not a tensor's */
    const char *failure; /* a cell that is no number: what msprobe raises, else NULL */
};

/* The four first members are given; message is initialised and to be freed. */
void tdc_judge_precision(struct tdc_precision_row *row);
void tdc_precision_text(struct tdc_text *details, const struct tdc_precision_row *row);
/* float64 and complex rows have no verdict. */
bool tdc_precision_unsupported(const struct tdc_precision_row *row);

#endif
