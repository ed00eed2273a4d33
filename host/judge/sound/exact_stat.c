/* exact_stat.c - numbers of a dump.json against each other, without the rounding of float64. */
#include <math.h>
#include <string.h>

#include "host/judge/sound/sound.h"

__extension__ typedef __int128 whole128;

/* Two such numbers have a difference in 128 bits. */
#define MOST_DIGITS 37

static bool whole_from_digits(const char *text, whole128 *whole)
{
    bool negative = *text == '-';
    size_t digits = strspn(text += negative, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS || text[digits] != '\0')
        return false;
    *whole = 0;
    for (; *text != '\0'; text++)
        *whole = *whole * 10 + (*text - '0');
    if (negative)
        *whole = -*whole;
    return true;
}

static bool whole_value(const struct tdc_record *record, enum tdc_statistic which, whole128 *whole)
{
    if (record->stat_kinds[which] == TDC_STAT_BIG_INTEGER)
        return whole_from_digits(record->stats[which].text, whole);
    double number;
    if (!tdc_stat_number(record, which, &number) || !(fabs(number) < 0x1p120) ||
        number != floor(number))
        return false;
    *whole = (whole128)number;
    return true;
}

bool tdc_stat_difference(const struct tdc_record *npu, const struct tdc_record *bench,
                         enum tdc_statistic which, double *difference)
{
    double x, y;
    if (!tdc_stat_number(npu, which, &x) || !tdc_stat_number(bench, which, &y))
        return false;
    whole128 whole_x, whole_y;
    *difference = x == y ? 0 : x - y; /* infinities too */
    if (whole_value(npu, which, &whole_x) && whole_value(bench, which, &whole_y))
        *difference = (double)(whole_x - whole_y);
    else if (x == y && npu->stat_kinds[which] == TDC_STAT_BIG_INTEGER &&
             bench->stat_kinds[which] == TDC_STAT_BIG_INTEGER &&
             strcmp(npu->stats[which].text, bench->stats[which].text) != 0)
        *difference = 1; /* at least; float64 has no room for the rest */
    return true;
}
