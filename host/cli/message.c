#include <stdarg.h>
#include <stdio.h>

#include "host/cli/command.h"

void tdc_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("tdcmp: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void tdc_print_message(void *context, tdc_message_level level, const char *text)
{
    (void)context;
    static const char *const labels[] = {[TDC_MESSAGE_INFO] = "",
                                         [TDC_MESSAGE_WARNING] = "warning: ",
                                         [TDC_MESSAGE_ERROR] = "error: "};
    tdc_complain("%s%s", labels[level], text);
}
