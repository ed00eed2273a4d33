/*
 * pattern.h - names by pattern: letters, `*`, `**`, captures `{x}`; or `~` and a regular
 * expression.
 *
 * A pattern fits a whole name. From left to right each piece takes the shortest run that lets the
 * rest fit.
 */
#ifndef TDC_ALIGN_PATTERN_H
#define TDC_ALIGN_PATTERN_H

#include "io/base/arena.h"

#define TDC_MOST_CAPTURES 16

struct tdc_pattern;

/* What a name had in place of the captures; the texts point into the name. */
struct tdc_captured {
    size_t count;
    struct tdc_capture {
        const char *name; /* "l"; of a regular expression "1" to "9" */
        const char *text; /* NULL: a group that took no part */
        size_t length;
    } captures[TDC_MOST_CAPTURES];
};

/* Compiles a pattern; *problem says why not ("cannot read the pattern"), NULL with NULL: no memory.
 * Regular expressions are to be freed. */
struct tdc_pattern *tdc_pattern_new(struct tdc_arena *arena, const char *text,
                                    const char **problem);
void tdc_pattern_free(struct tdc_pattern *pattern);

bool tdc_pattern_fits(const struct tdc_pattern *pattern, const char *name,
                      struct tdc_captured *captured);

const char *tdc_pattern_text(const struct tdc_pattern *pattern);
/* The names it captures, as often as there are; NULL beyond the last. */
const char *tdc_pattern_capture(const struct tdc_pattern *pattern, size_t index);

#endif
