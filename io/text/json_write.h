/*
 * json_write.h - JSON as Python's json.dump writes it.
 *
 * With an indent every member and element has a line of its own, empty lists and objects are [] and
 * {}, texts are plain ASCII (everything else as \uXXXX), floats the shortest text that reads back
 * as the same double, and NaN, Infinity and -Infinity bare words.
 */
#ifndef TDC_IO_JSON_WRITE_H
#define TDC_IO_JSON_WRITE_H

#include "io/base/text.h"
#include "io/text/json.h"

/* A text in quotes. */
void tdc_json_put_text(struct tdc_text *out, const char *text, size_t length);
/* A float: 1.0, 1e-05, NaN, Infinity. */
void tdc_json_put_float(struct tdc_text *out, double value);
/* A line break and `depth` times `indent` blanks. */
void tdc_json_put_line(struct tdc_text *out, int indent, int depth);
/* A value that stands `depth` levels deep; all in one line with an indent of -1. */
void tdc_json_put_tree(struct tdc_text *out, const struct tdc_json *value, int indent, int depth);

#endif
