#include "io/number_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts, shapes and sums of small integers are most of a table, and printf is ten times slower. */
static size_t integer_text(double value, char *text)
{
    int64_t whole = (int64_t)value;
    uint64_t magnitude = whole < 0 ? (uint64_t)-whole : (uint64_t)whole;
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude != 0);
    size_t length = 0;
    if (whole < 0)
        text[length++] = '-';
    while (count != 0)
        text[length++] = digits[--count];
    text[length] = '\0';
    return length;
}

/* Below 10^15 both forms print all digits of an integer and no exponent. */
static bool is_short_integer(double value)
{
    return fabs(value) < 1e15 && value == (double)(int64_t)value && !(value == 0 && signbit(value));
}

/* A locale may have another decimal separator, even one of several bytes. */
static size_t with_point(char *text)
{
    size_t length = 0;
    bool separator = false;
    for (const char *from = text; *from != '\0'; from++) {
        bool plain = (*from >= '0' && *from <= '9') || *from == '-' || *from == '+' || *from == 'e';
        if (plain)
            text[length++] = *from;
        else if (!separator)
            text[length++] = '.';
        separator = !plain;
    }
    text[length] = '\0';
    return length;
}

static size_t literal(char *text, const char *what)
{
    size_t length = strlen(what);
    memcpy(text, what, length + 1);
    return length;
}

size_t tdc_number_text_g16(double value, char text[TDC_NUMBER_TEXT])
{
    if (isnan(value))
        return literal(text, "nan");
    if (isinf(value))
        return literal(text, value < 0 ? "-inf" : "inf");
    if (is_short_integer(value))
        return integer_text(value, text);
    snprintf(text, TDC_NUMBER_TEXT, "%.16g", value);
    return with_point(text);
}

size_t tdc_number_text_shortest(double value, char text[TDC_NUMBER_TEXT])
{
    if (is_short_integer(value))
        return integer_text(value, text);
    if (value == 0)
        return literal(text, "-0.0");
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, TDC_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return with_point(text);
}
