/* precision_verdict.h - one row of a device's details, judged by the same row of a GPU's. */
#ifndef TDC_PRECHECK_PRECISION_VERDICT_H
#define TDC_PRECHECK_PRECISION_VERDICT_H

#include "host/precheck/precision/column_kind.h"
#include "io/base/text.h"

#define TDC_PRECISION_COLUMNS 28
#define TDC_PRECISION_CELL    64
#define TDC_PRECISION_API     128

extern const char tdc_precision_header[];

struct tdc_precision_row {
    const struct tdc_text_row *npu, *gpu;
    const struct tdc_text_table *npu_table, *gpu_table;
    tdc_rules_id rules;                 /* TDC_RULES_COMPAT or TDC_RULES_COMPAT26 */
    enum tdc_column_kind binary_kind;   /* of two columns of npu_table: what pandas makes */
    enum tdc_column_kind relative_kind; /* of their cells */
    char cells[TDC_PRECISION_COLUMNS][TDC_PRECISION_CELL];
    char api[TDC_PRECISION_API]; /* "add" */
    struct tdc_text message;
    tdc_check status;
    tdc_dtype dtype;     /* TDC_DTYPE_NONE for one that is not a tensor's */
    const char *failure; /* a cell that is no number: what msprobe raises, else NULL */
};

/* The members before the cells are given; message is initialised and to be freed. */
void tdc_judge_precision(struct tdc_precision_row *row);
void tdc_precision_text(struct tdc_text *details, const struct tdc_precision_row *row);
/* The line of a row that was not looked at. */
void tdc_skipped_row_text(struct tdc_text *details, const char *name, const char *reason);
/* float64 and complex rows have no verdict. */
bool tdc_precision_unsupported(const struct tdc_precision_row *row);

#endif
