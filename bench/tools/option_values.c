#include "bench/tools/option_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/synthetic/synthetic_values.h"
#include "host/terminal/message.h"
#include "kernels/dtype.h"

bool tdc_parse_size(const char *text, uint64_t *size)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    unsigned shift = 0;
    if (*end != '\0') {
        const char *unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    *size = (uint64_t)number << shift;
    return number != 0 && number <= UINT64_MAX >> shift;
}

bool tdc_parse_dtype(const char *text, size_t length, tdc_dtype *dtype)
{
    tdc_dtype found = tdc_dtype_in_brief(text, length);
    if (!tdc_values_supported(found))
        return false;
    *dtype = found;
    return true;
}

const char *tdc_short_dtype(tdc_dtype dtype)
{
    const char *brief = tdc_dtype_entry(dtype)->brief;
    return brief != NULL ? brief : tdc_dtype_name(dtype);
}

static bool parse_pair(const char *text, size_t length, struct tdc_dtype_pair *pair)
{
    const char *slash = memchr(text, '/', length);
    size_t first = slash == NULL ? length : (size_t)(slash - text);
    if (!tdc_parse_dtype(text, first, &pair->npu))
        return false;
    pair->bench = pair->npu;
    return slash == NULL || tdc_parse_dtype(slash + 1, length - first - 1, &pair->bench);
}

bool tdc_parse_pairs(const char *list, struct tdc_dtype_pair *pairs, size_t *count)
{
    *count = 0;
    do {
        size_t length = strcspn(list, ",");
        if (*count == TDC_MOST_PAIRS || !parse_pair(list, length, &pairs[*count]))
            return false;
        (*count)++;
        list += length;
    } while (*list++ == ',');
    return true;
}

void tdc_pair_text(const struct tdc_dtype_pair *pair, char text[16])
{
    if (pair->npu == pair->bench)
        snprintf(text, 16, "%s", tdc_short_dtype(pair->npu));
    else
        snprintf(text, 16, "%s/%s", tdc_short_dtype(pair->npu), tdc_short_dtype(pair->bench));
}
