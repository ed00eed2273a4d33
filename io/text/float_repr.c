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

#define DIGITS_ROOM 20

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

/* Writes the digits against the end of the room; returns the first one. */
static const char *write_digits(uint64_t digits, char room[DIGITS_ROOM])
{
    char *first = room + DIGITS_ROOM;
    for (; digits >= 100; digits /= 100) {
        first -= 2;
        memcpy(first, digit_pairs + digits % 100 * 2, 2);
    }
    first -= 2;
    memcpy(first, digit_pairs + digits * 2, 2);
    return digits < 10 ? first + 1 : first;
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
    char room[DIGITS_ROOM];
    const char *digits = write_digits(decimal.digits, room);
    size_t count = (size_t)(room + DIGITS_ROOM - digits);
    int exponent = decimal.exponent + (int)count - 1;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < LEAST_FIXED || exponent >= BEYOND_FIXED) {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, digits + 1, count - 1);
            at += count - 1;
        }
        return write_power(at, exponent);
    }
    if (exponent < 0) {
        size_t zeros = (size_t)-exponent;
        memcpy(at, "0.000", 1 + zeros);
        at[1] = '.';
        at += 1 + zeros;
        memcpy(at, digits, count);
        return at + count;
    }
    size_t whole = (size_t)exponent + 1;
    if (count <= whole) {
        memcpy(at, digits, count);
        memset(at + count, '0', whole - count);
        at += whole;
        if (point_zero) {
            *at++ = '.';
            *at++ = '0';
        }
        return at;
    }
    memcpy(at, digits, whole);
    at[whole] = '.';
    memcpy(at + whole + 1, digits + whole, count - whole);
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
