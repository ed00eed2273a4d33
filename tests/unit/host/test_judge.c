#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/origin/call_name.h"
#include "host/judge/element_text.h"
#include "host/judge/sound/level.h"
#include "host/judge/rules.h"
#include "io/text/pytext.h"

/* ---- numbers as pandas reads them ------------------------------------------------------------ */

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
    struct tdc_case row_case = {.match = &match,
                                .npu = npu,
                                .bench = bench,
                                .n_file = "-1",
                                .b_file = "-1",
                                .scene = {.precision = TDC_PRECISION_F32}};
    struct tdc_row row = {0};
    struct tdc_text message;
    tdc_text_init(&message, 4096);
    rules->judge_statistics(&row_case, &row, &message);
    tdc_text_free(&message);
    return row;
}

/* What the original calls a warning is not what its documentation says; the sound rules measure at
 * the scale of the tensor. */
static void statistics_verdicts_of_both_rule_sets(void **state)
{
    (void)state;
    static const struct {
        double npu, bench;
        bool compat; /* suspicious */
        tdc_row_class sound;
    } cases[] = {
        {1.0, 1.0, false, TDC_ROW_IDENTICAL},
        {1.0 + 1e-6, 1.0, false, TDC_ROW_ROUNDING},
        {1.0 + 1e-3, 1.0, false, TDC_ROW_CLOSE},
        {1.4, 1.0, false, TDC_ROW_DIFFERENT},
        {1.6, 1.0, false, TDC_ROW_DIFFERENT}, /* 0.6 of 1.6 is not more than a half */
        {2.5, 1.0, true, TDC_ROW_DIFFERENT},
        {0.4, 1.0, true, TDC_ROW_DIFFERENT},
        {-1.0, 1.0, true, TDC_ROW_DIFFERENT},
        {-0.4, -1.0, true, TDC_ROW_DIFFERENT},
        {-3.0, -1.0, true, TDC_ROW_DIFFERENT},
        {0.5, 0.0, true, TDC_ROW_DIFFERENT},
        {HUGE_VAL, 1.0, false, TDC_ROW_DIFFERENT},
        {HUGE_VAL, HUGE_VAL, false, TDC_ROW_IDENTICAL},
        {HUGE_VAL, -HUGE_VAL, false, TDC_ROW_DIFFERENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_record npu = record_of(cases[i].npu, 0, 0, 1);
        struct tdc_record bench = record_of(cases[i].bench, 0, 0, 1);
        struct tdc_row compat = judge_statistics(&tdc_rules_compat, &npu, &bench);
        struct tdc_row sound = judge_statistics(&tdc_rules_sound, &npu, &bench);
        if ((compat.verdict == TDC_VERDICT_WARNING) != cases[i].compat)
            fail_msg("compat: %g against %g", cases[i].npu, cases[i].bench);
        if (sound.row_class != cases[i].sound)
            fail_msg("sound: %g against %g is %s", cases[i].npu, cases[i].bench,
                     tdc_level_text((tdc_row_class)sound.row_class));
    }
}

/* A mean of noise around zero is measured by the norm of its tensor, not by itself. */
static void a_mean_near_zero_is_no_finding(void **state)
{
    (void)state;
    struct tdc_record npu = record_of(4.6, -4.6, 3e-8, 4.6),
                      bench = record_of(4.6, -4.6, -1e-8, 4.6);
    assert_int_equal(judge_statistics(&tdc_rules_sound, &npu, &bench).row_class, TDC_ROW_ROUNDING);
    npu.stats[TDC_MEAN].number = 0.5;
    assert_int_equal(judge_statistics(&tdc_rules_sound, &npu, &bench).row_class, TDC_ROW_DIFFERENT);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static tdc_row_class level(struct tdc_scene scene, struct tdc_measure measure, bool *excused)
{
    struct tdc_row row = {0};
    struct tdc_text message;
    tdc_text_init(&message, 4096);
    tdc_level_judge(&scene, &measure, &row, &message);
    tdc_text_free(&message);
    *excused = row.excused;
    return (tdc_row_class)row.row_class;
}

static void levels_by_precision(void **state)
{
    (void)state;
    static const struct {
        enum tdc_precision precision;
        double r, s;
        bool gradient;
        tdc_row_class expected;
    } cases[] = {
        {TDC_PRECISION_F32, 0, 0, false, TDC_ROW_IDENTICAL},
        {TDC_PRECISION_F32, 9e-7, 3e-6, false, TDC_ROW_ROUNDING},
        {TDC_PRECISION_F32, 9e-7, 5e-6, false, TDC_ROW_CLOSE}, /* the worst element alone */
        {TDC_PRECISION_F32, 2e-6, 0, true, TDC_ROW_ROUNDING},
        {TDC_PRECISION_F32, 0.05, 0.05, false, TDC_ROW_DIFFERENT},
        {TDC_PRECISION_F32, 1e-6, 0.009, false, TDC_ROW_DIFFERENT},
        {TDC_PRECISION_F32, 0.009, 0, true, TDC_ROW_CLOSE},
        {TDC_PRECISION_BF16, 0.015, 0.05, false, TDC_ROW_ROUNDING},
        {TDC_PRECISION_BF16, 0.05, 0.05, false, TDC_ROW_DIFFERENT},
        {TDC_PRECISION_F16, 0.0019, 0, false, TDC_ROW_ROUNDING},
        {TDC_PRECISION_F64, 1e-12, 0, false, TDC_ROW_CLOSE},
        {TDC_PRECISION_EXACT, 1e-300, 1e-300, false, TDC_ROW_DIFFERENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_scene scene = {.precision = cases[i].precision, .gradient = cases[i].gradient};
        bool excused;
        tdc_row_class found =
            level(scene,
                  (struct tdc_measure){
                      .r = cases[i].r, .s = cases[i].s, .n_rms = 1, .b_rms = 1, .d_rms = 1},
                  &excused);
        if (found != cases[i].expected || excused)
            fail_msg("case %zu is %s", i, tdc_level_text(found));
    }
}

static void what_excuses_a_distance(void **state)
{
    (void)state;
    struct tdc_scene scene = {.precision = TDC_PRECISION_F32, .zero = 1e-6};
    struct tdc_measure far = {.r = 1, .s = 1, .n_rms = 1, .b_rms = 1, .d_rms = 1};
    bool excused;
    assert_int_equal(level(scene, far, &excused), TDC_ROW_DIFFERENT);
    struct tdc_measure noise = far;
    noise.n_rms = noise.b_rms = 5e-7;
    assert_int_equal(level(scene, noise, &excused), TDC_ROW_ROUNDING);
    assert_true(excused);
    noise.n_rms = 1e-3; /* zero on one side only */
    assert_int_equal(level(scene, noise, &excused), TDC_ROW_DIFFERENT);
    struct tdc_measure quantum = far;
    quantum.half = true;
    quantum.d_rms = 1e-8;
    assert_int_equal(level(scene, quantum, &excused), TDC_ROW_ROUNDING);
    struct tdc_measure mask = far;
    mask.n_min = -10000;
    mask.b_min = -3.4e38;
    assert_int_equal(level(scene, mask, &excused), TDC_ROW_ROUNDING);
    mask.b_min = -HUGE_VAL;
    assert_int_equal(level(scene, mask, &excused), TDC_ROW_ROUNDING);
    /* an overflow of the tested side is none */
    mask.n_min = -HUGE_VAL;
    mask.b_min = -3;
    assert_int_equal(level(scene, mask, &excused), TDC_ROW_DIFFERENT);
    struct tdc_measure apart = noise;
    apart.n_rms = apart.b_rms = 0;
    apart.apart = true;
    assert_int_equal(level(scene, apart, &excused), TDC_ROW_DIFFERENT);
    scene.unjudged = true;
    assert_int_equal(level(scene, far, &excused), TDC_ROW_SHOWN);
}

static void names_of_calls(void **state)
{
    (void)state;
    struct tdc_call_name name = tdc_call_name_parse("Functional.linear.12.backward");
    assert_int_equal(name.direction, TDC_CALL_BACKWARD);
    assert_memory_equal(name.operation, "linear", 6);
    assert_int_equal(name.operation_length, 6);
    name = tdc_call_name_parse("Module.model.layers.0.forward.RMSNorm.parameters_grad.0");
    assert_int_equal(name.direction, TDC_CALL_GRADIENTS); /* there may be a layer of that name */
    name = tdc_call_name_parse("Module.model.layers.0.norm.RMSNorm.parameters_grad.0");
    assert_int_equal(name.direction, TDC_CALL_GRADIENTS);
    assert_string_equal(name.rest, ".0");
    assert_int_equal(name.place_length, strlen("model.layers.0.norm"));
    assert_memory_equal(name.place, "model.layers.0.norm", name.place_length);
    assert_memory_equal(name.operation, "RMSNorm", 7);
    static const struct {
        const char *name;
        bool converts, kink, random, overwrites, undefined;
    } kinds[] = {
        {"Tensor.to.3.backward", true, false, false, false, false},
        {"Tensor.topk.0.forward", false, false, false, false, false},
        {"Functional.max_pool2d.0.forward", false, true, false, false, false},
        {"Module.pool.MaxPool2d.forward.0", false, true, false, false, false},
        {"Functional.gelu.0.forward", false, false, false, false, false},
        {"Functional.dropout.1.forward", false, false, true, false, false},
        {"Tensor.normal_.0.forward", false, false, true, true, false},
        {"Tensor.__setitem__.0.forward", false, false, false, true, false},
        {"Torch.empty_like.0.forward", false, false, false, false, true},
    };
    static const char *const exponential[] = {
        "Functional.softmax.0.forward", "Torch.log_softmax.1.backward",
        "Module.act.Softmax.forward.0", "Functional.cross_entropy.0.forward",
        "Tensor.exp_.2.forward",        "Mint.logsumexp.0.forward"};
    for (size_t i = 0; i < sizeof exponential / sizeof *exponential; i++) {
        name = tdc_call_name_parse(exponential[i]);
        if (!tdc_operation_is_exponential(&name))
            fail_msg("%s", exponential[i]);
    }
    name = tdc_call_name_parse("Tensor.expand.0.forward");
    assert_false(tdc_operation_is_exponential(&name));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        name = tdc_call_name_parse(kinds[i].name);
        if (tdc_operation_converts(&name) != kinds[i].converts ||
            tdc_operation_has_kink(&name) != kinds[i].kink ||
            tdc_operation_is_random(&name) != kinds[i].random ||
            tdc_operation_overwrites(&name) != kinds[i].overwrites ||
            tdc_operation_leaves_undefined(&name) != kinds[i].undefined)
            fail_msg("%s", kinds[i].name);
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
        cmocka_unit_test(a_mean_near_zero_is_no_finding),
        cmocka_unit_test(levels_by_precision),
        cmocka_unit_test(what_excuses_a_distance),
        cmocka_unit_test(names_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
