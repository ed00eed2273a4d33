/* call_writer.h - the outcome of a call, counted and written to every result of the run. */
#ifndef TDC_PRECHECK_CALL_WRITER_H
#define TDC_PRECHECK_CALL_WRITER_H

#include "host/precheck/run/call_outcome.h"
#include "host/precheck/run/precheck.h"

/* Calls are to come in the order of the dump. */
tdc_status tdc_write_call(struct tdc_precheck *precheck, const struct tdc_call *call,
                          struct tdc_call_outcome *outcome, struct tdc_error *error);

#endif
