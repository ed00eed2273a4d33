#include "host/judge/record_numbers.h"

#include <math.h>
#include <string.h>

#include "io/text/pytext.h"

bool tdc_stat_number(const struct tdc_record *record, enum tdc_statistic which, double *number)
{
    switch ((enum tdc_stat_kind)record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
    case TDC_STAT_INTEGER:
        *number = record->stats[which].number;
        return true;
    case TDC_STAT_BIG_INTEGER:
        return tdc_float_parse(record->stats[which].text, strlen(record->stats[which].text),
                               number);
    case TDC_STAT_TEXT:
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        break;
    }
    return false;
}

double tdc_shape_elements(const char *shape)
{
    double product = 1;
    for (const char *at = shape; *at != '\0';) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        uint64_t size = 0;
        bool fits = true; /* beyond that it is the largest number, as of strtoull */
        for (; *at >= '0' && *at <= '9'; at++)
            fits &= !__builtin_mul_overflow(size, (uint64_t)10, &size) &&
                    !__builtin_add_overflow(size, (uint64_t)(*at - '0'), &size);
        product *= (double)(fits ? size : UINT64_MAX);
    }
    return product;
}

bool tdc_shape_is_empty(const char *shape)
{
    for (const char *at = shape; *at != '\0'; at++) {
        bool first = at == shape || at[-1] < '0' || at[-1] > '9';
        if (first && at[0] == '0' && (at[1] < '0' || at[1] > '9'))
            return true;
    }
    return false;
}

bool tdc_record_rms(const struct tdc_record *record, double *rms)
{
    double norm;
    if (record == NULL || record->scalar || !tdc_stat_number(record, TDC_NORM, &norm) ||
        !isfinite(norm))
        return false;
    double elements = tdc_shape_elements(record->shape);
    *rms = elements > 0 ? norm / sqrt(elements) : 0;
    return true;
}
