/* command_line.h - the command a person gave, as they could give it again. */
#ifndef TDC_TERMINAL_COMMAND_LINE_H
#define TDC_TERMINAL_COMMAND_LINE_H

/* "tdcmp compare a 'b c'", to be freed; argv[0] is the name of the command. NULL when out of
 * memory. */
char *tdc_command_line(int argc, char *const *argv);

#endif
