#include "io/text/decimal.h"
#include "io/text/decimal_power.h"
#include "io/text/pytext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_KEPT 19 /* 10^19 < 2^64 */
/* An explicit exponent stops growing here: no text has enough digits to make up for it. */
#define POWER_BOUND ((int64_t)1 << 50)
/* The point half-way between two doubles has at most 767 significant digits. */
#define HALFWAY_DIGITS 768
#define ZEROS          UINT64_C(0x3030303030303030)

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Eight bytes, the first in the lowest byte. */
static uint64_t load_eight(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The high bit of each byte that is no digit; of bytes behind the first such it may be wrong. */
static uint64_t no_digits(uint64_t word)
{
    return ((word - ZEROS) | (word + 0x4646464646464646u)) & 0x8080808080808080u;
}

/* Pairs, then fours, then the eight digits are added up inside one word. */
static uint32_t eight_digits(uint64_t word)
{
    uint64_t values = word - ZEROS;
    values = values * 10 + (values >> 8);
    values = ((values & 0x000000ff000000ffu) * 0x000f424000000064u +
              ((values >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
             32;
    return (uint32_t)values;
}

static bool take_eight(const char *at, uint64_t *digits)
{
    uint64_t word = load_eight(at);
    if (no_digits(word) != 0)
        return false;
    *digits = *digits * 100000000 + eight_digits(word);
    return true;
}

static const char *take_digits(const char *at, const char *end, uint64_t *digits)
{
    while (end - at >= 8 && take_eight(at, digits))
        at += 8;
    for (; at < end && is_digit(*at); at++)
        *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

static const char *take_power(const char *at, const char *end, struct tdc_decimal *decimal)
{
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+'))
        negative = *at++ == '-';
    int64_t power = 0;
    const char *first = at;
    for (; at < end && is_digit(*at); at++)
        if (power < POWER_BOUND)
            power = power * 10 + (*at - '0');
    decimal->power_digits = (size_t)(at - first);
    decimal->exponent += negative ? -power : power;
    return at;
}

/* The first pass has overflowed `digits`: keeps only the first significant ones. Returns what to
 * add to the exponent. */
static int64_t keep_leading_digits(const char *at, struct tdc_decimal *decimal)
{
    size_t left = decimal->whole_digits + decimal->fraction_digits;
    size_t whole = decimal->whole_digits;
    size_t kept = 0;
    int64_t exponent = 0;
    decimal->digits = 0;
    for (; left > 0; left--, at++) {
        if (*at == '.')
            at++;
        bool in_whole = whole > 0;
        if (in_whole)
            whole--;
        if (kept == DIGITS_KEPT) {
            decimal->cut |= *at != '0';
            exponent += in_whole;
            continue;
        }
        decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
        kept += decimal->digits != 0;
        exponent -= !in_whole;
    }
    return exponent;
}

const char *tdc_decimal_scan(const char *at, const char *end, struct tdc_decimal *decimal)
{
    *decimal = (struct tdc_decimal){0};
    if (at < end && *at == '-') {
        decimal->negative = true;
        at++;
    }
    const char *digits = at;
    at = take_digits(at, end, &decimal->digits);
    decimal->whole_digits = (size_t)(at - digits);
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        decimal->point = true;
        at = take_digits(at, end, &decimal->digits);
        decimal->fraction_digits = (size_t)(at - fraction);
        decimal->exponent = -(int64_t)decimal->fraction_digits;
    }
    if (decimal->whole_digits + decimal->fraction_digits > DIGITS_KEPT)
        decimal->exponent = keep_leading_digits(digits, decimal);
    if (at < end && (*at == 'e' || *at == 'E')) {
        decimal->power = true;
        at = take_power(at + 1, end, decimal);
    }
    return at;
}

/* Bits of the double nearest to (word + rest) * 2^scale, where the top bit of word is set and rest
 * is 0 or, if `more`, between 0 and 1. */
static uint64_t round_to_double(uint64_t word, bool more, int scale)
{
    int exponent = scale + 63;
    if (exponent > 1023)
        return (uint64_t)0x7ff << 52;
    int drop = exponent >= -1022 ? 11 : 11 + (-1022 - exponent);
    if (drop > 64)
        return 0;
    uint64_t kept = drop == 64 ? 0 : word >> drop;
    uint64_t half = (uint64_t)1 << (drop - 1);
    uint64_t dropped = drop == 64 ? word : word & (half * 2 - 1);
    if (dropped > half || (dropped == half && (more || (kept & 1) != 0)))
        kept++;
    if (exponent < -1022)
        return kept; /* a carry into the least normal number has the right bits, too */
    return ((uint64_t)(exponent + 1022) << 52) + kept; /* the leading one adds the last exponent */
}

/* Bits of the double nearest to digits * 10^exponent, digits not 0. False if 128 bits of the power
 * do not decide, which takes a value within 2^-64 of a boundary. */
static bool convert(uint64_t digits, int64_t exponent, uint64_t *bits)
{
    if (exponent < TDC_POWER10_LEAST) {
        *bits = 0;
        return true;
    }
    if (exponent > 308) {
        *bits = (uint64_t)0x7ff << 52;
        return true;
    }
    int power = (int)exponent;
    int shift = __builtin_clzll(digits);
    digits <<= shift;
    struct tdc_product product = tdc_multiply_power(digits, tdc_power10(power));
    bool exact = tdc_power10_exact(power);
    if (!exact && !tdc_product_certain(&product, digits))
        return false;
    int scale = tdc_floor_log2_power10(power) - 127 + 128 - shift;
    if (product.high >> 63 == 0) {
        product.high = product.high << 1 | product.middle >> 63;
        product.middle <<= 1;
        scale--;
    }
    bool more = !exact || (product.middle | product.low) != 0;
    *bits = round_to_double(product.high, more, scale);
    return true;
}

/* All digits that can matter go to strtod, as an integer with an exponent: without a decimal point
 * the locale has no say. */
static double convert_slowly(const char *text, size_t length)
{
    char buffer[HALFWAY_DIGITS + 40];
    struct tdc_decimal decimal;
    tdc_decimal_scan(text, text + length, &decimal);
    int64_t exponent = decimal.exponent;
    bool cut = false;
    size_t used = 0, significant = 0;
    for (size_t i = 0; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (!is_digit(text[i]) || (used == 0 && text[i] == '0'))
            continue;
        significant++;
        if (used < HALFWAY_DIGITS)
            buffer[used++] = text[i];
        else
            cut |= text[i] != '0';
    }
    /* decimal.exponent belongs to the first 19 digits (all digits, if fewer) */
    if (significant > DIGITS_KEPT)
        exponent -= (int64_t)(used - DIGITS_KEPT);
    if (cut) {
        buffer[used++] = '1';
        exponent--;
    }
    if (exponent > 5000)
        exponent = 5000;
    if (exponent < -5000)
        exponent = -5000;
    snprintf(buffer + used, sizeof buffer - used, "e%d", (int)exponent);
    return strtod(buffer, NULL);
}

static double exact_quotient_or_product(uint64_t digits, int exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)digits;
    return exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
}

/* ---- in one step ----------------------------------------------------------------------------- */

#define MOST_PLAIN ((ptrdiff_t)32) /* sign, digits, point and exponent with a byte behind them */

/* Up to 23 digits at `at`, from which so many bytes can be read, appended to *digits; their end. */
static inline const char *take_run(const char *at, uint64_t *digits)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t value = *digits, word = load_eight(at), other = no_digits(word);
    for (int eights = 0; other == 0 && eights < 2; eights++) {
        value = value * 100000000 + eight_digits(word);
        at += 8;
        word = load_eight(at);
        other = no_digits(word);
    }
    unsigned count = other != 0 ? (unsigned)__builtin_ctzll(other) / 8 : 0;
    if (count != 0) { /* those before the first other byte, with zeros before them */
        word = word << (64 - 8 * count) | ZEROS >> (8 * count);
        value = value * powers[count] + eight_digits(word);
    }
    *digits = value;
    return at + count;
}

/* Of the next eight bytes. */
static int leading_zeros(const char *at)
{
    uint64_t other = load_eight(at) ^ ZEROS;
    return other != 0 ? __builtin_ctzll(other) / 8 : 8;
}

static bool nearest(uint64_t digits, int exponent, double *value)
{
    uint64_t bits;
    if (digits == 0) {
        *value = 0;
    } else if (digits <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        /* both operands are exact, so one rounding gives the nearest double */
        *value = exact_quotient_or_product(digits, exponent);
    } else {
        if (!convert(digits, exponent, &bits))
            return false;
        memcpy(value, &bits, sizeof bits);
    }
    return true;
}

const char *tdc_plain_number_read(const char *at, const char *end, struct tdc_plain_number *number)
{
    if (end - at < MOST_PLAIN)
        return NULL;
    number->negative = *at == '-';
    at += number->negative;
    uint64_t digits = 0;
    const char *first = at;
    at = take_run(at, &digits);
    ptrdiff_t count = at - first;
    if (count == 0 || count > DIGITS_KEPT || (count > 1 && *first == '0'))
        return NULL;
    int exponent = 0;
    number->whole = *at != '.';
    if (!number->whole) {
        const char *fraction = at + 1;
        if (end - fraction < MOST_PLAIN)
            return NULL;
        if (digits == 0) /* zeros before the first other digit are none that count */
            count = -leading_zeros(fraction);
        at = take_run(fraction, &digits);
        exponent = -(int)(at - fraction);
        count -= exponent;
        if (exponent == 0 || count > DIGITS_KEPT)
            return NULL;
    }
    if (is_digit(*at) || *at == '.')
        return NULL; /* more than a run takes; or wrong */
    if ((*at | 0x20) == 'e') {
        bool below = at[1] == '-';
        const char *power = at + 1 + (below || at[1] == '+');
        int value = 0;
        for (at = power; is_digit(*at) && at - power < 4; at++)
            value = value * 10 + (*at - '0');
        if (at == power || at - power > 3)
            return NULL;
        exponent += below ? -value : value;
        number->whole = false;
    }
    if (!nearest(digits, exponent, &number->value))
        return NULL;
    if (number->negative)
        number->value = -number->value;
    return at;
}

/* ---- the rest -------------------------------------------------------------------------------- */

double tdc_decimal_double(const struct tdc_decimal *decimal, const char *text, size_t length)
{
    double value;
    uint64_t bits, above;
    if (decimal->digits == 0) {
        value = 0;
    } else if (!decimal->cut && decimal->digits <= (uint64_t)1 << 53 && decimal->exponent >= -22 &&
               decimal->exponent <= 22) {
        /* both operands are exact, so one rounding gives the nearest double */
        value = exact_quotient_or_product(decimal->digits, (int)decimal->exponent);
    } else if (convert(decimal->digits, decimal->exponent, &bits) &&
               (!decimal->cut ||
                (convert(decimal->digits + 1, decimal->exponent, &above) && bits == above))) {
        memcpy(&value, &bits, sizeof value);
    } else {
        value = convert_slowly(text, length);
    }
    return decimal->negative ? -value : value;
}

bool tdc_float_parse(const char *text, size_t length, double *value)
{
    if (length > 1 && text[0] == '+' && text[1] != '-') {
        text++;
        length--;
    }
    struct tdc_decimal decimal;
    const char *end = tdc_decimal_scan(text, text + length, &decimal);
    if (end != text + length || decimal.whole_digits + decimal.fraction_digits == 0 ||
        (decimal.power && decimal.power_digits == 0))
        return false;
    *value = tdc_decimal_double(&decimal, text, length);
    return true;
}
