/* page.h - lines that fit a terminal: how wide it is, and texts cut to a number of columns. */
#ifndef TDC_TERMINAL_PAGE_H
#define TDC_TERMINAL_PAGE_H

#include <stddef.h>
#include <stdio.h>

#define TDC_PAGE_WIDTH ((size_t)80)

/* Columns of stdout: those of the terminal, at least 80 and at most 250; 80 where there is none. */
size_t tdc_page_width(void);

/* Columns a text takes; wide signs take two. */
size_t tdc_columns_of(const char *text);

/* The text as tdc_shown has it, in at most `width` columns (at least 8): a long one loses its
 * middle, where "..." stands. Lasts until the sixteenth next call. For the main thread alone. */
const char *tdc_fit(const char *text, size_t width);
/* The text, which fits, and blanks up to the width. */
void tdc_put_padded(FILE *stream, const char *text, size_t width);

#endif
