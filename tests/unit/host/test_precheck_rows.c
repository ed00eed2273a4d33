/* What a precheck has judged, told while it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tdcmp.h"
#include "tests/support/tensor_folder.h"

static atomic_int rows, errors;
static double worst;

static void take_row(void *context, const struct tdc_precheck_row *row)
{
    if (context != &rows || strcmp(row->api, "Mint.add") != 0 || !row->measured || row->backward ||
        row->slot != 0 || strncmp(row->call, "Mint.add.", 9) != 0)
        abort();
    atomic_fetch_add(&rows, 1);
    if (row->verdict == TDC_CHECK_ERROR) {
        atomic_fetch_add(&errors, 1);
        worst = row->max_abs;
        if (row->max_abs_at != 1)
            abort();
    }
}

static void tensor(char *text, size_t size, const char *name)
{
    snprintf(
        text, size,
        "{\"type\": \"mindspore.Tensor\", \"dtype\": \"Float32\", \"shape\": [2], \"Max\": 9.0, "
        "\"Min\": 0.0, \"Mean\": 1.0, \"Norm\": 1.0, \"data_name\": \"%s\"}",
        name);
}

/* Three calls of add, of which the last is wrong in one element. */
static void slots_are_told(void **state)
{
    (void)state;
    struct tensor_folder made;
    tensor_folder_make(&made);
    const float a[] = {1, 2}, b[] = {3, 4}, sum[] = {4, 6}, wrong[] = {4, 7};
    static char json[8192];
    char *at = json + sprintf(json,
                              "{\"task\": \"tensor\", \"level\": \"L1\", "
                              "\"framework\": \"mindspore\", \"dump_data_dir\": \"%s\", "
                              "\"data\": {",
                              made.data.path);
    for (int i = 0; i < 3; i++) {
        static const char *const ends[] = {"input.0", "input.1", "output.0"};
        const float *values[] = {a, b, i == 2 ? wrong : sum};
        char names[3][64], texts[3][512];
        for (int k = 0; k < 3; k++) {
            snprintf(names[k], sizeof names[k], "Mint.add.%d.forward.%s.npy", i, ends[k]);
            npy_write(&made, names[k], "<f4", false, "2,", values[k], sizeof a);
            tensor(texts[k], sizeof texts[k], names[k]);
        }
        at += sprintf(at,
                      "%s\"Mint.add.%d.forward\": {\"input_args\": [%s, %s], "
                      "\"input_kwargs\": {}, \"output\": [%s]}",
                      i != 0 ? ", " : "", i, texts[0], texts[1], texts[2]);
    }
    sprintf(at, "}}");
    file_write(folder_file(&made.folder, "dump.json"), json, strlen(json));
    struct tdc_precheck_options options;
    struct tdc_error error = {0};
    tdc_precheck *precheck;
    tdc_precheck_options_init(&options, sizeof options, TDC_PROFILE_EXTENDED);
    options.output = made.data.path;
    options.context = &rows;
    options.row = take_row;
    options.threads = 2;
    assert_int_equal(
        tdc_precheck_open(folder_file(&made.folder, "dump.json"), &options, &precheck, &error),
        TDC_OK);
    assert_int_equal(tdc_precheck_run(precheck, &error), TDC_OK);
    struct tdc_precheck_summary summary;
    tdc_precheck_summary(precheck, &summary, sizeof summary);
    assert_int_equal(rows, 3);
    assert_int_equal(summary.slots, 3);
    assert_int_equal(errors, 1);
    assert_true(worst == 1);
    tdc_precheck_free(precheck);
    tensor_folder_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slots_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
