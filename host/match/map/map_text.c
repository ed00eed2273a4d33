/* map_text.c - small text work that the mappings share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/match/match.h"

void tdc_map_warn(const struct tdc_options *options, const char *path, unsigned line,
                  const char *format, ...)
{
    if (options->message == NULL)
        return;
    char text[4096];
    int length = line != 0 ? snprintf(text, sizeof text, "%.2000s:%u: ", path, line)
                           : snprintf(text, sizeof text, "%.2000s: ", path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

const char *tdc_text_replaced(struct tdc_arena *arena, const char *text, const char *from,
                              const char *to, bool first_only)
{
    size_t from_length = strlen(from), to_length = strlen(to), count = 0;
    if (from_length == 0)
        return text;
    for (const char *at = strstr(text, from); at != NULL; at = strstr(at + from_length, from)) {
        count++;
        if (first_only)
            break;
    }
    if (count == 0)
        return text;
    size_t grown, size;
    if (__builtin_mul_overflow(count, to_length, &grown) ||
        __builtin_add_overflow(strlen(text) + 1 - count * from_length, grown, &size))
        return NULL;
    char *result = tdc_arena_take(arena, size);
    if (result == NULL)
        return NULL;
    char *out = result;
    for (; count > 0; count--) {
        const char *at = strstr(text, from);
        memcpy(out, text, (size_t)(at - text));
        out += at - text;
        memcpy(out, to, to_length);
        out += to_length;
        text = at + from_length;
    }
    strcpy(out, text);
    return result;
}
