#include "host/terminal/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word as a shell takes it: alone, or in quotes. */
static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./,:=@%+-";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

char *tdc_command_line(const char *const *words, size_t count)
{
    char *line = NULL;
    size_t length;
    FILE *out = open_memstream(&line, &length);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            fputc(' ', out);
        put_word(out, words[i]);
    }
    if (fclose(out) == 0)
        return line;
    free(line);
    return NULL;
}
