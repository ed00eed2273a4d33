/* Calls that are left out of a precheck on request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/precheck/calls/filter.h"

#define TENSOR(high, norm)                                                                         \
    "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [2], \"Max\": " high    \
    ", \"Min\": 0.0, \"Mean\": 0.5, \"Norm\": " norm "}"
#define CALL(name, arguments, keywords)                                                            \
    "\"" name ".forward\": {\"input_args\": [" arguments "], \"input_kwargs\": {" keywords "}}"

static int file = -1;

static void load(const char *data, struct tdc_calls *calls)
{
    char text[4096], path[64];
    struct tdc_error error = {0};
    struct tdc_calls_rules rules = {.any_framework = true};
    snprintf(text, sizeof text,
             "{\"task\": \"statistics\", \"framework\": \"pytorch\", \"data\": {%s}}", data);
    file = memfd_create("dump", MFD_CLOEXEC);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (tdc_calls_load(path, &rules, calls, &error) != TDC_OK)
        fail_msg("%s", error.message);
}

static void release(struct tdc_calls *calls)
{
    tdc_calls_free(calls);
    close(file);
}

/* The names that stay, each with a blank behind it. */
static void assert_stay(const char *data, const char *want)
{
    struct tdc_calls calls;
    struct tdc_error error = {0};
    char names[512] = "";
    load(data, &calls);
    assert_int_equal(tdc_filter_repeated(&calls, &error), TDC_OK);
    for (size_t i = 0; i < calls.count; i++) {
        assert_int_equal(calls.calls[i].position, i);
        strcat(strcat(names, calls.calls[i].name), " ");
    }
    assert_string_equal(names, want);
    release(&calls);
}

static void equal_arguments_are_repeated(void **state)
{
    (void)state;
    assert_stay(
        CALL("Torch.add.0", TENSOR("1.0", "1"), "") "," CALL("Torch.add.1", TENSOR("2.0", "1"), ""),
        "Torch.add.0 ");
    assert_stay(
        CALL("Torch.add.0", TENSOR("1.0", "1"), "") "," CALL("Torch.add.1", TENSOR("1.0", "2"), ""),
        "Torch.add.0 Torch.add.1 ");
    assert_stay(
        CALL("Torch.add.0", TENSOR("1.0", "1"), "") "," CALL("Torch.sub.0", TENSOR("1.0", "1"), ""),
        "Torch.add.0 Torch.sub.0 ");
    assert_stay(CALL("Torch.add.0", TENSOR("1.0", "1"), "") "," CALL("Tensor.add.0",
                                                                     TENSOR("1.0", "1"), ""),
                "Torch.add.0 Tensor.add.0 ");
}

/* Of keywords Max and Min count, as msprobe has it. */
static void keywords_are_compared_whole(void **state)
{
    (void)state;
    assert_stay(CALL("Torch.add.0", "", "\"x\": " TENSOR("1.0", "1")) "," CALL(
                    "Torch.add.1", "", "\"x\": " TENSOR("2.0", "1")),
                "Torch.add.0 Torch.add.1 ");
    assert_stay(CALL("Torch.add.0", "", "\"alpha\": {\"type\": \"int\", \"value\": 2}") "," CALL(
                    "Torch.add.1", "", "\"alpha\": {\"type\": \"int\", \"value\": 2.0}"),
                "Torch.add.0 ");
    assert_stay(CALL("Torch.add.0", "", "\"a\": true") "," CALL("Torch.add.1", "", "\"a\": 1"),
                "Torch.add.0 ");
}

static void lists_are_not_looked_at(void **state)
{
    (void)state;
    assert_stay(CALL("Torch.cat.0", "[" TENSOR("1.0", "1") "]",
                     "") "," CALL("Torch.cat.1", "[" TENSOR("1.0", "7") "]", ""),
                "Torch.cat.0 ");
}

static void nan_equals_nothing(void **state)
{
    (void)state;
    assert_stay(CALL("Torch.add.0", TENSOR("1.0", "NaN"), "") "," CALL("Torch.add.1",
                                                                       TENSOR("1.0", "NaN"), ""),
                "Torch.add.0 Torch.add.1 ");
}

/* Text that looks like the key of two fields is one field still. */
static void contents_are_not_structure(void **state)
{
    (void)state;
    assert_stay(CALL("Torch.add.0", "{\"a\": \"b\", \"c\": \"d\"}",
                     "") "," CALL("Torch.add.1", "{\"a\": \"bs1:c1:d\"}",
                                  "") "," CALL("Torch.add.2", "{\"a\": \"1:bc\"}", ""),
                "Torch.add.0 Torch.add.1 Torch.add.2 ");
}

static void odd_records_stay(void **state)
{
    (void)state;
    assert_stay("\"Torch.add.0.forward\": 5, \"Torch.add.1.forward\": {\"input_args\": 3},"
                "\"Torch.add.2.backward\": {}, \"Torch.add.3.forward\": {\"input_args\": []}",
                "Torch.add.0 Torch.add.1 Torch.add.2 Torch.add.3 ");
}

static void names_are_checked(void **state)
{
    (void)state;
    static const char *const good[] = {"add", "npu_rms_norm", "own_api", "linear"};
    static const char *const bad[] = {"add", "no_such_api", "Torch.add"};
    struct tdc_precheck_options options = {.white_list = good, .white_count = 4};
    struct tdc_error error = {0};
    struct tdc_calls calls;
    load(CALL("Torch.own_api.0", "", ""), &calls);
    assert_int_equal(tdc_filter_names_check(&calls, &options, &error), TDC_OK);
    options.black_list = bad;
    options.black_count = 3;
    assert_int_equal(tdc_filter_names_check(&calls, &options, &error), TDC_ERR_REFUSED);
    assert_string_equal(error.message, "Invalid api in black_list: ['no_such_api', 'Torch.add']");
    release(&calls);
}

static void the_black_list_wins(void **state)
{
    (void)state;
    static const char *const white[] = {"add", "mul"}, *const black[] = {"mul"};
    struct tdc_precheck_options options = {.black_list = black, .black_count = 1};
    assert_false(tdc_filter_leaves_out(&options, "add"));
    assert_true(tdc_filter_leaves_out(&options, "mul"));
    options.white_list = white;
    options.white_count = 2;
    assert_false(tdc_filter_leaves_out(&options, "add"));
    assert_true(tdc_filter_leaves_out(&options, "mul"));
    assert_true(tdc_filter_leaves_out(&options, "exp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_arguments_are_repeated),
        cmocka_unit_test(keywords_are_compared_whole),
        cmocka_unit_test(lists_are_not_looked_at),
        cmocka_unit_test(nan_equals_nothing),
        cmocka_unit_test(contents_are_not_structure),
        cmocka_unit_test(odd_records_stay),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(the_black_list_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
