#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/judge/columns.h"
#include "host/judge/rules.h"
#include "io/pytext.h"

/* ---- reader L (spec 6) ----------------------------------------------------------------------- */

static double read_number(const char *text)
{
    double value = -123;
    if (!tdc_compat_read(text, strlen(text), &value))
        fail_msg("'%s' is refused", text);
    return value;
}

static void numbers_are_read_as_pandas_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"-3", -3},
        {"+7", 7},
        {"2.5", 2.5},
        {" 2.5 ", 2.5},
        {"\t1\n", 1},
        {"1e3", 1000},
        {"1.5e3", 15.0 * 100},
        {"1E-2", 1.0 / 100},
        {"1.1", 11.0 / 10},
        {"0.1", 1.0 / 10},
        {"123.456", 123456.0 / 1000},
        /* 17 digits, leading zeros counted: the rest of a fraction is dropped */
        {"0.0012345678901234567", 12345678901234.0 / 1e16},
        {"0.00000000000000001", 0.0},
        {"1.00000000000000001", 10000000000000000.0 / 1e16},
        /* more digits of an integer raise the exponent */
        {"123456789012345678901", 12345678901234567.0 * 1e4},
        {"1e308", 1e308},
        {"1e-308", 1.0 / 1e308},
        {"1e-320", 1.0 / 1e12 / 1e308},
        {"2.5e-310", 25.0 / 1e3 / 1e308},
        {"1e-99999", 0.0},
        {"inf", HUGE_VAL},
        {"-Inf", -HUGE_VAL},
        {"INF", HUGE_VAL},
        {"+infinity", HUGE_VAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = read_number(cases[i].text);
        if (memcmp(&value, &cases[i].value, sizeof value) != 0)
            fail_msg("'%s' is %.17g, not %.17g", cases[i].text, value, cases[i].value);
    }
    assert_true(isnan(read_number("nan")) && isnan(read_number("NaN")));
    assert_true(signbit(read_number("-0.0")));
}

static void other_texts_are_no_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", " ", "True", "False", "None", "N/A", "[0, 1]", "1 2", "1e", "e5", "1e+", "0x10", ".",
        "-", "1.2.3", "--1", "1,5", "abc", "1a", "١",
        /* out of range; blanks beside words */
        "1e309", "-1e309", "1e99999", "0e309", " nan", "inf ", "-nan"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value;
        if (tdc_compat_read(texts[i], strlen(texts[i]), &value))
            fail_msg("'%s' is read as %g", texts[i], value);
    }
}

/* The example of the specification: 1.1 - 1.0 in the table of msprobe. */
static void a_difference_as_the_table_shows_it(void **state)
{
    (void)state;
    double difference = read_number("1.1") - read_number("1.0");
    char text[TDC_FLOAT_TEXT] = "";
    text[tdc_float_g16(difference, text)] = '\0';
    assert_string_equal(text, "0.1000000000000001");
    text[tdc_float_repr(fabs(difference / 1.0 * 100), text)] = '\0';
    assert_string_equal(text, "10.000000000000009");
}

/* ---- texts of cells -------------------------------------------------------------------------- */

static void positions(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        uint64_t index;
        const char *text;
    } cases[] = {
        {"[]", 0, "[]"},
        {"[5]", 3, "[3]"},
        {"[2, 3]", 0, "[0, 0]"},
        {"[2, 3]", 5, "[1, 2]"},
        {"[4, 1, 7]", 13, "[1, 0, 6]"},
        {"[4, 1, 7]", 27, "[3, 0, 6]"},
        /* not the shape of the file: the flat index serves */
        {"[2, 3]", 6, "[6]"},
        {"[0, 3]", 0, "[0]"},
        {"None", 8, "[8]"},
        {"[4294967296, 4294967296, 4294967296]", 9, "[9]"},
        {"[18446744073709551615, 1]", 1000000000000u, "[1000000000000, 0]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_text text;
        tdc_text_init(&text, 4096);
        tdc_index_text(&text, cases[i].shape, cases[i].index);
        if (strcmp(tdc_text_get(&text), cases[i].text) != 0)
            fail_msg("%s at %llu is '%s'", cases[i].shape, (unsigned long long)cases[i].index,
                     tdc_text_get(&text));
        tdc_text_free(&text);
    }
}

