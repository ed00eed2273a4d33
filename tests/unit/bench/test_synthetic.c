#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/tools/scratch.h"
#include "bench/synthetic/synthetic.h"
#include "host/dump/dump.h"
#include "io/tensor/tensor_file.h"
#include "kernels/dtype.h"
#include "kernels/pair.h"
#include "tests/support/temporary_folder.h"

static const tdc_dtype all_dtypes[] = {TDC_F32, TDC_F16, TDC_BF16, TDC_F64, TDC_I32, TDC_I64};
#define ALL_DTYPES (sizeof all_dtypes / sizeof *all_dtypes)

static void make(const struct tdc_synthetic *settings, const struct tdc_scratch *scratch,
                 const char *name, struct tdc_synthetic_totals *totals)
{
    struct tdc_error error = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", scratch->path, name);
    if (tdc_synthetic_make(settings, path, totals, &error) != TDC_OK)
        fail_msg("%s", error.message);
}

static struct tdc_scratch open_scratch(void)
{
    struct tdc_scratch scratch;
    assert_int_equal(tdc_scratch_open(NULL, &scratch, NULL), TDC_OK);
    return scratch;
}

/* Compares the only dump of scratch/name; every record must have a partner. */
static struct tdc_summary compare(const struct tdc_scratch *scratch, const char *name,
                                  tdc_rules_id rules, tdc_mode mode)
{
    char paths[2][4200];
    struct tdc_error error = {0};
    struct tdc_options options;
    tdc_dump *npu = NULL, *bench = NULL;
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    tdc_options_init(&options, sizeof options, rules);
    snprintf(paths[0], sizeof paths[0], "%s/%s/npu/dump.json", scratch->path, name);
    snprintf(paths[1], sizeof paths[1], "%s/%s/bench/dump.json", scratch->path, name);
    assert_int_equal(tdc_dump_load(paths[0], &npu, &error), TDC_OK);
    assert_int_equal(tdc_dump_load(paths[1], &bench, &error), TDC_OK);
    assert_int_equal(tdc_match_new(npu, bench, &options, &match, &error), TDC_OK);
    assert_int_equal(tdc_match_mode(match), mode);
    assert_int_equal(tdc_match_pairs(match), tdc_dump_records(npu));
    for (size_t i = 0; i < tdc_match_pairs(match); i++) {
        size_t n, b;
        tdc_match_pair(match, i, &n, &b);
        assert_int_equal(n, b);
    }
    assert_int_equal(tdc_table_new(match, &options, NULL, &table, &error), TDC_OK);
    assert_int_equal(tdc_compare(&table, 1, &options, &error), TDC_OK);
    struct tdc_summary summary;
    tdc_table_summary(table, &summary, sizeof summary);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
    return summary;
}

static void check_verdicts(const struct tdc_scratch *scratch, const char *name,
                           const struct tdc_synthetic *settings,
                           const struct tdc_synthetic_totals *totals)
{
    for (int rules = TDC_RULES_COMPAT; rules <= TDC_RULES_SOUND; rules++) {
        struct tdc_summary summary = compare(scratch, name, (tdc_rules_id)rules, settings->task);
        assert_int_equal(summary.rows, totals->rows);
        assert_int_equal(summary.classes[TDC_ROW_DIFFERENT], totals->different);
        assert_int_equal(summary.classes[TDC_ROW_UNMATCHED], 0);
        assert_int_equal(summary.classes[TDC_ROW_ERROR], 0);
        if (settings->task == TDC_MODE_TENSOR)
            assert_int_equal(summary.bytes, totals->data_bytes);
    }
}

/* Sizes: one element, less than a group of the generator, more than a block, more than a chunk. */
static void tensors_compare_with_the_expected_verdicts(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 13, 5000, 33000};
    struct tdc_scratch scratch = open_scratch();
    for (size_t i = 0; i < ALL_DTYPES; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct tdc_synthetic settings;
            struct tdc_synthetic_totals totals;
            tdc_synthetic_init(&settings);
            settings.dtype = all_dtypes[i];
            settings.tensors = 75;
            settings.elements = sizes[k];
            settings.share = 0.2;
            make(&settings, &scratch, "dumps", &totals);
            assert_int_equal(totals.tensors, 75);
            assert_int_equal(totals.different, 15);
            assert_true(totals.rows > 75);
            if (sizes[k] > 1) /* one element has no direction: compat gives no verdict */
                check_verdicts(&scratch, "dumps", &settings, &totals);
            else
                assert_int_equal(compare(&scratch, "dumps", TDC_RULES_SOUND, settings.task)
                                     .classes[TDC_ROW_DIFFERENT],
                                 15);
            tdc_scratch_remove(&scratch, "dumps");
        }
    }
    tdc_scratch_close(&scratch);
}

