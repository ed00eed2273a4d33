/* remedy.c - see remedy.h. */
#include "host/engine/device/remedy.h"

const struct tdc_known_code *tdc_known_code(const struct tdc_known_code *list, size_t count,
                                            int code)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].code == code)
            return &list[i];
    return NULL;
}
