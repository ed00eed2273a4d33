/* listing.c - see listing.h. */
#include "host/engine/device/listing.h"

#include <stdarg.h>
#include <stdio.h>

void tdc_listing_put(const struct tdc_listing *listing, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    listing->line(listing->context, text);
}
