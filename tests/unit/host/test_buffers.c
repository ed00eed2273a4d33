/* Tensors in memory yield what the same tensors in files do, to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tdcmp.h"
#include "tests/support/tensor_folder.h"

enum {
    ROWS = 700,
    COLUMNS = 901,
    COUNT = ROWS * COLUMNS
};

static float n_values[COUNT], b_values[COUNT];

static void fill(void)
{
    uint32_t state = 7;
    for (size_t i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        b_values[i] = (float)((int32_t)state) / 3e8f;
        n_values[i] = b_values[i] * (1 + (float)(state % 11) * 1e-4f);
    }
    n_values[12345] = b_values[12345] + 3;
    b_values[77] = 0;
    n_values[78] = b_values[78] = NAN;
}

static double extreme(const float *values, double sign)
{
    double found = -INFINITY;
    for (size_t i = 0; i < COUNT; i++)
        if (isfinite(values[i]) && sign * values[i] > found)
            found = sign * values[i];
    return sign * found;
}

/* A dump of one tensor of float32, as a collector writes it. */
static tdc_dump *dump_of(const struct tensor_folder *made, const float *values)
{
    static const char file[] = "Functional.f.0.forward.output.0.npy";
    npy_write(made, file, "<f4", false, "700, 901", values, COUNT * sizeof *values);
    char json[1024], path[512];
    snprintf(json, sizeof json,
             "{\"task\": \"tensor\", \"level\": \"L1\", \"data\": {\"Functional.f.0.forward\": "
             "{\"output\": [{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", "
             "\"shape\": [700, 901], \"Max\": %.17g, \"Min\": %.17g, \"Mean\": 0.5, \"Norm\": 1.5, "
             "\"requires_grad\": false, \"data_name\": \"%s\"}]}}}",
             extreme(values, 1), extreme(values, -1), file);
    struct tdc_dump_source source;
    tdc_dump_source_init(&source, sizeof source, json, strlen(json));
    snprintf(path, sizeof path, "%s", made->data.path);
    source.tensors = path;
    tdc_dump *dump;
    struct tdc_error error = {0};
    assert_int_equal(tdc_dump_load_memory(&source, &dump, &error), TDC_OK);
    return dump;
}

