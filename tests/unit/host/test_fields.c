/* Fields of a table against its cells, and rows that are told while comparing. */
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

enum {
    RECORDS = 300
};

/* A dump of statistics; every third record is the other side's, some have no partner. */
static tdc_dump *dump_of(int side)
{
    static char json[RECORDS * 256 + 1024];
    static const char stack[] = "{\"Torch.add.0.forward\": [\"File a.py, line 1\"]}";
    char *at = json;
    at += sprintf(at, "{\"task\": \"statistics\", \"level\": \"L1\", \"data\": {");
    for (int i = 0; i < RECORDS; i++)
        at += sprintf(at,
                      "%s\"Torch.add.%d.forward\": {\"output\": [{\"type\": \"torch.Tensor\", "
                      "\"dtype\": \"torch.float32\", \"shape\": [%d], \"Max\": %g, \"Min\": 0.5, "
                      "\"Mean\": %s, \"Norm\": 2.0, \"requires_grad\": false}]}",
                      i != 0 ? ", " : "", side == 1 && i % 50 == 7 ? i + 1000 : i, i + 1,
                      1.0 + (side == 1 && i % 3 == 0 ? 0.25 : 0), i == 9 ? "NaN" : "1.0");
    sprintf(at, "}}");
    struct tdc_dump_source source;
    tdc_dump *dump;
    struct tdc_error error = {0};
    tdc_dump_source_init(&source, sizeof source, json, strlen(json));
    source.stack = stack;
    source.stack_length = sizeof stack - 1;
    assert_int_equal(tdc_dump_load_memory(&source, &dump, &error), TDC_OK);
    return dump;
}

struct comparison {
    tdc_dump *npu, *bench;
    tdc_match *match;
    tdc_table *table;
    struct tdc_options options;
    atomic_size_t told;
    atomic_int classes[TDC_ROW_CLASSES];
};

static void count_row(void *context, const tdc_table *table, size_t row)
{
    struct comparison *made = context;
    double number;
    atomic_fetch_add(&made->told, 1);
    atomic_fetch_add(&made->classes[tdc_table_class(table, row)], 1);
    if (!tdc_table_number(table, row, TDC_FIELD_CLASS, &number) ||
        (int)number != (int)tdc_table_class(table, row) ||
        tdc_table_text(table, row, TDC_FIELD_MESSAGE) == NULL)
        abort();
}

static void prepare(struct comparison *made, tdc_rules_id rules)
{
    struct tdc_error error = {0};
    memset(made, 0, sizeof *made);
    tdc_options_init(&made->options, sizeof made->options, rules);
    made->options.context = made;
    made->options.row = count_row;
    made->npu = dump_of(0);
    made->bench = dump_of(1);
    assert_int_equal(tdc_match_new(made->npu, made->bench, &made->options, &made->match, &error),
                     TDC_OK);
    assert_int_equal(tdc_table_new(made->match, &made->options, NULL, &made->table, &error),
                     TDC_OK);
}

static void release(struct comparison *made)
{
    tdc_table_free(made->table);
    tdc_match_free(made->match);
    tdc_dump_free(made->npu);
    tdc_dump_free(made->bench);
}

static void rows_are_told_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct comparison made;
        prepare(&made, TDC_RULES_SOUND);
        made.options.threads = threads;
        assert_int_equal(tdc_compare(&made.table, 1, &made.options, NULL), TDC_OK);
        assert_int_equal(made.told, tdc_table_rows(made.table));
        struct tdc_summary summary;
        tdc_table_summary(made.table, &summary, sizeof summary);
        for (int i = 0; i < TDC_ROW_CLASSES; i++)
            assert_int_equal(made.classes[i], summary.classes[i]);
        assert_true(summary.classes[TDC_ROW_DIFFERENT] > 50);
        assert_true(summary.classes[TDC_ROW_UNMATCHED] > 5);
        release(&made);
    }
}

static size_t column_called(const tdc_table *table, const char *name)
{
    for (size_t i = 0; i < tdc_table_columns(table); i++)
        if (strcmp(tdc_table_column(table, i), name) == 0)
            return i;
    fail_msg("no column %s", name);
    return 0;
}

static void check_texts(struct comparison *made, tdc_field field, const char *column)
{
    const char *bytes;
    const uint64_t *offsets;
    size_t at = column_called(made->table, column);
    assert_int_equal(tdc_table_texts(made->table, field, &bytes, &offsets, NULL), TDC_OK);
    for (size_t row = 0; row < tdc_table_rows(made->table); row++) {
        struct tdc_cell cells[80];
        assert_int_equal(tdc_table_row(made->table, row, cells, NULL), TDC_OK);
        size_t length = offsets[row + 1] - offsets[row];
        if (cells[at].length == 3 && memcmp(cells[at].text, "N/A", 3) == 0 && length == 0)
            continue; /* no record */
        assert_int_equal(length, cells[at].length);
        assert_memory_equal(bytes + offsets[row], cells[at].text, length);
    }
    assert_int_equal(bytes[offsets[tdc_table_rows(made->table)]], 0);
}

static void check_numbers(struct comparison *made, tdc_field field, const char *column,
                          size_t least)
{
    const double *numbers;
    const uint8_t *valid;
    size_t at = column_called(made->table, column), seen = 0;
    assert_int_equal(tdc_table_numbers(made->table, field, &numbers, &valid, NULL), TDC_OK);
    for (size_t row = 0; row < tdc_table_rows(made->table); row++) {
        struct tdc_cell cells[80];
        assert_int_equal(tdc_table_row(made->table, row, cells, NULL), TDC_OK);
        if (cells[at].kind != TDC_CELL_NUMBER) {
            assert_true(isnan(numbers[row]) || memchr(cells[at].text, '%', cells[at].length));
            continue;
        }
        assert_true(valid[row] == 1 && numbers[row] == cells[at].number);
        seen++;
    }
    assert_true(seen >= least);
}

