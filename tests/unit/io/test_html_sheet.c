/* Rows gathered by columns: widening, texts once, keeping some of them, running out of columns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/html/sheet.h"

static struct tdc_cell text(const char *value)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = value, .length = strlen(value)};
}

static struct tdc_cell number(double value)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = value};
}

/* What a cell of a column holds: a text, or NULL and its number. */
static const char *held(const struct tdc_html_sheet *sheet, size_t column, size_t row,
                        double *value)
{
    const struct tdc_html_column *at = &sheet->columns[column];
    uint32_t place;
    if (at->texts != NULL) {
        place = at->texts[row];
    } else {
        uint64_t bits;
        memcpy(&bits, &at->numbers[row], sizeof bits);
        *value = at->numbers[row];
        if (!tdc_html_boxed(bits, &place))
            return NULL;
    }
    return sheet->texts.keys[place].text;
}

static void assert_text(const struct tdc_html_sheet *sheet, size_t column, size_t row,
                        const char *expected)
{
    double value;
    const char *found = held(sheet, column, row, &value);
    assert_non_null(found);
    assert_string_equal(found, expected);
}

static void assert_number(const struct tdc_html_sheet *sheet, size_t column, size_t row,
                          double expected)
{
    double value = 0;
    assert_null(held(sheet, column, row, &value));
    assert_true(isnan(expected) ? isnan(value) : value == expected);
}

static void add(struct tdc_html_sheet *sheet, struct tdc_cell first, struct tdc_cell second)
{
    const int places[] = {0, 1};
    const struct tdc_cell cells[] = {first, second};
    assert_true(tdc_html_sheet_row(sheet, places, cells, 2));
}

static void make(struct tdc_html_sheet *sheet)
{
    tdc_html_sheet_init(sheet, "rows");
    assert_int_equal(tdc_html_sheet_column(sheet, "name"), 0);
    assert_int_equal(tdc_html_sheet_column(sheet, "value"), 1);
    assert_int_equal(tdc_html_sheet_column(sheet, "name"), 0);
    add(sheet, text("a"), text("N/A"));
    add(sheet, text("b"), number(1.5));
    add(sheet, text("a"), number(-INFINITY));
    add(sheet, text("c"), number(NAN));
    add(sheet, text("d"), text("N/A"));
}

static void cells_come_back(void **state)
{
    (void)state;
    struct tdc_html_sheet sheet;
    make(&sheet);
    assert_int_equal(sheet.rows, 5);
    assert_int_equal(sheet.texts.count, 6); /* "", a, N/A, b, c, d */
    assert_text(&sheet, 0, 2, "a");
    assert_text(&sheet, 1, 0, "N/A"); /* from before the column was of numbers */
    assert_number(&sheet, 1, 1, 1.5);
    assert_number(&sheet, 1, 2, -INFINITY);
    assert_number(&sheet, 1, 3, NAN);
    assert_text(&sheet, 1, 4, "N/A");
    tdc_html_sheet_free(&sheet);
}

static void kept_rows_keep_their_texts(void **state)
{
    (void)state;
    struct tdc_html_sheet sheet;
    make(&sheet);
    const bool flags[] = {false, true, false, true, true};
    assert_true(tdc_html_sheet_keep(&sheet, flags));
    assert_int_equal(sheet.rows, 3);
    assert_int_equal(sheet.texts.count, 5); /* a is gone */
    assert_text(&sheet, 0, 0, "b");
    assert_number(&sheet, 1, 0, 1.5);
    assert_number(&sheet, 1, 1, NAN);
    assert_text(&sheet, 0, 2, "d");
    assert_text(&sheet, 1, 2, "N/A");
    add(&sheet, text("a"), number(7));
    assert_text(&sheet, 0, 3, "a");
    assert_string_equal(sheet.columns[1].name, "value");
    tdc_html_sheet_free(&sheet);
}

static void a_late_column_has_nothing_before(void **state)
{
    (void)state;
    struct tdc_html_sheet sheet;
    make(&sheet);
    int place = tdc_html_sheet_column(&sheet, "late");
    const struct tdc_cell cell = number(3);
    assert_true(tdc_html_sheet_row(&sheet, &place, &cell, 1));
    assert_text(&sheet, 2, 0, "");
    assert_text(&sheet, 0, 5, "");
    assert_text(&sheet, 1, 5, "");
    assert_number(&sheet, 2, 5, 3);
    tdc_html_sheet_free(&sheet);
}

static void digits_that_no_double_holds_stay(void **state)
{
    (void)state;
    struct tdc_html_sheet sheet;
    make(&sheet);
    const char digits[] = "12345678901234567891";
    struct tdc_cell cell = number(12345678901234567891.0);
    cell.text = digits;
    cell.length = sizeof digits - 1;
    add(&sheet, text("e"), cell);
    assert_text(&sheet, 1, 5, digits);
    tdc_html_sheet_free(&sheet);
}

static void columns_have_an_end(void **state)
{
    (void)state;
    struct tdc_html_sheet sheet;
    tdc_html_sheet_init(&sheet, "rows");
    for (int i = 0; i < TDC_HTML_MOST_COLUMNS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(tdc_html_sheet_column(&sheet, name), i);
    }
    assert_int_equal(tdc_html_sheet_column(&sheet, "one more"), -1);
    tdc_html_sheet_free(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_come_back),
        cmocka_unit_test(kept_rows_keep_their_texts),
        cmocka_unit_test(a_late_column_has_nothing_before),
        cmocka_unit_test(digits_that_no_double_holds_stay),
        cmocka_unit_test(columns_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
