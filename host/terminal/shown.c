/* shown.c - names and messages on their way to the terminal: see tdc_printable. */
#include "host/terminal/message.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "(out of memory)";

/* A copy fit for the terminal; NULL when the text is so as it stands, or when memory is short. */
static char *printable_copy(const char *text, bool *needed)
{
    size_t length = tdc_printable(text, NULL, 0);
    *needed = length != strlen(text); /* an escape is longer than what it stands for */
    char *copy = *needed ? malloc(length + 1) : NULL;
    if (copy != NULL)
        tdc_printable(text, copy, length + 1);
    return copy;
}

void tdc_show(FILE *stream, const char *text)
{
    bool needed;
    char *copy = printable_copy(text, &needed);
    fputs(!needed ? text : copy != NULL ? copy : no_memory, stream);
    free(copy);
}

void tdc_show_lines(FILE *stream, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        tdc_show(stream, line != NULL ? line : no_memory);
        free(line);
        text += length;
        if (*text == '\n')
            fputc(*text++, stream);
    }
}

const char *tdc_shown(const char *text)
{
    enum {
        AT_ONCE = 16
    };
    static char *copies[AT_ONCE];
    static size_t next;
    bool needed;
    char *copy = printable_copy(text, &needed);
    if (copy == NULL)
        return needed ? no_memory : text;
    free(copies[next]);
    copies[next] = copy;
    next = (next + 1) % AT_ONCE;
    return copy;
}
