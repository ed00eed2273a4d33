/* colour.h - whether what is printed has colours: one decision for the process. */
#ifndef TDC_TERMINAL_COLOUR_H
#define TDC_TERMINAL_COLOUR_H

#include <stdbool.h>

/* "auto" (terminals, unless NO_COLOR is set or TERM is dumb), "always" or "never": the value of
 * --color. False for any other word. */
bool tdc_choose_colour(const char *name);
/* Of what is written to a file descriptor. */
bool tdc_coloured(int descriptor);

#endif
