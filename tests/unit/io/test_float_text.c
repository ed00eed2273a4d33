#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "io/text/decimal.h"
#include "io/text/decimal_power.h"
#include "io/text/pytext.h"
#include "tests/support/rounds.h"

static uint64_t random_state = 0x2545f4914f6cdd1du;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x9e3779b97f4a7c15u;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Each line: bits, repr, %.16g, all made by Python. */
static void check_table(const char *name, size_t least_lines)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/floats/%s.txt", TDC_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    unsigned long long bits;
    char repr[64], g16[64], text[TDC_FLOAT_TEXT];
    size_t lines = 0;
    for (; fscanf(file, "%llx %63s %63s", &bits, repr, g16) == 3; lines++) {
        double value = from_bits(bits), parsed;
        assert_int_equal(tdc_float_repr(value, text), strlen(repr));
        assert_string_equal(text, repr);
        assert_int_equal(tdc_float_g16(value, text), strlen(g16));
        assert_string_equal(text, g16);
        if (isfinite(value)) {
            assert_true(tdc_float_parse(repr, strlen(repr), &parsed));
            assert_int_equal(to_bits(parsed), bits);
        } else {
            assert_false(tdc_float_parse(repr, strlen(repr), &parsed));
        }
    }
    fclose(file);
    assert_true(lines >= least_lines);
}

static void floats_are_written_as_python_does(void **state)
{
    (void)state;
    check_table("powers_of_two", 1000);
    check_table("powers_of_ten", 900);
    check_table("mixed", 1100);
}

/* Significant digits of a number text, without leading and trailing zeros. */
static size_t significant_digits(const char *text, char digits[64])
{
    size_t count = 0;
    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

static double some_double(int kind)
{
    uint64_t bits = next_random();
    switch (kind) {
    case 0:
        return (double)(float)((double)(int64_t)bits * 0x1p-60);
    case 1:
        return (double)(int64_t)(bits % 2000000) / 1000.0;
    case 2:
        return from_bits(bits & 0x800fffffffffffffu);
    default:
        return from_bits(bits);
    }
}

/* repr reads back, no text with one digit less does, and of the texts with as many digits it is the
 * nearest. Between two powers of two the nearest text of n digits reads back if any does; at a
 * power of two it need not, the table has those. */
static void repr_is_shortest_and_nearest(void **state)
{
    (void)state;
    for (int i = 0, rounds = rounds_of(1000000); i < rounds; i++) {
        double value = some_double(i % 16);
        if (!isfinite(value) || value == 0)
            continue;
        char text[TDC_FLOAT_TEXT], digits[64], rounded[64], shorter[64];
        tdc_float_repr(value, text);
        if (to_bits(strtod(text, NULL)) != to_bits(value))
            fail_msg("%s is not %a", text, value);
        if ((to_bits(value) & 0xfffffffffffffu) == 0)
            continue;
        int count = (int)significant_digits(text, digits);
        snprintf(rounded, sizeof rounded, "%.*e", count - 1, value);
        significant_digits(rounded, shorter);
        if (strcmp(digits, shorter) != 0)
            fail_msg("%s is not the nearest to %a", text, value);
        if (count > 1) {
            snprintf(rounded, sizeof rounded, "%.*e", count - 2, value);
            if (strtod(rounded, NULL) == value)
                fail_msg("%s is longer than %s", text, rounded);
        }
    }
}

static void g16_equals_printf(void **state)
{
    (void)state;
    for (int i = 0, rounds = rounds_of(1000000); i < rounds; i++) {
        double value = some_double(i % 16);
        if (isnan(value))
            continue;
        char text[TDC_FLOAT_TEXT], expected[64];
        size_t length = tdc_float_g16(value, text);
        snprintf(expected, sizeof expected, "%.16g", value);
        if (strcmp(text, expected) != 0 || length != strlen(expected))
            fail_msg("%s is not %s", text, expected);
    }
}

static void check_parse(const char *text)
{
    double value = -1, expected = strtod(text, NULL);
    if (!tdc_float_parse(text, strlen(text), &value) || to_bits(value) != to_bits(expected))
        fail_msg("%s gives %a, not %a", text, value, expected);
}

static void parse_equals_strtod(void **state)
{
    (void)state;
    char text[2000];
    for (int i = 0, rounds = rounds_of(1000000); i < rounds; i++) {
        uint64_t a = next_random() >> (next_random() % 64), b = next_random() >> (i % 64);
        int power = (int)(next_random() % 720) - 370;
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%.*e", (int)(next_random() % 25), some_double(i % 16));
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "-%llu.%llue%d", (unsigned long long)a,
                     (unsigned long long)b, power);
        else
            snprintf(text, sizeof text, "%llue%+d", (unsigned long long)a, power);
        if (strstr(text, "n") == NULL)
            check_parse(text);
    }
}

