/* stack_lines.h - call stacks as JSON, by the name of their call. */
#ifndef TDC_ANALYSIS_STACK_LINES_H
#define TDC_ANALYSIS_STACK_LINES_H

#include "tdcmp.h"

struct tdc_stack_lines;

/* The lists are indented for the given place in a file (io/text/json_write.h). */
tdc_status tdc_stack_lines_load(const char *path, int indent, int depth,
                                struct tdc_stack_lines **lines, struct tdc_error *error);
void tdc_stack_lines_free(struct tdc_stack_lines *lines);
/* NULL when there is none of that name. */
const char *tdc_stack_lines_find(const struct tdc_stack_lines *lines, const char *name);

#endif
