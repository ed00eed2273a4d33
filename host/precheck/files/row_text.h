/* row_text.h - what was found of a call, as lines of the result files. */
#ifndef TDC_PRECHECK_ROW_TEXT_H
#define TDC_PRECHECK_ROW_TEXT_H

#include "host/precheck/check/check.h"
#include "io/text/csv_field.h"

/* Header lines without byte order mark, with line end. */
extern const char tdc_result_header[], tdc_details_header[], tdc_standard_result_header[];

/* Appends the rows of the call's slots, forward first. */
void tdc_details_rows(struct tdc_text *text, const struct tdc_call_check *check);
/* Appends the row of the call; nothing when there was nothing to compare. */
void tdc_result_row(struct tdc_text *text, const struct tdc_call_check *check);
/* Appends one JSON object per slot, each preceded by a comma and a line end. */
void tdc_details_json(struct tdc_text *text, const struct tdc_call_check *check);

#endif