static void same(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* Field by field. */
static void check_row(tdc_table *table, const struct tdc_difference *d, bool sound)
{
    const struct {
        tdc_field field;
        double value;
    } numbers[] = {
        {TDC_FIELD_COSINE, d->cosine},
        {TDC_FIELD_EUCLIDEAN, d->euclidean},
        {TDC_FIELD_MAX_ABS, d->max_abs},
        {TDC_FIELD_MAX_REL, d->max_rel},
        {TDC_FIELD_BELOW_THOUSANDTH, d->below_thousandth},
        {TDC_FIELD_BELOW_FIVE_THOUSANDTHS, d->below_five_thousandths},
        {TDC_FIELD_CLASS, d->row_class},
        {TDC_FIELD_BELOW_HUNDREDTH, d->below_hundredth},
        {TDC_FIELD_BELOW_TENTH, d->below_tenth},
        {TDC_FIELD_MEAN_ABS, d->mean_abs},
        {TDC_FIELD_RMSE, d->rmse},
        {TDC_FIELD_DISTANCE, d->distance},
        {TDC_FIELD_WORST, d->worst},
        {TDC_FIELD_MAX_ABS_AT, (double)d->max_abs_at},
        {TDC_FIELD_MAX_REL_AT, (double)d->max_rel_at},
        {TDC_FIELD_MAX_ABS_NPU, d->max_abs_n},
        {TDC_FIELD_MAX_ABS_BENCH, d->max_abs_b},
        {TDC_FIELD_MAX_REL_NPU, d->max_rel_n},
        {TDC_FIELD_MAX_REL_BENCH, d->max_rel_b},
        {TDC_FIELD_NPU_NAN, (double)d->n_nan},
        {TDC_FIELD_BENCH_INF, (double)d->b_inf},
        {TDC_FIELD_ELEMENTS, (double)d->elements},
    };
    for (size_t i = 0; i < (sound ? sizeof numbers / sizeof *numbers : 7); i++) {
        double number;
        bool there = tdc_table_number(table, 0, numbers[i].field, &number);
        assert_true(there || isnan(number));
        assert_int_equal(isnan(number), isnan(numbers[i].value));
        if (!isnan(number))
            same(number, numbers[i].value);
    }
}

static void check_rules(const struct tensor_folder made[2], tdc_rules_id rules)
{
    struct tdc_options options;
    struct tdc_error error = {0};
    tdc_options_init(&options, sizeof options, rules);
    options.device = "cpu";
    tdc_dump *npu = dump_of(&made[0], n_values), *bench = dump_of(&made[1], b_values);
    tdc_match *match;
    tdc_table *table;
    assert_int_equal(tdc_match_new(npu, bench, &options, &match, &error), TDC_OK);
    assert_int_equal(tdc_table_new(match, &options, NULL, &table, &error), TDC_OK);
    assert_int_equal(tdc_compare(&table, 1, &options, &error), TDC_OK);
    const int64_t shape[] = {ROWS, COLUMNS};
    struct tdc_buffer n, b;
    tdc_buffer_init(&n, sizeof n, n_values, TDC_F32, 2, shape, NULL);
    tdc_buffer_init(&b, sizeof b, b_values, TDC_F32, 2, shape, NULL);
    struct tdc_difference one = {0}, four = {0};
    options.threads = 1;
    assert_int_equal(tdc_compare_buffers(&n, &b, &options, &one, sizeof one, &error), TDC_OK);
    assert_true(one.computed && one.located);
    check_row(table, &one, rules == TDC_RULES_SOUND);
    /* the table adds where differences begin */
    const char *message = tdc_table_text(table, 0, TDC_FIELD_MESSAGE);
    assert_memory_equal(message, one.message, strlen(one.message));
    options.threads = 4;
    assert_int_equal(tdc_compare_buffers(&n, &b, &options, &four, sizeof four, &error), TDC_OK);
    assert_memory_equal(&one, &four, sizeof one);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
}

static void memory_and_files_agree(void **state)
{
    (void)state;
    struct tensor_folder made[2];
    tensor_folder_make(&made[0]);
    tensor_folder_make(&made[1]);
    fill();
    check_rules(made, TDC_RULES_COMPAT);
    n_values[78] = b_values[78] = 1; /* compat judges no NaN */
    check_rules(made, TDC_RULES_COMPAT);
    n_values[78] = b_values[78] = NAN;
    check_rules(made, TDC_RULES_SOUND);
    tensor_folder_remove(&made[0]);
    tensor_folder_remove(&made[1]);
}

static void compare(const struct tdc_buffer *n, const struct tdc_buffer *b,
                    struct tdc_difference *difference)
{
    struct tdc_options options;
    struct tdc_error error = {0};
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    assert_int_equal(tdc_compare_buffers(n, b, &options, difference, sizeof *difference, &error),
                     TDC_OK);
}

/* A view is compared in its own order, whatever lies where. */
static void views_are_walked(void **state)
{
    (void)state;
    static const int32_t stored[] = {1, 2, 3, 4, 5, 6};
    static const int32_t transposed[] = {1, 4, 2, 5, 3, 6}, reversed[] = {6, 5, 4, 3, 2, 1};
    static const int32_t repeated[] = {1, 1, 1, 2, 2, 2};
    const struct {
        const void *data;
        const int32_t *expected;
        int64_t shape[2], strides[2];
    } views[] = {
        {stored, transposed, {3, 2}, {1, 3}},
        {stored + 5, reversed, {2, 3}, {-3, -1}},
        {stored, repeated, {2, 3}, {1, 0}},
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct tdc_buffer n, b;
        struct tdc_difference difference;
        tdc_buffer_init(&n, sizeof n, views[i].data, TDC_I32, 2, views[i].shape, views[i].strides);
        tdc_buffer_init(&b, sizeof b, views[i].expected, TDC_I32, 2, views[i].shape, NULL);
        compare(&n, &b, &difference);
        assert_int_equal(difference.row_class, TDC_ROW_IDENTICAL);
        assert_int_equal(difference.elements, 6);
        tdc_buffer_init(&n, sizeof n, stored, TDC_I32, 2, views[i].shape, NULL);
        compare(&n, &b, &difference);
        assert_int_equal(difference.row_class, TDC_ROW_DIFFERENT);
    }
}

static void odd_tensors_have_results(void **state)
{
    (void)state;
    const float one = 1, two = 2;
    const int64_t none[] = {0}, single[] = {1};
    struct tdc_buffer n, b;
    struct tdc_difference difference;
    tdc_buffer_init(&n, sizeof n, NULL, TDC_F32, 1, none, NULL);
    b = n;
    compare(&n, &b, &difference);
    assert_false(difference.computed);
    assert_true(isnan(difference.cosine) && isnan(difference.max_abs));
    tdc_buffer_init(&n, sizeof n, &one, TDC_F32, 0, NULL, NULL);
    tdc_buffer_init(&b, sizeof b, &two, TDC_F32, 0, NULL, NULL);
    compare(&n, &b, &difference);
    assert_true(difference.max_abs == 1 && difference.max_abs_n == 1 && difference.max_abs_b == 2);
    tdc_buffer_init(&b, sizeof b, &two, TDC_F32, 1, single, NULL);
    compare(&n, &b, &difference);
    assert_int_equal(difference.row_class, TDC_ROW_UNMATCHED);
    assert_false(difference.computed);
}

static void wrong_buffers_are_refused(void **state)
{
    (void)state;
    const float one = 1;
    const int64_t single[] = {1}, negative[] = {-1}, huge[] = {INT64_MAX, 2};
    const int64_t far[] = {INT64_MAX / 2, 1}, two[] = {2, 2};
    const struct tdc_buffer wrong[] = {
        {sizeof(struct tdc_buffer), TDC_F32, 1, NULL, single, NULL},
        {sizeof(struct tdc_buffer), TDC_F32, 1, &one, NULL, NULL},
        {sizeof(struct tdc_buffer), TDC_F32, 1, &one, negative, NULL},
        {sizeof(struct tdc_buffer), TDC_F32, 2, &one, huge, NULL},
        {sizeof(struct tdc_buffer), TDC_F32, 2, &one, two, far},
        {sizeof(struct tdc_buffer), TDC_F32, 65, &one, single, NULL},
        {sizeof(struct tdc_buffer), TDC_TEXT, 1, &one, single, NULL},
        {sizeof(struct tdc_buffer), TDC_DTYPE_NONE, 1, &one, single, NULL},
        {0, TDC_F32, 1, &one, single, NULL},
    };
    struct tdc_options options;
    struct tdc_difference difference;
    struct tdc_buffer right;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    tdc_buffer_init(&right, sizeof right, &one, TDC_F32, 1, single, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tdc_error error = {0};
        assert_int_equal(tdc_compare_buffers(&wrong[i], &right, &options, &difference,
                                             sizeof difference, &error),
                         TDC_ERR_ARGUMENT);
        assert_true(error.message[0] != '\0');
        assert_int_equal(
            tdc_compare_buffers(&right, &wrong[i], &options, &difference, sizeof difference, NULL),
            TDC_ERR_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_files_agree),
        cmocka_unit_test(views_are_walked),
        cmocka_unit_test(odd_tensors_have_results),
        cmocka_unit_test(wrong_buffers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
