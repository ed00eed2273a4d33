#include "io/text/decimal_power.h"
#include "io/text/pytext.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HIDDEN_BIT   ((uint64_t)1 << 52)
#define G_DIGITS     16
#define POWER_16     UINT64_C(10000000000000000)
#define LEAST_FIXED  (-4) /* decimal exponents written without an e */
#define BEYOND_FIXED 16

/* digits * 10^exponent */
struct decimal_digits {
    uint64_t digits;
    int exponent;
};

/* A finite double but 0 is significand * 2^exponent. */
struct binary {
    uint64_t significand;
    int exponent;
    bool least_of_its_power; /* the double below is only half as far away as the one above */
};

static struct binary take_apart(uint64_t bits)
{
    uint64_t fraction = bits & (HIDDEN_BIT - 1);
    int power = (int)(bits >> 52) & 0x7ff;
    if (power == 0)
        return (struct binary){fraction, -1074, false};
    return (struct binary){fraction | HIDDEN_BIT, power - 1075, fraction == 0 && power > 1};
}

/* factor * power / 2^128 cut to an integer, with the last bit set if something was cut off. `power`
 * is at most one too large, which shows as a remainder of at most 1. */
static uint64_t scaled_round_to_odd(struct tdc_power10 power, uint64_t factor)
{
    struct tdc_product product = tdc_multiply_power(factor, power);
    return product.high | (product.middle > 1);
}

/*
 * The shortest decimal inside the rounding interval of a double, the one nearest to the double if
 * there are several: R. Giulietti's Schubfach method. The interval and the double are scaled by
 * 4 * 10^-k so that the interval is 2 to 20 units of 4 wide; one of the neighbours with one digit
 * less, or one of the neighbours with all digits, is the answer.
 */
static struct decimal_digits shortest(const struct binary *binary)
{
    uint64_t c = binary->significand;
    bool closed = c % 2 == 0; /* ties to even: the ends of the interval read back as this double */
    int k = binary->least_of_its_power
                ? (binary->exponent * 1262611 - 524031) >> 22 /* floor(log10(3/4 * 2^exponent)) */
                : tdc_floor_log10_power2(binary->exponent);
    int shift = binary->exponent + tdc_floor_log2_power10(-k) + 1;
    struct tdc_power10 power = tdc_power10(-k);
    power.low++;
    power.high += power.low == 0;
    uint64_t middle = scaled_round_to_odd(power, (4 * c) << shift);
    uint64_t lower =
        scaled_round_to_odd(power, (4 * c - 2 + binary->least_of_its_power) << shift) + !closed;
    uint64_t upper = scaled_round_to_odd(power, (4 * c + 2) << shift) - !closed;

    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below_inside = lower <= 40 * tens;
        bool above_inside = 40 * tens + 40 <= upper;
        if (below_inside != above_inside)
            return (struct decimal_digits){tens + above_inside, k + 1};
    }
    bool below_inside = lower <= 4 * s;
    bool above_inside = 4 * s + 4 <= upper;
    if (below_inside != above_inside)
        return (struct decimal_digits){s + above_inside, k};
    uint64_t half = 4 * s + 2;
    bool up = middle > half || (middle == half && s % 2 != 0);
    return (struct decimal_digits){s + up, k};
}

/* Sixteen correctly rounded digits, if 128 bits of a power of ten decide them: always for doubles
 * below 10^16 and above 10^-40, whose powers are exact. */
static bool sixteen_digits(const struct binary *binary, struct decimal_digits *decimal)
{
    int shift = __builtin_clzll(binary->significand);
    uint64_t factor = binary->significand << shift;
    int top = binary->exponent - shift + 63; /* 2^top <= value < 2^(top+1) */
    int power = G_DIGITS - 1 - tdc_floor_log10_power2(top);
    for (int attempt = 0; attempt < 2; attempt++, power--) {
        struct tdc_product product = tdc_multiply_power(factor, tdc_power10(power));
        bool exact = tdc_power10_exact(power);
        if (!exact && !tdc_product_certain(&product, factor))
            return false;
        /* value * 10^power = product.high * 2^-drop, about 2^50 to 2^57 */
        int drop = -(top - 63 + tdc_floor_log2_power10(power) - 127 + 128);
        uint64_t digits = product.high >> drop;
        if (digits >= POWER_16)
            continue; /* the first guess at the decimal exponent may be one too low */
        uint64_t half = (uint64_t)1 << (drop - 1);
        uint64_t rest = product.high & (2 * half - 1);
        bool more = !exact || (product.middle | product.low) != 0;
        digits += rest > half || (rest == half && (more || digits % 2 != 0));
        *decimal = (struct decimal_digits){digits, -power};
        return true;
    }
    return false;
}

/* The rare rest; the C library is exact. Only digits are taken from its text, because the decimal
 * point depends on the locale. */
static struct decimal_digits sixteen_digits_slowly(double magnitude)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", G_DIGITS - 1, magnitude);
    uint64_t digits = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits = digits * 10 + (uint64_t)(*at - '0');
    int exponent = 0;
    bool negative = at[1] == '-';
    for (at += 2; *at != '\0'; at++)
        exponent = exponent * 10 + (*at - '0');
    return (struct decimal_digits){digits, (negative ? -exponent : exponent) - (G_DIGITS - 1)};
}

