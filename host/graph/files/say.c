#include "host/graph/files/say.h"

#include <stdarg.h>
#include <stdio.h>

void tdc_say(const struct tdc_options *options, tdc_message_level level, const char *format, ...)
{
    char text[16384];
    va_list arguments;
    if (options->message == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->message(options->context, level, text);
}
