/* Programs that were built with another version of the header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tdcmp.h"

static const char dump_text[] =
    "{\"task\": \"statistics\", \"level\": \"L1\", \"framework\": \"pytorch\", \"data\": "
    "{\"Torch.add.0.forward\": {\"input_args\": [{\"type\": \"torch.Tensor\", "
    "\"dtype\": \"torch.float32\", \"shape\": [2], \"Max\": 1.0, \"Min\": 0.0, \"Mean\": 0.5, "
    "\"Norm\": 1.0, \"requires_grad\": false}], \"input_kwargs\": {}, \"output\": []}}}";

static tdc_dump *load(void)
{
    struct tdc_dump_source source;
    struct tdc_error error = {0};
    tdc_dump *dump;
    tdc_dump_source_init(&source, sizeof source, dump_text, strlen(dump_text));
    assert_int_equal(tdc_dump_load_memory(&source, &dump, &error), TDC_OK);
    return dump;
}

static tdc_status compare(const void *options, struct tdc_error *error)
{
    tdc_dump *dump = load();
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    tdc_status status = tdc_match_new(dump, dump, options, &match, error);
    if (status == TDC_OK)
        status = tdc_table_new(match, options, NULL, &table, error);
    if (status == TDC_OK)
        status = tdc_compare(&table, 1, options, error);
    if (status == TDC_OK)
        assert_int_equal(tdc_table_class(table, 0), TDC_ROW_IDENTICAL);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(dump);
    return status;
}

/* What an old program has behind its smaller struct is not read: here, pointers to nowhere. */
static void smaller_options_work(void **state)
{
    (void)state;
    const size_t sizes[] = {offsetof(struct tdc_options, flags),
                            offsetof(struct tdc_options, data_mapping),
                            offsetof(struct tdc_options, context),
                            offsetof(struct tdc_options, cancel), sizeof(struct tdc_options)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tdc_options options;
        memset(&options, 0xa5, sizeof options);
        tdc_options_init(&options, sizes[i], TDC_RULES_SOUND);
        const unsigned char *bytes = (const unsigned char *)&options;
        for (size_t k = sizes[i]; k < sizeof options; k++)
            assert_int_equal(bytes[k], 0xa5);
        struct tdc_error error = {0};
        assert_int_equal(compare(&options, &error), TDC_OK);
    }
}

/* A newer program may have members this library does not know, as long as it does not use them. */
static void larger_options_work_while_unused(void **state)
{
    (void)state;
    struct {
        struct tdc_options options;
        uint64_t newer[2];
    } made;
    memset(&made, 0xa5, sizeof made);
    tdc_options_init(&made.options, sizeof made, TDC_RULES_SOUND);
    assert_int_equal(made.newer[0], 0);
    struct tdc_error error = {0};
    assert_int_equal(compare(&made, &error), TDC_OK);
    made.newer[1] = 1;
    assert_int_equal(compare(&made, &error), TDC_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, tdc_version()));
}

static void options_must_be_initialised(void **state)
{
    (void)state;
    struct tdc_options options;
    struct tdc_error error = {0};
    memset(&options, 0, sizeof options);
    assert_int_equal(compare(&options, &error), TDC_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "tdc_options_init"));
    memset(&options, 0xff, sizeof options);
    assert_int_equal(compare(&options, &error), TDC_ERR_ARGUMENT);
    tdc_options_init(&options, sizeof options, TDC_RULES_NONE);
    assert_int_equal(compare(&options, &error), TDC_ERR_ARGUMENT);
    struct tdc_precheck_options precheck;
    tdc_precheck *made;
    memset(&precheck, 0, sizeof precheck);
    assert_int_equal(tdc_precheck_open("/none", &precheck, &made, &error), TDC_ERR_ARGUMENT);
    tdc_precheck_options_init(&precheck, sizeof precheck, TDC_PROFILE_NONE);
    assert_int_equal(tdc_precheck_open("/none", &precheck, &made, &error), TDC_ERR_ARGUMENT);
    tdc_precheck_options_init(&precheck, sizeof precheck, TDC_PROFILE_COMPAT);
    assert_int_not_equal(tdc_precheck_open("/none", &precheck, &made, &error), TDC_ERR_ARGUMENT);
}

/* Results of the size the caller has room for, and 0 in what this version does not fill. */
static void results_fit_their_room(void **state)
{
    (void)state;
    tdc_dump *dump = load();
    struct tdc_options options;
    tdc_match *match;
    tdc_table *table;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    assert_int_equal(tdc_match_new(dump, dump, &options, &match, NULL), TDC_OK);
    assert_int_equal(tdc_table_new(match, &options, NULL, &table, NULL), TDC_OK);
    assert_int_equal(tdc_compare(&table, 1, &options, NULL), TDC_OK);
    struct {
        struct tdc_summary summary;
        uint64_t newer;
    } made;
    memset(&made, 0xa5, sizeof made);
    tdc_table_summary(table, &made.summary, offsetof(struct tdc_summary, tensors));
    assert_int_equal(made.summary.rows, 1);
    assert_int_equal(made.summary.tensors, 0xa5a5a5a5a5a5a5a5);
    tdc_table_summary(table, &made.summary, sizeof made);
    assert_int_equal(made.summary.tensors, 1);
    assert_int_equal(made.summary.classes[TDC_ROW_IDENTICAL], 1);
    assert_int_equal(made.newer, 0);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(dump);
}

/* The library steps through an array of outputs by the size its caller knows. */
static void arrays_of_larger_outputs_are_walked(void **state)
{
    (void)state;
    tdc_dump *dump = load();
    struct tdc_options options;
    tdc_match *match;
    tdc_table *table;
    struct tdc_error error = {0};
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    assert_int_equal(tdc_match_new(dump, dump, &options, &match, NULL), TDC_OK);
    assert_int_equal(tdc_table_new(match, &options, NULL, &table, NULL), TDC_OK);
    struct {
        struct tdc_output output;
        uint64_t newer[3];
    } outputs[2];
    tdc_output_init(&outputs[0].output, sizeof *outputs, table, TDC_FORMAT_CSV, "/none/a.csv");
    tdc_output_init(&outputs[1].output, sizeof *outputs, table, TDC_FORMAT_NONE, "/none/b.csv");
    assert_int_equal(tdc_compare_to(&table, 1, &outputs[0].output, 2, &options, &error),
                     TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, "/none/a.csv"));
    outputs[1].newer[2] = 1;
    assert_int_equal(tdc_compare_to(&table, 1, &outputs[0].output, 2, &options, &error),
                     TDC_ERR_ARGUMENT);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(dump);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smaller_options_work),
        cmocka_unit_test(larger_options_work_while_unused),
        cmocka_unit_test(options_must_be_initialised),
        cmocka_unit_test(results_fit_their_room),
        cmocka_unit_test(arrays_of_larger_outputs_are_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
