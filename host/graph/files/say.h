/* say.h - handing a line to the caller of the library. */
#ifndef TDC_HOST_GRAPH_SAY_H
#define TDC_HOST_GRAPH_SAY_H

#include "tdcmp.h"

/* Through options->message if there is one; long lines lose their end. */
void tdc_say(const struct tdc_options *options, tdc_message_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
