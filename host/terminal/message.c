#include "host/terminal/message.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tdc_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text;
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    fputs("tdcmp: ", stderr);
    tdc_show(stderr, length >= 0 ? text : format);
    fputc('\n', stderr);
    if (length >= 0)
        free(text);
}

void tdc_print_message(void *context, tdc_message_level level, const char *text)
{
    if (tdc_said_before(context, text))
        return;
    static const char *const labels[] = {[TDC_MESSAGE_INFO] = "",
                                         [TDC_MESSAGE_WARNING] = "warning: ",
                                         [TDC_MESSAGE_ERROR] = "error: "};
    tdc_complain("%s%s", labels[level], text);
}

#define MOST_SAID 4096

bool tdc_said_before(struct tdc_said *said, const char *text)
{
    if (said == NULL)
        return false;
    for (size_t i = 0; i < said->count; i++)
        if (strcmp(said->texts[i], text) == 0)
            return true;
    if (said->count == said->capacity && said->capacity < MOST_SAID) {
        size_t capacity = said->capacity == 0 ? 16 : said->capacity * 2;
        char **texts = realloc(said->texts, capacity * sizeof(char *));
        if (texts == NULL)
            return false;
        said->texts = texts;
        said->capacity = capacity;
    }
    char *copy = said->count < said->capacity ? strdup(text) : NULL;
    if (copy != NULL)
        said->texts[said->count++] = copy;
    return false;
}

void tdc_said_free(struct tdc_said *said)
{
    for (size_t i = 0; i < said->count; i++)
        free(said->texts[i]);
    free(said->texts);
    *said = (struct tdc_said){0};
}
