/* message.h - what the program tells a person: exit codes, names from files, messages. */
#ifndef TDC_TERMINAL_MESSAGE_H
#define TDC_TERMINAL_MESSAGE_H

#include <stdio.h>

#include "tdcmp.h"

/* Of the process. */
enum {
    TDC_EXIT_SAME = 0,
    TDC_EXIT_DIFFERENT = 1,
    TDC_EXIT_TROUBLE = 2
};

/* ---- names on the terminal ------------------------------------------------------------------- */

/* Whatever comes from a file or its name goes to the terminal through one of these. */
void tdc_show(FILE *stream, const char *text);
/* The same for a text of several lines. */
void tdc_show_lines(FILE *stream, const char *text);
/* For arguments of printf: the text itself when it is harmless, else a copy that lasts until the
 * sixteenth next one is made. For the main thread alone. */
const char *tdc_shown(const char *text);

/* ---- messages on stderr ---------------------------------------------------------------------- */

/* "tdcmp: " and the text. */
void tdc_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints library messages; for struct tdc_options. The context is a struct tdc_said, or NULL to
 * print everything. */
void tdc_print_message(void *context, tdc_message_level level, const char *text);

/* What was said already: the same mistake in a mapping file shows up in every rank. */
struct tdc_said {
    char **texts;
    size_t count, capacity;
};

/* True when the text was said before. Remembers some thousand texts; said may be NULL. */
bool tdc_said_before(struct tdc_said *said, const char *text);
void tdc_said_free(struct tdc_said *said);

#endif