/* "n" for numbers that stay numbers, else the text. */
static void check_element(tdc_dtype dtype, const void *bytes, const char *expected, double value)
{
    struct tdc_element element = {{0}};
    memcpy(element.bytes, bytes, tdc_dtype_size(dtype));
    struct tdc_text text;
    tdc_text_init(&text, 256);
    double number = 0;
    bool is_number = tdc_element_number(dtype, &element, &number, &text);
    assert_int_equal(is_number, strcmp(expected, "n") == 0);
    if (is_number)
        assert_true(number == value);
    else
        assert_string_equal(tdc_text_get(&text), expected);
    tdc_text_free(&text);
}

static void elements_keep_all_their_digits(void **state)
{
    (void)state;
    int64_t small = -7, edge = INT64_C(9007199254740993), least = INT64_MIN;
    uint64_t most = UINT64_MAX;
    float half = 0.5f, complexes[] = {1.5f, -2.25f}, positive[] = {0.0f, 3.0f};
    check_element(TDC_F32, &half, "n", 0.5);
    check_element(TDC_I64, &small, "n", -7);
    check_element(TDC_I64, &edge, "9007199254740993", 0);
    check_element(TDC_I64, &least, "-9223372036854775808", 0);
    check_element(TDC_U64, &most, "18446744073709551615", 0);
    check_element(TDC_C64, complexes, "1.5-2.25j", 0);
    check_element(TDC_C64, positive, "0+3j", 0);
}

/* ---- whole rules ----------------------------------------------------------------------------- */

static struct tdc_record record_of(double max, double min, double mean, double norm)
{
    return (struct tdc_record){
        .name = "a",
        .dtype = "torch.float32",
        .shape = "[2]",
        .requires_grad = "False",
        .data_name = "-1",
        .digest = "00000000",
        .stats = {{.number = max}, {.number = min}, {.number = mean}, {.number = norm}},
        .stat_kinds = {TDC_STAT_FLOAT, TDC_STAT_FLOAT, TDC_STAT_FLOAT, TDC_STAT_FLOAT},
    };
}

static struct tdc_row judge_statistics(const struct tdc_rules *rules, const struct tdc_record *npu,
                                       const struct tdc_record *bench)
{
    struct tdc_match match = {.mode = TDC_MODE_STATISTICS};
    struct tdc_case row_case = {
        .match = &match, .npu = npu, .bench = bench, .n_file = "-1", .b_file = "-1"};
    struct tdc_row row = {0};
    struct tdc_text message;
    tdc_text_init(&message, 4096);
    rules->judge_statistics(&row_case, &row, &message);
    tdc_text_free(&message);
    return row;
}

/* Spec 16: what the original calls a warning is not what its documentation says. */
static void statistics_verdicts_of_both_rule_sets(void **state)
{
    (void)state;
    static const struct {
        double npu, bench;
        bool compat, sound; /* suspicious */
    } cases[] = {
        {1.0, 1.0, false, false},
        {1.4, 1.0, false, false},
        {1.6, 1.0, false, true}, /* 0.6 of 1.6 is not more than a half */
        {2.5, 1.0, true, true},
        {0.4, 1.0, true, true},
        {-1.0, 1.0, true, true},
        {-0.4, -1.0, true, true},
        {-3.0, -1.0, true, true},
        {1e-12, 0.0, false, false},
        {0.5, 0.0, true, true},
        {HUGE_VAL, 1.0, false, true},
        {HUGE_VAL, HUGE_VAL, false, false},
        {HUGE_VAL, -HUGE_VAL, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_record npu = record_of(cases[i].npu, 0, 0, 0);
        struct tdc_record bench = record_of(cases[i].bench, 0, 0, 0);
        struct tdc_row compat = judge_statistics(&tdc_rules_compat, &npu, &bench);
        struct tdc_row sound = judge_statistics(&tdc_rules_sound, &npu, &bench);
        if ((compat.verdict == TDC_VERDICT_WARNING) != cases[i].compat)
            fail_msg("compat: %g against %g", cases[i].npu, cases[i].bench);
        if ((sound.verdict == TDC_VERDICT_WARNING) != cases[i].sound)
            fail_msg("sound: %g against %g", cases[i].npu, cases[i].bench);
        assert_int_equal(sound.row_class, cases[i].sound ? TDC_ROW_DIFFERENT : TDC_ROW_SAME);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_pandas_reads_them),
        cmocka_unit_test(other_texts_are_no_numbers),
        cmocka_unit_test(a_difference_as_the_table_shows_it),
        cmocka_unit_test(positions),
        cmocka_unit_test(elements_keep_all_their_digits),
        cmocka_unit_test(statistics_verdicts_of_both_rule_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
