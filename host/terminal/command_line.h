/* command_line.h - the command a person gave, as they could give it again. */
#ifndef TDC_TERMINAL_COMMAND_LINE_H
#define TDC_TERMINAL_COMMAND_LINE_H

#include <stddef.h>

/* "tdcmp compare a 'b c'" of the words, to be freed; NULL when out of memory. */
char *tdc_command_line(const char *const *words, size_t count);

#endif
