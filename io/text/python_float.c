/* python_float.c - Python's float() of a text. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/text/pytext.h"

/* Longest number that is worth reading; the digits after that cannot matter and are not from a
 * dump. */
#define LONGEST 1024

static bool special(const char *text, size_t length, double *value)
{
    bool negative = length > 0 && text[0] == '-';
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    double magnitude;
    if ((length == 3 && strncasecmp(text, "inf", 3) == 0) ||
        (length == 8 && strncasecmp(text, "infinity", 8) == 0))
        magnitude = HUGE_VAL;
    else if (length == 3 && strncasecmp(text, "nan", 3) == 0)
        magnitude = (double)NAN;
    else
        return false;
    *value = negative ? -magnitude : magnitude;
    return true;
}

bool tdc_python_float(const char *text, size_t length, double *value)
{
    while (length > 0 && isspace((unsigned char)text[0])) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (special(text, length, value))
        return true;
    if (memchr(text, '_', length) == NULL)
        return tdc_float_parse(text, length, value);
    char plain[LONGEST];
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '_') {
            if (i == 0 || i + 1 == length || !isdigit((unsigned char)text[i - 1]) ||
                !isdigit((unsigned char)text[i + 1]))
                return false;
        } else if (kept == LONGEST) {
            return false;
        } else {
            plain[kept++] = text[i];
        }
    }
    return tdc_float_parse(plain, kept, value);
}
