/* call_record.h - what is left of a checked call as bytes, and back; nothing in them is believed.
 */
#ifndef TDC_PRECHECK_CALL_RECORD_H
#define TDC_PRECHECK_CALL_RECORD_H

#include "host/precheck/run/call_outcome.h"

void tdc_call_put(struct tdc_text *bytes, const struct tdc_call_outcome *outcome);
/* Fills an outcome that was initialised, and is to be freed in any case. */
bool tdc_call_take(const unsigned char *bytes, size_t size, struct tdc_call_outcome *outcome);

/* One judged slot behind others, and all of them told again. */
void tdc_call_row_put(struct tdc_text *rows, const struct tdc_precheck_row *row);
bool tdc_call_rows_tell(const struct tdc_text *rows, const char *call, const char *api,
                        const struct tdc_precheck_options *options);

#endif
