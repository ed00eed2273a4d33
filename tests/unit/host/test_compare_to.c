#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>

#include "tdcmp.h"
#include "tests/support/temporary_folder.h"

static const char dump_text[] =
    "{\"task\": \"statistics\", \"level\": \"L1\", \"framework\": \"pytorch\","
    " \"dump_data_dir\": null, \"data\": {\"Torch.add.0.forward\": {\"input_args\": ["
    "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [2], \"Max\": 1.0,"
    " \"Min\": 0.0, \"Mean\": 0.5, \"Norm\": 1.0, \"requires_grad\": false}],"
    " \"input_kwargs\": {}, \"output\": []}}}";

struct comparison {
    tdc_dump *dump;
    tdc_match *match;
    tdc_table *tables[2];
    struct tdc_options options;
};

static void prepare(struct comparison *made, const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    assert_int_equal(write(fd, dump_text, strlen(dump_text)), strlen(dump_text));
    close(fd);
    struct tdc_error error = {0};
    tdc_options_init(&made->options, sizeof made->options, TDC_RULES_SOUND);
    assert_int_equal(tdc_dump_load(path, &made->dump, &error), TDC_OK);
    assert_int_equal(tdc_match_new(made->dump, made->dump, &made->options, &made->match, &error),
                     TDC_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tdc_table_new(made->match, &made->options, NULL, &made->tables[i], &error),
                         TDC_OK);
}

static void release(struct comparison *made)
{
    for (int i = 0; i < 2; i++)
        tdc_table_free(made->tables[i]);
    tdc_match_free(made->match);
    tdc_dump_free(made->dump);
}

/* The first table is complete before the second turns out to have no folder. */
static void failure_leaves_no_finished_table(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    for (int threads = 1; threads <= 2; threads++) {
        struct comparison made;
        prepare(&made, folder_file(&folder, "dump.json"));
        made.options.threads = threads;
        char first[512], second[512];
        snprintf(first, sizeof first, "%s", folder_file(&folder, "a.csv"));
        snprintf(second, sizeof second, "%s", folder_file(&folder, "missing/b.csv"));
        struct tdc_output outputs[2];
        tdc_output_init(&outputs[0], sizeof *outputs, made.tables[0], TDC_FORMAT_CSV, first);
        tdc_output_init(&outputs[1], sizeof *outputs, made.tables[1], TDC_FORMAT_CSV, second);
        struct tdc_error error = {0};
        assert_int_equal(tdc_compare_to(made.tables, 2, outputs, 2, &made.options, &error),
                         TDC_ERR_WRITE);
        assert_non_null(strstr(error.message, "missing/b.csv"));
        assert_int_equal(folder_entries(&folder), 1); /* the dump */
        release(&made);
    }
    folder_remove(&folder);
}

static void exclusive_outputs_replace_nothing(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    struct comparison made;
    prepare(&made, folder_file(&folder, "dump.json"));
    char path[512];
    snprintf(path, sizeof path, "%s", folder_file(&folder, "a.csv"));
    struct tdc_output output;
    tdc_output_init(&output, sizeof output, made.tables[0], TDC_FORMAT_CSV, path);
    output.flags = TDC_OUTPUT_EXCLUSIVE;
    struct tdc_error error = {0};
    assert_int_equal(tdc_compare_to(made.tables, 1, &output, 1, &made.options, &error), TDC_OK);
    char *before = file_content(path, NULL);
    output.table = made.tables[1];
    assert_int_equal(tdc_compare_to(made.tables + 1, 1, &output, 1, &made.options, &error),
                     TDC_ERR_WRITE);
    assert_non_null(strstr(error.message, "File exists"));
    assert_int_equal(folder_entries(&folder), 2);
    char *after = file_content(path, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
    release(&made);
    folder_remove(&folder);
}

static void stamps_are_given_once(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    tdc_stamp *stamps[5];
    struct tdc_error error = {0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tdc_stamp_new(folder.path, &stamps[i], &error), TDC_OK);
        assert_int_equal(strlen(tdc_stamp_text(stamps[i])), 14);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tdc_stamp_text(stamps[k]), tdc_stamp_text(stamps[i]));
    }
    char before[16];
    snprintf(before, sizeof before, "%s", tdc_stamp_text(stamps[0]));
    assert_int_equal(tdc_stamp_next(stamps[0], &error), TDC_OK);
    assert_true(strcmp(before, tdc_stamp_text(stamps[0])) < 0);
    for (int i = 0; i < 5; i++)
        tdc_stamp_free(stamps[i]);
    assert_int_equal(folder_entries(&folder), 0);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_leaves_no_finished_table),
        cmocka_unit_test(exclusive_outputs_replace_nothing),
        cmocka_unit_test(stamps_are_given_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
