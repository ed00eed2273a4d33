/* record_size.c - how large a tensor is by the texts of its record. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "kernels/dtype.h"

uint64_t tdc_record_elements(const struct tdc_record *record)
{
    uint64_t count = 1;
    if (record->scalar || record->shape[0] != '[')
        return 0;
    for (const char *at = record->shape; *at != '\0';) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *end;
        if (__builtin_mul_overflow(count, strtoull(at, &end, 10), &count))
            return 0;
        at = end;
    }
    return count;
}

uint64_t tdc_record_bytes(const struct tdc_record *record)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(tdc_record_elements(record),
                               tdc_dtype_size(tdc_dtype_at_end(record->dtype)), &bytes))
        return 0;
    return bytes;
}

bool tdc_record_has_file(const struct tdc_record *record)
{
    return record->data_name[0] != '\0' && strcmp(record->data_name, "-1") != 0 &&
           strcmp(record->data_name, "N/A") != 0;
}

bool tdc_shapes_agree(const struct tdc_record *a, const struct tdc_record *b)
{
    if (strcmp(a->shape, b->shape) == 0)
        return true;
    /* of a file that cannot be read: whoever compares it says why */
    if (strcmp(a->shape, TDC_UNKNOWN_SHAPE) == 0 || strcmp(b->shape, TDC_UNKNOWN_SHAPE) == 0)
        return true;
    return a->flat && b->flat && tdc_record_elements(a) == tdc_record_elements(b);
}