/* Digits are moved by one copy of fixed size, whatever their number: rooms have so much more. */
#define MOVE        17
#define DIGITS_ROOM (2 * MOVE)

#define ZEROS UINT64_C(0x3030303030303030)

/* The eight digits of a number below 10^8, the first in the lowest byte: halves of four, pairs and
 * digits are divided at the same time inside one word. */
static uint64_t spread_digits(uint32_t number)
{
    uint64_t fours = (uint64_t)(number % 10000) << 32 | number / 10000;
    uint64_t tops = (fours * 10486 >> 20) & 0x0000007f0000007fu; /* / 100, exact below 10000 */
    uint64_t pairs = tops | (fours - 100 * tops) << 16;
    uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000fu; /* / 10, exact below 100 */
    return tens | (pairs - 10 * tens) << 8;
}

static void store_digits(char *at, uint64_t spread)
{
    uint64_t word = spread | ZEROS;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(at, &word, sizeof word);
}

/* The digits of a number below 10^17 but 0, without zeros before and behind them. Returns the
 * first, *count of them, and how many there are with the zeros behind. */
static const char *write_digits(uint64_t digits, char room[DIGITS_ROOM], size_t *count,
                                size_t *whole_count)
{
    uint64_t first = digits / POWER_16, rest = digits % POWER_16;
    uint64_t high = spread_digits((uint32_t)(rest / 100000000));
    uint64_t low = spread_digits((uint32_t)(rest % 100000000));
    room[0] = (char)('0' + first);
    store_digits(room + 1, high);
    store_digits(room + 9, low);
    size_t before = first != 0  ? 0
                    : high != 0 ? 1 + (size_t)__builtin_ctzll(high) / 8
                                : 9 + (size_t)__builtin_ctzll(low) / 8;
    size_t behind = low != 0    ? (size_t)__builtin_clzll(low) / 8
                    : high != 0 ? 8 + (size_t)__builtin_clzll(high) / 8
                                : 16;
    *whole_count = MOVE - before;
    *count = MOVE - before - behind;
    return room + before;
}

static char *write_power(char *at, int exponent)
{
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (magnitude >= 100)
        *at++ = (char)('0' + magnitude / 100);
    *at++ = (char)('0' + magnitude / 10 % 10);
    *at++ = (char)('0' + magnitude % 10);
    return at;
}

static char *write_decimal(char *at, struct decimal_digits decimal, bool point_zero)
{
    char room[DIGITS_ROOM] = {0};
    size_t count, all;
    const char *digits = write_digits(decimal.digits, room, &count, &all);
    int exponent = decimal.exponent + (int)all - 1;
    if (exponent < LEAST_FIXED || exponent >= BEYOND_FIXED) {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, digits + 1, MOVE - 1);
            at += count - 1;
        }
        return write_power(at, exponent);
    }
    if (exponent < 0) {
        memcpy(at, "0.000", 5);
        at += 1 - exponent;
        memcpy(at, digits, MOVE);
        return at + count;
    }
    size_t whole = (size_t)exponent + 1;
    if (count <= whole) {
        memcpy(at, digits, MOVE);
        memset(at + count, '0', whole - count);
        at += whole;
        if (point_zero) {
            *at++ = '.';
            *at++ = '0';
        }
        return at;
    }
    memcpy(at, digits, MOVE);
    at[whole] = '.';
    memcpy(at + whole + 1, digits + whole, MOVE);
    return at + count + 1;
}

/* What is not digits: sign, nan, inf, 0. Returns true if that was all; *at is moved on. */
static bool write_special(double value, bool point_zero, char **at)
{
    if (isnan(value)) {
        memcpy(*at, "nan", 3);
        *at += 3;
        return true;
    }
    if (signbit(value))
        *(*at)++ = '-';
    if (isinf(value)) {
        memcpy(*at, "inf", 3);
        *at += 3;
        return true;
    }
    if (value != 0)
        return false;
    size_t length = point_zero ? 3 : 1;
    memcpy(*at, "0.0", length);
    *at += length;
    return true;
}

static uint64_t magnitude_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & (UINT64_MAX >> 1);
}

size_t tdc_float_repr(double value, char text[TDC_FLOAT_TEXT])
{
    char *at = text;
    if (!write_special(value, true, &at)) {
        struct binary binary = take_apart(magnitude_bits(value));
        at = write_decimal(at, shortest(&binary), true);
    }
    *at = '\0';
    return (size_t)(at - text);
}

size_t tdc_float_g16(double value, char text[TDC_FLOAT_TEXT])
{
    char *at = text;
    if (!write_special(value, false, &at)) {
        struct binary binary = take_apart(magnitude_bits(value));
        struct decimal_digits decimal;
        if (!sixteen_digits(&binary, &decimal))
            decimal = sixteen_digits_slowly(fabs(value));
        at = write_decimal(at, decimal, false);
    }
    *at = '\0';
    return (size_t)(at - text);
}
