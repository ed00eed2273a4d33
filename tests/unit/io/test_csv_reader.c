#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "io/table/text_table.h"
#include "io/text/csv_reader.h"
#include "tests/support/temporary_folder.h"

/* Fields with '|' between, rows with '/' behind, '!' for a row that is torn. */
static const char *shown(const char *text, size_t size)
{
    static char shown[512];
    size_t length = 0;
    struct tdc_csv_reader reader;
    tdc_csv_start(&reader, text, size);
    while (!tdc_csv_at_end(&reader)) {
        struct tdc_csv_span span = tdc_csv_next(&reader);
        size_t content = tdc_csv_content(&span, shown + length);
        assert_true(content <= (size_t)(span.stop - span.start));
        assert_true(tdc_csv_is(&span, shown + length, content));
        assert_false(tdc_csv_is(&span, shown + length, content + 1));
        length += content;
        shown[length++] = span.torn ? '!' : span.last ? '/' : '|';
    }
    shown[length] = '\0';
    return shown;
}

static void fields_and_rows(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"a", "a!"},
        {"a\n", "a/"},
        {"a,b\r\nc,d\n", "a|b/c|d/"},
        {"\xef\xbb\xbf"
         "a,b\n",
         "a|b/"},
        {"a,\n,\n\n", "a|/|//"},
        {"a,", "a|!"},
        {",", "|!"},
        {"\"a,b\",c\n", "a,b|c/"},
        {"\"two\r\nlines\",\"x\"\r\n", "two\r\nlines|x/"},
        {"\"say \"\"it\"\"\",\"\"\n", "say \"it\"|/"},
        {"\"\"\"\"\n", "\"/"},
        {"\"never closed,\nb", "never closed,\nb!"},
        {"\"a\"b\"c\"\n", "ab\"c\"/"},
        {"a\"b,c\"d\n", "a\"b,c\"d/"},
        {"a\r", "a!"},
        {"a\rb\n", "a\rb/"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(shown(cases[i][0], strlen(cases[i][0])), cases[i][1]);
    assert_string_equal(shown(NULL, 0), "");
}

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void tables_hold_their_cells(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    static const char text[] = "\xef\xbb\xbf"
                               "Name,\"Max, diff\",Message\r\n"
                               "a,1,\"two\nlines, \"\"quoted\"\"\"\r\n"
                               "b\r\n";
    write_file(path, text, sizeof text - 1);
    struct tdc_text_table table;
    struct tdc_error error = {0};
    assert_int_equal(tdc_text_table_from_csv(path, &table, &error), TDC_OK);
    assert_int_equal(table.count, 3);
    assert_int_equal(tdc_text_column(&table, "Name"), 0);
    assert_int_equal(tdc_text_column(&table, "Message"), 2);
    assert_true(tdc_text_column(&table, "Max") == SIZE_MAX);
    assert_string_equal(tdc_text_cell(&table.rows[1], tdc_text_column(&table, "Max, diff")), "1");
    assert_string_equal(tdc_text_cell(&table.rows[1], 2), "two\nlines, \"quoted\"");
    assert_int_equal(table.rows[2].count, 1);
    assert_string_equal(tdc_text_cell(&table.rows[2], 0), "b");
    assert_string_equal(tdc_text_cell(&table.rows[2], 2), "");
    tdc_text_table_free(&table);
    folder_remove(&folder);
}

/* No limit of columns: what a row has is there. */
static void wide_rows_are_whole(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    enum {
        COLUMNS = 3000
    };
    static char text[COLUMNS * 5];
    size_t length = 0;
    for (int i = 0; i < COLUMNS; i++)
        length += (size_t)sprintf(text + length, "%d%c", i, i + 1 < COLUMNS ? ',' : '\n');
    write_file(path, text, length);
    struct tdc_text_table table;
    struct tdc_error error = {0};
    assert_int_equal(tdc_text_table_from_csv(path, &table, &error), TDC_OK);
    assert_int_equal(table.rows[0].count, COLUMNS);
    assert_string_equal(table.rows[0].cells[COLUMNS - 1], "2999");
    tdc_text_table_free(&table);
    folder_remove(&folder);
}

static void what_is_no_table(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    struct tdc_text_table table;
    struct tdc_error error = {0};
    assert_int_equal(tdc_text_table_from_csv(path, &table, &error), TDC_ERR_NOT_FOUND);
    tdc_text_table_free(&table);
    write_file(path, "\xef\xbb\xbf", 3);
    assert_int_equal(tdc_text_table_from_csv(path, &table, &error), TDC_ERR_FORMAT);
    tdc_text_table_free(&table);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_rows),
        cmocka_unit_test(tables_hold_their_cells),
        cmocka_unit_test(wide_rows_are_whole),
        cmocka_unit_test(what_is_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
