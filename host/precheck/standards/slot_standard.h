/* slot_standard.h - one slot by the standards of msprobe's PyTorch precheck. */
#ifndef TDC_PRECHECK_SLOT_STANDARD_H
#define TDC_PRECHECK_SLOT_STANDARD_H

#include "host/precheck/standards/standards.h"
#include "host/precheck/standards/verdict.h"
#include "io/base/text.h"

/* Metrics of a details row, in the order of its columns. */
enum tdc_standard_metric {
    TDC_METRIC_COSINE,
    TDC_METRIC_MAX_ABS,
    TDC_METRIC_HUNDREDTH,
    TDC_METRIC_THOUSANDTH,
    TDC_METRIC_TEN_THOUSANDTH,
    TDC_METRIC_ERROR_RATE,
    TDC_METRIC_BALANCE,
    TDC_METRIC_RMSE,
    TDC_METRIC_SMALL,
    TDC_METRIC_MAX_RELATIVE,
    TDC_METRIC_MEAN_RELATIVE,
    TDC_METRIC_INF_NAN,
    TDC_METRIC_RELATIVE,
    TDC_METRIC_ABSOLUTE,
    TDC_METRIC_MAX_ULP,
    TDC_METRIC_MEAN_ULP,
    TDC_METRIC_ULP_SHARE,
    TDC_STANDARD_METRICS
};

/* How a metric is written: msprobe's cells show which of Python's and numpy's numbers they are. */
enum tdc_metric_form {
    TDC_FORM_BLANK,  /* not computed */
    TDC_FORM_ZERO,   /* the integer 0 */
    TDC_FORM_WHOLE,  /* an integer */
    TDC_FORM_FIXED,  /* float64: 14 decimals */
    TDC_FORM_SINGLE, /* float32: its shortest text */
    TDC_FORM_HALF    /* float16: the same */
};

struct tdc_standard_row {
    const char *bench_dtype, *device_dtype; /* "torch.float32"; " " when there is none */
    char shape[TDC_SHAPE_TEXT];
    enum tdc_metric_form form[TDC_STANDARD_METRICS];
    double values[TDC_STANDARD_METRICS];
    tdc_check status;
    char message[512];
};

/*
 * Fills the row. The bench is the slot's reference in its own dtype; a float64 one is rounded to
 * float32 where the device result is float16 or bfloat16. By those of 26.2 (`newest`) floats have
 * the benchmark's metrics whatever the API, integers of quantising APIs may be off by 1, and an
 * empty result is skipped. False when out of memory.
 */
bool tdc_judge_by_standard(struct tdc_arena *arena, const char *api_name, bool newest,
                           const struct tdc_slot *slot, struct tdc_standard_row *row);

/* Header of the details and one row, with line end. */
extern const char tdc_standard_header[];
void tdc_standard_text(struct tdc_text *text, const char *name, const struct tdc_standard_row *row);

#endif
