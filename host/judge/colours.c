#include "host/judge/colours.h"

#include <string.h>

void tdc_reason_add(struct tdc_reasons *reasons, tdc_colour colour, const char *text)
{
    struct tdc_text *list = colour == TDC_COLOUR_RED ? &reasons->red : &reasons->yellow;
    if (reasons->once && strstr(tdc_text_get(list), text) != NULL)
        return;
    if (list->length != 0)
        tdc_text_addc(list, '\n');
    tdc_text_adds(list, text);
}
