/*
 * compat_number.c - decimal numbers as pandas 1.5 reads them (docs/msprobe.md#decimal-reader).
 *
 * Not exact on purpose: digits are accumulated in a double, at most 17 of them counting leading
 * zeros, and scaled by one power of ten. The differences in statistics tables show its rounding.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "host/judge/rules.h"
#include "io/text/pytext.h"

#define DIGITS 17

/* 10^k as the nearest double, k in 0..308. */
static double power_of_ten(int k)
{
    char text[8];
    int length = 0;
    text[length++] = '1';
    text[length++] = 'e';
    if (k >= 100)
        text[length++] = (char)('0' + k / 100);
    if (k >= 10)
        text[length++] = (char)('0' + k / 10 % 10);
    text[length++] = (char)('0' + k % 10);
    double power = 1;
    tdc_float_parse(text, (size_t)length, &power);
    return power;
}

static double scale(double value, int exponent)
{
    if (exponent > 308)
        return HUGE_VAL;
    if (exponent > 0)
        return value * power_of_ten(exponent);
    if (exponent >= -308)
        return value / power_of_ten(-exponent);
    if (exponent >= -616)
        return value / power_of_ten(-308 - exponent) / power_of_ten(308);
    return 0;
}

static bool special(const char *text, size_t length, double *value)
{
    bool negative = length > 0 && text[0] == '-';
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    if ((length == 3 && strncasecmp(text, "inf", 3) == 0) ||
        (length == 8 && strncasecmp(text, "infinity", 8) == 0)) {
        *value = negative ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    return false;
}

struct scan {
    const char *at, *end;
    double value;
    int used;     /* digits accumulated */
    int exponent; /* of ten, from the digits alone */
    bool any;
};

static void scan_digits(struct scan *scan, bool fraction)
{
    for (; scan->at < scan->end && isdigit((unsigned char)*scan->at); scan->at++) {
        scan->any = true;
        if (scan->used < DIGITS) {
            scan->value = scan->value * 10 + (*scan->at - '0');
            scan->used++;
            scan->exponent -= fraction;
        } else if (!fraction) {
            scan->exponent++;
        }
    }
}

/* False when an `e` is not followed by a number. */
static bool scan_exponent(struct scan *scan)
{
    if (scan->at == scan->end || (*scan->at != 'e' && *scan->at != 'E'))
        return true;
    scan->at++;
    bool negative = false;
    if (scan->at < scan->end && (*scan->at == '-' || *scan->at == '+'))
        negative = *scan->at++ == '-';
    int value = 0;
    bool any = false;
    for (; scan->at < scan->end && isdigit((unsigned char)*scan->at); scan->at++) {
        any = true;
        if (value < 100000)
            value = value * 10 + (*scan->at - '0');
    }
    scan->exponent += negative ? -value : value;
    return any;
}

bool tdc_compat_read(const char *text, size_t length, double *value)
{
    if (length == 3 && strncasecmp(text, "nan", 3) == 0) {
        *value = (double)NAN;
        return true;
    }
    if (special(text, length, value))
        return true;
    /* blanks may surround digits, not the words above */
    while (length > 0 && isspace((unsigned char)text[0])) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    struct scan scan = {.at = text, .end = text + length};
    bool negative = false;
    if (length > 0 && (*text == '-' || *text == '+'))
        negative = *scan.at++ == '-';
    scan_digits(&scan, false);
    if (scan.at < scan.end && *scan.at == '.') {
        scan.at++;
        scan_digits(&scan, true);
    }
    if (!scan.any || !scan_exponent(&scan) || scan.at != scan.end)
        return false;
    double magnitude = scale(scan.value, scan.exponent);
    if (isinf(magnitude)) /* out of range is no number */
        return false;
    *value = negative ? -magnitude : magnitude;
    return true;
}