static void npy_and_exact_compare_too(void **state)
{
    (void)state;
    struct tdc_scratch scratch = open_scratch();
    for (size_t i = 0; i < ALL_DTYPES; i++) {
        struct tdc_synthetic settings;
        struct tdc_synthetic_totals totals;
        tdc_synthetic_init(&settings);
        settings.dtype = all_dtypes[i];
        settings.layout = TDC_LAYOUT_NPY;
        settings.rounding = false;
        settings.tensors = 40;
        settings.elements = 96;
        if (settings.dtype == TDC_BF16) {
            struct tdc_error error;
            assert_int_equal(tdc_synthetic_make(&settings, scratch.path, NULL, &error),
                             TDC_ERR_ARGUMENT);
            continue;
        }
        make(&settings, &scratch, "dumps", &totals);
        assert_int_equal(totals.different, 2);
        check_verdicts(&scratch, "dumps", &settings, &totals);
        tdc_scratch_remove(&scratch, "dumps");
    }
    tdc_scratch_close(&scratch);
}

static void statistics_and_digests_compare_too(void **state)
{
    (void)state;
    struct tdc_scratch scratch = open_scratch();
    for (size_t i = 0; i < ALL_DTYPES; i++) {
        for (int task = TDC_MODE_STATISTICS; task <= TDC_MODE_DIGEST; task++) {
            struct tdc_synthetic settings;
            struct tdc_synthetic_totals totals;
            tdc_synthetic_init(&settings);
            settings.dtype = all_dtypes[i];
            settings.task = (tdc_mode)task;
            settings.tensors = 1000;
            settings.elements = 100;
            settings.indent = i % 2 == 0 ? 1 : 4;
            make(&settings, &scratch, "dumps", &totals);
            assert_int_equal(totals.different, 50);
            check_verdicts(&scratch, "dumps", &settings, &totals);
            char folder[4200];
            snprintf(folder, sizeof folder, "%s/dumps/npu/dump_tensor_data", scratch.path);
            assert_int_not_equal(access(folder, F_OK), 0);
            tdc_scratch_remove(&scratch, "dumps");
        }
    }
    tdc_scratch_close(&scratch);
}

/* ---- what is in the files -------------------------------------------------------------------- */

static void check_statistics(const struct tdc_record *record, const struct tdc_tensor *tensor)
{
    double max = -HUGE_VAL, min = HUGE_VAL, sum = 0, squares = 0;
    for (uint64_t i = 0; i < tensor->count; i++) {
        double imaginary;
        double value = tdc_element_value(
            tensor->dtype, tensor->data + i * tdc_dtype_size(tensor->dtype), &imaginary);
        max = value > max ? value : max;
        min = value < min ? value : min;
        sum += value;
        squares += value * value;
    }
    double norm = sqrt(squares);
    assert_true(record->stats[TDC_MAX].number == (double)(float)max);
    assert_true(record->stats[TDC_MIN].number == (double)(float)min);
    assert_true(fabs(record->stats[TDC_NORM].number - norm) <= 1e-6 * norm);
    /* relative to the size of the terms: the mean itself may be near zero */
    assert_true(fabs(record->stats[TDC_MEAN].number - sum / (double)tensor->count) <=
                1e-6 * (norm + 1));
}

static void check_side(const struct tdc_scratch *scratch, const char *side, tdc_dtype dtype,
                       enum tdc_synthetic_layout layout)
{
    char path[4200];
    struct tdc_error error = {0};
    tdc_dump *dump = NULL;
    snprintf(path, sizeof path, "%s/dumps/%s/dump.json", scratch->path, side);
    assert_int_equal(tdc_dump_load(path, &dump, &error), TDC_OK);
    assert_string_equal(tdc_dump_task(dump), "tensor");
    size_t tensors = 0;
    for (size_t i = 0; i < dump->record_count; i++) {
        const struct tdc_record *record = &dump->records[i];
        struct tdc_tensor tensor;
        if (record->scalar)
            continue;
        snprintf(path, sizeof path, "%s/dumps/%s/dump_tensor_data/%s", scratch->path, side,
                 record->data_name);
        if (tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error) != TDC_OK)
            fail_msg("%s", error.message);
        assert_int_equal(tensor.dtype, dtype);
        assert_true(tensor.dense && !tensor.swapped);
        assert_int_equal(tensor.dimensions, 2);
        assert_int_equal(tensor.shape[0], 75);
        assert_int_equal(tensor.shape[1], 4);
        assert_string_equal(record->shape, "[75, 4]");
        assert_string_equal(record->dtype, tdc_dtype_entry(dtype)->torch);
        if (layout == TDC_LAYOUT_PT)
            assert_int_equal((uintptr_t)tensor.data % 64, 0);
        check_statistics(record, &tensor);
        tdc_tensor_close(&tensor);
        tensors++;
    }
    assert_int_equal(tensors, 120);
    tdc_dump_free(dump);
}

