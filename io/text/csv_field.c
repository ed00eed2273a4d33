#include "io/text/csv_field.h"

#include <string.h>

#include "io/base/utf8_step.h"

void tdc_csv_field(struct tdc_text *text, const char *field)
{
    bool quoted = strpbrk(field, ",\"\r\n") != NULL;
    if (quoted)
        tdc_text_addc(text, '"');
    for (const char *quote; (quote = strchr(field, '"')) != NULL; field = quote + 1) {
        tdc_utf8_add(text, field, (size_t)(quote - field));
        tdc_text_adds(text, "\"\"");
    }
    tdc_utf8_add(text, field, strlen(field));
    if (quoted)
        tdc_text_addc(text, '"');
}