/* The point between two doubles has up to 767 digits; one more digit decides. */
static void halfway_points_are_decided_by_the_last_digit(void **state)
{
    (void)state;
    static char text[4000];
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = next_random() & 0x7fffffffffffffffu;
        if (i % 2 == 0)
            bits &= 0x00ffffffffffffffu; /* small ones have the most digits */
        double value = from_bits(bits), above = from_bits(bits + 1);
        if (!isfinite(above))
            continue;
        /* long double holds 64 bits, so the middle is exact unless it is denormal there: never */
        long double middle = ((long double)value + (long double)above) / 2;
        int length = snprintf(text, sizeof text, "%.1100Lf", middle);
        assert_in_range(length, 1, (int)sizeof text - 2);
        check_parse(text);
        text[length] = '1';
        text[length + 1] = '\0';
        check_parse(text);
        text[length] = '\0';
        for (char *digit = text + length - 1; digit >= text; digit--) {
            if (*digit >= '1' && *digit <= '9') {
                (*digit)--;
                break;
            }
        }
        check_parse(text);
    }
    check_parse("9007199254740993");
    check_parse("9007199254740992.99999999999999999999999999999999999999999");
    check_parse("9007199254740993.00000000000000000000000000000000000000001");
    check_parse("2.4703282292062327208299493e-324");
    check_parse("2.4703282292062328e-324");
    check_parse("1.7976931348623158e308");
    check_parse("1.7976931348623159e308");
    check_parse("0.50000000000000000000000000");
    check_parse("10000000000000000000000000000000000000000e-40");
    check_parse("0e99999999999999999999");
    check_parse("1e99999999999999999999");
    check_parse("1e-99999999999999999999");
    memset(text, '0', 3000);
    memcpy(text, "0.", 2);
    strcpy(text + 3000, "123e3002");
    check_parse(text);
    strcpy(text + 3000, "12345678901234567890123e2700");
    check_parse(text);
    memset(text, '7', 3000);
    strcpy(text + 3000, "e-2900");
    check_parse(text);
}

static void parse_refuses_what_is_no_number(void **state)
{
    (void)state;
    const char *bad[] = {"",   "-",  "+",   ".",   "e5",  "1e",  "1e+",   "--1", "+-1",  "-+1",
                         "1 ", " 1", "nan", "inf", "0x1", "1_0", "1.2.3", "1,5", "1e5.", "-.e1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value;
        if (tdc_float_parse(bad[i], strlen(bad[i]), &value))
            fail_msg("'%s' accepted", bad[i]);
    }
    const char *good[] = {"1", "+1", "-1", ".5", "5.", "-.5e1", "1E5", "00012", "1e+05", "-0"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_parse(good[i]);
    double value;
    assert_true(tdc_float_parse("12345", 2, &value));
    assert_true(value == 12);
    assert_false(tdc_float_parse("1\0", 2, &value));
}

static void locale_has_no_say(void **state)
{
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    bool comma = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !comma; i++)
        comma =
            setlocale(LC_ALL, names[i]) != NULL && strcmp(localeconv()->decimal_point, ".") != 0;
    if (!comma)
        skip(); /* no such locale on this machine */
    char text[TDC_FLOAT_TEXT];
    double value;
    tdc_float_repr(2.5, text);
    assert_string_equal(text, "2.5");
    tdc_float_g16(1.2345e300, text);
    assert_string_equal(text, "1.2345e+300");
    assert_true(tdc_float_parse("9007199254740993.0000000000000000000001", 39, &value));
    assert_true(value == 9007199254740994.0);
    setlocale(LC_ALL, "C");
}

/* A natural number of up to 1280 bits, lowest word first. */
struct large {
    uint32_t words[40];
};