static void files_hold_what_the_json_says(void **state)
{
    (void)state;
    struct tdc_scratch scratch = open_scratch();
    for (int layout = TDC_LAYOUT_PT; layout <= TDC_LAYOUT_NPY; layout++) {
        for (size_t i = 0; i < ALL_DTYPES; i++) {
            if (layout == TDC_LAYOUT_NPY && all_dtypes[i] == TDC_BF16)
                continue;
            struct tdc_synthetic settings;
            tdc_synthetic_init(&settings);
            settings.dtype = all_dtypes[i];
            settings.layout = (enum tdc_synthetic_layout)layout;
            settings.tensors = 120;
            settings.elements = 300;
            make(&settings, &scratch, "dumps", NULL);
            check_side(&scratch, "npu", all_dtypes[i], settings.layout);
            check_side(&scratch, "bench", all_dtypes[i], settings.layout);
            tdc_scratch_remove(&scratch, "dumps");
        }
    }
    tdc_scratch_close(&scratch);
}

static void the_seed_decides_every_byte(void **state)
{
    (void)state;
    static const char *const files[] = {
        "npu/dump.json", "bench/dump.json", "npu/stack.json",
        "npu/dump_tensor_data/Functional.linear.1.forward.input.1.pt",
        "bench/dump_tensor_data/Module.layers.0.mlp.FeedForward.forward.0.output.0.pt"};
    static const char *const names[] = {"first", "again", "other"};
    struct tdc_scratch scratch = open_scratch();
    struct tdc_synthetic settings;
    tdc_synthetic_init(&settings);
    settings.elements = 40000;
    settings.tensors = 60;
    for (int i = 0; i < 3; i++) {
        settings.threads = i + 1;
        settings.seed = i < 2 ? 11 : 12;
        make(&settings, &scratch, names[i], NULL);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *contents[3];
        size_t lengths[3];
        for (int k = 0; k < 3; k++) {
            char path[4400];
            snprintf(path, sizeof path, "%s/%s/%s", scratch.path, names[k], files[i]);
            contents[k] = file_content(path, &lengths[k]);
            assert_non_null(contents[k]);
        }
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(contents[0], contents[1], lengths[0]);
        bool seeded = strstr(files[i], "stack") == NULL;
        assert_true((lengths[0] != lengths[2] ||
                     memcmp(contents[0], contents[2], lengths[0]) != 0) == seeded);
        for (int k = 0; k < 3; k++)
            free(contents[k]);
    }
    tdc_scratch_close(&scratch);
}

static void ranks_and_steps_are_found(void **state)
{
    (void)state;
    struct tdc_scratch scratch = open_scratch();
    struct tdc_synthetic settings;
    struct tdc_synthetic_totals totals;
    struct tdc_options options;
    tdc_tasks *tasks;
    struct tdc_error error = {0};
    char npu[4200], bench[4200];
    tdc_synthetic_init(&settings);
    settings.ranks = 3;
    settings.steps = 2;
    settings.tensors = 10;
    settings.elements = 8;
    make(&settings, &scratch, "dumps", &totals);
    assert_int_equal(totals.dumps, 6);
    assert_int_equal(totals.tensors, 60);
    snprintf(npu, sizeof npu, "%s/dumps/npu", scratch.path);
    snprintf(bench, sizeof bench, "%s/dumps/bench", scratch.path);
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    assert_int_equal(tdc_tasks_find(npu, bench, -1, &options, &tasks, &error), TDC_OK);
    assert_int_equal(tdc_tasks_count(tasks), 6);
    tdc_tasks_free(tasks);
    tdc_scratch_close(&scratch);
}

static void refusals(void **state)
{
    (void)state;
    struct tdc_scratch scratch = open_scratch();
    struct tdc_synthetic good, bad;
    struct tdc_error error;
    tdc_synthetic_init(&good);
    bad = good;
    bad.tensors = 0;
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_ARGUMENT);
    bad = good;
    bad.elements = 0;
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_ARGUMENT);
    bad = good;
    bad.elements = UINT64_MAX;
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_ARGUMENT);
    bad = good;
    bad.elements = (uint64_t)1 << 30; /* 4 GB of f32 in one .pt */
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_ARGUMENT);
    bad = good;
    bad.dtype = TDC_C64;
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_ARGUMENT);
    bad = good;
    bad.share = 1.5;
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_ARGUMENT);
    struct tdc_cancel cancel = {0};
    tdc_cancel_set(&cancel);
    bad = good;
    bad.cancel = &cancel;
    assert_int_equal(tdc_synthetic_make(&bad, scratch.path, NULL, &error), TDC_ERR_INTERRUPTED);
    /* what the interrupted one left behind is in the way */
    assert_int_equal(tdc_synthetic_make(&good, scratch.path, NULL, &error), TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, "exists already"));
    tdc_scratch_close(&scratch);
    assert_int_not_equal(access(scratch.path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_compare_with_the_expected_verdicts),
        cmocka_unit_test(npy_and_exact_compare_too),
        cmocka_unit_test(statistics_and_digests_compare_too),
        cmocka_unit_test(files_hold_what_the_json_says),
        cmocka_unit_test(the_seed_decides_every_byte),
        cmocka_unit_test(ranks_and_steps_are_found),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
