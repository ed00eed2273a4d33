#include "host/precheck/calls/data_names.h"

#include <string.h>

void tdc_each_data_name(const struct tdc_record_place *place,
                        void (*visit)(void *context, const char *name, size_t length),
                        void *context)
{
    static const char word[] = "\"data_name\"";
    const char *at = place->bytes, *end = at + place->size;
    while ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL) {
        at += sizeof word - 1;
        const char *open = memchr(at, '"', (size_t)(end - at));
        const char *close = open != NULL ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
        if (close == NULL)
            return;
        visit(context, open + 1, (size_t)(close - open - 1));
        at = close;
    }
}