static void fields_are_the_cells(void **state)
{
    (void)state;
    const tdc_rules_id rules[] = {TDC_RULES_SOUND, TDC_RULES_COMPAT};
    for (size_t i = 0; i < 2; i++) {
        struct comparison made;
        prepare(&made, rules[i]);
        assert_int_equal(tdc_compare(&made.table, 1, &made.options, NULL), TDC_OK);
        check_texts(&made, TDC_FIELD_NPU_NAME, "NPU Name");
        check_texts(&made, TDC_FIELD_BENCH_SHAPE, "Bench Tensor Shape");
        check_texts(&made, TDC_FIELD_VERDICT, "Result");
        check_texts(&made, TDC_FIELD_MESSAGE, "Err_message");
        check_numbers(&made, TDC_FIELD_NPU_MAX, "NPU max", RECORDS);
        check_numbers(&made, TDC_FIELD_MAX_DIFF, "Max diff", RECORDS / 2);
        if (rules[i] == TDC_RULES_SOUND)
            check_numbers(&made, TDC_FIELD_DISTANCE, "Relative Distance", RECORDS / 2);
        column_called(made.table, "NPU_Stack_Info"); /* of the bytes it was loaded with */
        release(&made);
    }
}

static void integers_and_validity(void **state)
{
    (void)state;
    struct comparison made;
    prepare(&made, TDC_RULES_SOUND);
    const int64_t *classes, *records;
    const uint8_t *valid;
    const double *numbers;
    /* nothing compared yet: no class, no difference */
    assert_int_equal(tdc_table_integers(made.table, TDC_FIELD_CLASS, &classes, NULL, NULL), TDC_OK);
    assert_int_equal(classes[0], TDC_ROW_NONE);
    assert_int_equal(tdc_compare(&made.table, 1, &made.options, NULL), TDC_OK);
    assert_int_equal(tdc_table_integers(made.table, TDC_FIELD_CLASS, &classes, NULL, NULL), TDC_OK);
    assert_int_not_equal(classes[0], TDC_ROW_NONE);
    assert_int_equal(tdc_table_integers(made.table, TDC_FIELD_BENCH_RECORD, &records, &valid, NULL),
                     TDC_OK);
    for (size_t row = 0; row < tdc_table_rows(made.table); row++) {
        size_t npu, bench;
        tdc_match_pair(made.match, row, &npu, &bench);
        assert_int_equal(valid[row], bench != TDC_NO_RECORD);
        assert_int_equal(records[row], bench != TDC_NO_RECORD ? bench : 0);
        assert_int_equal(classes[row], tdc_table_class(made.table, row));
    }
    /* one array, however often it is asked for; integers as numbers; none of tensors here */
    const int64_t *again;
    assert_int_equal(tdc_table_integers(made.table, TDC_FIELD_CLASS, &again, NULL, NULL), TDC_OK);
    assert_ptr_equal(classes, again);
    assert_int_equal(tdc_table_numbers(made.table, TDC_FIELD_CLASS, &numbers, &valid, NULL),
                     TDC_OK);
    assert_true(numbers[1] == (double)classes[1]);
    assert_int_equal(tdc_table_numbers(made.table, TDC_FIELD_COSINE, &numbers, &valid, NULL),
                     TDC_OK);
    assert_true(isnan(numbers[0]) && valid[0] == 0);
    release(&made);
}

static void fields_have_names_and_types(void **state)
{
    (void)state;
    struct comparison made;
    struct tdc_error error;
    prepare(&made, TDC_RULES_COMPAT);
    const double *numbers;
    const int64_t *integers;
    const char *bytes;
    const uint64_t *offsets;
    for (int i = 1; i < TDC_FIELDS; i++) {
        tdc_field field = (tdc_field)i;
        assert_int_equal(tdc_field_named(tdc_field_name(field)), field);
        tdc_field_type type = tdc_field_type_of(field);
        assert_int_equal(tdc_table_numbers(made.table, field, &numbers, NULL, &error),
                         type == TDC_FIELD_TYPE_TEXT ? TDC_ERR_ARGUMENT : TDC_OK);
        assert_int_equal(tdc_table_integers(made.table, field, &integers, NULL, &error),
                         type == TDC_FIELD_TYPE_INTEGER ? TDC_OK : TDC_ERR_ARGUMENT);
        assert_int_equal(tdc_table_texts(made.table, field, &bytes, &offsets, &error),
                         type == TDC_FIELD_TYPE_TEXT ? TDC_OK : TDC_ERR_ARGUMENT);
    }
    assert_null(tdc_field_name(TDC_FIELD_NONE));
    assert_null(tdc_field_name(TDC_FIELDS));
    assert_int_equal(tdc_field_named("nothing"), TDC_FIELD_NONE);
    assert_int_equal(tdc_table_numbers(made.table, TDC_FIELDS, &numbers, NULL, &error),
                     TDC_ERR_ARGUMENT);
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_told_once),
        cmocka_unit_test(fields_are_the_cells),
        cmocka_unit_test(integers_and_validity),
        cmocka_unit_test(fields_have_names_and_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
