/* compat26.h - the parts of the compat26 rules, joined in compat26.c. */
#ifndef TDC_HOST_COMPAT26_H
#define TDC_HOST_COMPAT26_H

#include "host/judge/rules.h"

/* What is found in a row, in the order of the list of messages. */
enum tdc_fault {
    TDC_FAULT_NONFINITE,   /* nan or inf among the extremes of the NPU side alone */
    TDC_FAULT_NORM_ERROR,  /* statistics: an output far off after good inputs */
    TDC_FAULT_RATIO_ERROR, /* tensors: likewise */
    TDC_FAULT_REQUIRES_GRAD,
    TDC_FAULT_SCALAR,
    TDC_FAULT_DTYPE,
    TDC_FAULT_SHAPE,
    TDC_FAULT_NORM_WARNING,   /* statistics: an output ten times as far off as the inputs */
    TDC_FAULT_COSINE_WARNING, /* tensors */
    TDC_FAULT_DIGEST,
    TDC_FAULT_NO_DIGEST,
    TDC_FAULTS
};

const char *tdc_compat26_finding_text(unsigned bit);

void tdc_compat26_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                         struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message);
void tdc_compat26_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                             struct tdc_text *message);
void tdc_compat26_digest(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message);
/* Fills findings, verdict and class of the rows of a call. */
void tdc_compat26_call(const struct tdc_rows *rows, size_t start, size_t end);

#endif