static void multiply(struct large *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < 40; i++) {
        carry += (uint64_t)number->words[i] * factor;
        number->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_int_equal(carry, 0);
}

static struct large shifted(uint64_t high, uint64_t low, int bits)
{
    struct large number = {
        {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)}};
    for (; bits >= 16; bits -= 16)
        multiply(&number, 1 << 16);
    for (; bits > 0; bits--)
        multiply(&number, 2);
    return number;
}

static int order(const struct large *a, const struct large *b)
{
    for (size_t i = 40; i-- > 0;)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

/* entry <= 10^k * 2^-scale < entry + 1, in whole numbers. */
static void powers_of_ten_are_exact(void **state)
{
    (void)state;
    for (int k = TDC_POWER10_LEAST; k <= TDC_POWER10_GREATEST; k++) {
        struct tdc_power10 power = tdc_power10(k);
        int scale = tdc_floor_log2_power10(k) - 127;
        struct tdc_power10 above = {power.high + (power.low == UINT64_MAX), power.low + 1};
        assert_int_equal(power.high >> 63, 1);
        struct large low = shifted(power.high, power.low, scale > 0 ? scale : 0);
        struct large high = shifted(above.high, above.low, scale > 0 ? scale : 0);
        struct large exact = shifted(0, 1, scale < 0 ? -scale : 0);
        for (int i = 0; i < k; i++)
            multiply(&exact, 10);
        for (int i = 0; i > k; i--) {
            multiply(&low, 10);
            multiply(&high, 10);
        }
        assert_int_equal(order(&low, &exact), tdc_power10_exact(k) ? 0 : -1);
        assert_int_equal(order(&exact, &high), -1);
    }
}

/* The number at the start of a text that goes on behind it, in one step. */
static bool reads_plainly(const char *text, struct tdc_plain_number *number, size_t *length)
{
    char room[128];
    int size = snprintf(room, sizeof room, "%s,%40s", text, "");
    const char *end = tdc_plain_number_read(room, room + size, number);
    *length = end != NULL ? (size_t)(end - room) : 0;
    return end != NULL;
}

static void plain_numbers_equal_strtod(void **state)
{
    (void)state;
    static const char *const formats[] = {"%.17g", "%.16g", "%.9g", "%.0f", "%.17f", "%.3e"};
    size_t taken = 0, all = (size_t)rounds_of(60000);
    for (size_t i = 0; i < all; i++) {
        char text[400];
        double value = i % 2 == 0 ? some_double((int)(i / 2 % 16))
                                  : (double)(float)((double)(next_random() >> 11) * 0x1p-52 - 1);
        if (!isfinite(value))
            continue;
/* one of our own formats */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, formats[i % 6], value);
#pragma GCC diagnostic pop
        struct tdc_plain_number number;
        size_t length;
        if (strlen(text) > 60 || !reads_plainly(text, &number, &length))
            continue;
        assert_int_equal(length, strlen(text));
        assert_int_equal(to_bits(number.value), to_bits(strtod(text, NULL)));
        assert_int_equal(number.negative, text[0] == '-');
        assert_int_equal(number.whole, strpbrk(text, ".e") == NULL);
        taken++;
    }
    assert_true(taken > all / 2);
    static const char *const others[] = {
        "",      "-",    ".5",       "01",    "-01",
        "1.",    "1.e5", "1e",       "1e+",   "+1",
        "--1",   "e5",   "Infinity", "1.5.5", "12345678901234567890",
        "1e1234"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(reads_plainly(others[i], &(struct tdc_plain_number){0}, &(size_t){0}));
    static const char early[] = "1,";
    assert_null(tdc_plain_number_read(early, early + 2, &(struct tdc_plain_number){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers_equal_strtod),
        cmocka_unit_test(floats_are_written_as_python_does),
        cmocka_unit_test(repr_is_shortest_and_nearest),
        cmocka_unit_test(g16_equals_printf),
        cmocka_unit_test(parse_equals_strtod),
        cmocka_unit_test(halfway_points_are_decided_by_the_last_digit),
        cmocka_unit_test(parse_refuses_what_is_no_number),
        cmocka_unit_test(locale_has_no_say),
        cmocka_unit_test(powers_of_ten_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
