/* trace.h - where two runs begin to differ, and which side is off. */
#ifndef TDCMP_TRACE_H
#define TDCMP_TRACE_H

#include "tdcmp/dump.h"
#include "tdcmp/options.h"
#include "tdcmp/report.h"

TDC_INTERFACE_BEGIN

typedef struct tdc_trace tdc_trace;

/* Compares the dumps by the sound rules and looks for the origins of their differences, over all
 * ranks; judges the first `top` of them by the float64 reference. from: only calls from this one
 * on (a beginning of its name), NULL: all. docs/trace.md has the rules. */
tdc_status tdc_trace_new(const tdc_tasks *tasks, const char *from, size_t top,
                         const struct tdc_options *options, tdc_trace **trace,
                         struct tdc_error *error);
/* The same, and all that is compared and found goes on a page, too. */
tdc_status tdc_trace_report(const tdc_tasks *tasks, const char *from, size_t top,
                            const struct tdc_options *options, tdc_html_report *report,
                            tdc_trace **trace, struct tdc_error *error);
/* The same, with a third run that was computed more exactly (docs/third.md), NULL for none: which
 * side is nearer is settled by it where it has the tensor, else by the reference. A report may be
 * NULL. */
tdc_status tdc_trace_truth(const tdc_tasks *tasks, const char *from, size_t top, const char *truth,
                           const struct tdc_options *options, tdc_html_report *report,
                           tdc_trace **trace, struct tdc_error *error);
void tdc_trace_free(tdc_trace *trace);
/* Calls with which differences begin; those that follow from others are not among them. */
size_t tdc_trace_origins(const tdc_trace *trace);
/* Rows that could not be read and dumps that could not be compared: with any, no origin is no
 * proof of agreement. */
uint64_t tdc_trace_missing(const tdc_trace *trace);
/* All of it for a person, and as JSON (docs/schema/tdcmp.trace-1.json), which is made when it is
 * first asked for; NULL when there is no memory for it. */
const char *tdc_trace_text(const tdc_trace *trace);
const char *tdc_trace_json(tdc_trace *trace);
/* The JSON as a file, complete or not at all; one of that name is replaced. */
tdc_status tdc_trace_write(tdc_trace *trace, const char *path, struct tdc_error *error);

TDC_INTERFACE_END
#endif
