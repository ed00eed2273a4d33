#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "io/table/sink_backend.h"
#include "tests/support/sink_rows.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/xlsx_reader.h"

static void assert_cell(const char *sheet, const char *place, char type, const char *text)
{
    struct seen_cell *cell = read_cell(sheet, place);
    assert_int_equal(cell->type, type);
    assert_string_equal(cell->text, text);
}

static void xlsx_holds_every_kind_of_cell(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    struct tdc_sink_spec spec = {
        .path = path, .columns = three, .column_count = 3, .rows = 7, .sheet = "Sheet1"};
    struct tdc_sink *sink = opened(TDC_FORMAT_XLSX, &spec);
    put(sink, text_of("a"), number_of(0.975900072949), truth_of(true), 0);
    put(sink, text_of(""), number_of(2e22), truth_of(false), 0);
    put(sink, number_of(INFINITY), number_of(-INFINITY), number_of(NAN), 0);
    put(sink, text_of("=1+1"), text_of("http://x"), text_of("inf\t"), 0);
    put(sink, text_of("<&>\"'"), text_of("\x01\r\x1f"), text_of("_x0041_"), 0);
    put(sink, text_of(" two\nlines "), text_of("\xe5\x90\x8d\xf0\x9f\x98\x80"), text_of("\xff\xc3"),
        0);
    put(sink, (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = "n\0l", .length = 3}, text_of("_"),
        text_of("_x004_"), 0);
    closed(sink);
    assert_int_equal(folder_entries(&folder), 1);
    char *sheet = zip_member(path, "xl/worksheets/sheet1.xml");
    assert_non_null(sheet);
    assert_cell(sheet, "A1", 's', "NPU Name");
    assert_cell(sheet, "C1", 's', "Result, \"final\"");
    assert_cell(sheet, "A2", 's', "a");
    assert_cell(sheet, "B2", 'n', "0.9759000729490001");
    assert_cell(sheet, "C2", 'b', "1");
    assert_cell(sheet, "A3", 's', "");
    assert_cell(sheet, "B3", 'n', "2e+22");
    assert_cell(sheet, "C3", 'b', "0");
    assert_cell(sheet, "A4", 's', "inf");
    assert_cell(sheet, "B4", 's', "-inf");
    assert_cell(sheet, "C4", 's', "nan");
    assert_cell(sheet, "A5", 's', "=1+1");
    assert_cell(sheet, "B5", 's', "http://x");
    assert_cell(sheet, "C5", 's', "inf\t");
    assert_cell(sheet, "A6", 's', "<&>\"'");
    assert_cell(sheet, "B6", 's', "\x01\r\x1f");
    assert_cell(sheet, "C6", 's', "_x0041_");
    assert_cell(sheet, "A7", 's', " two\nlines ");
    assert_cell(sheet, "B7", 's', "\xe5\x90\x8d\xf0\x9f\x98\x80");
    assert_cell(sheet, "C7", 's', "\xef\xbf\xbd\xef\xbf\xbd");
    assert_int_equal(read_cell(sheet, "A8")->length, 3);
    assert_memory_equal(read_cell(sheet, "A8")->text, "n\0l", 3);
    assert_cell(sheet, "B8", 's', "_");
    assert_cell(sheet, "C8", 's', "_x004_");
    assert_int_equal(read_cell(sheet, "D2")->type, '-');
    assert_int_equal(read_cell(sheet, "A9")->type, '-');
    assert_non_null(strstr(sheet, "_x005F_x0041_"));
    assert_non_null(strstr(sheet, "<dimension ref=\"A1:C8\"/>"));
    assert_non_null(strstr(sheet, "<t xml:space=\"preserve\"> two\nlines </t>"));
    assert_null(strstr(sheet, "<f>"));
    assert_null(strstr(sheet, "<autoFilter"));
    assert_null(strstr(sheet, "<pane"));
    assert_null(strstr(sheet, " s=\""));
    free(sheet);
    char *book = zip_member(path, "xl/workbook.xml");
    assert_non_null(strstr(book, "<sheet name=\"Sheet1\""));
    free(book);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    folder_remove(&folder);
}

static void coloured_book(const char *path, bool argb_yellow)
{
    struct tdc_sink_spec spec = {.path = path,
                                 .columns = three,
                                 .column_count = 3,
                                 .rows = 3,
                                 .sheet = "Sheet",
                                 .argb_yellow = argb_yellow};
    struct tdc_sink *sink = opened(TDC_FORMAT_XLSX, &spec);
    put(sink, text_of("y"), text_of(""), truth_of(true), TDC_COLOUR_YELLOW);
    put(sink, text_of("none"), number_of(1), text_of(""), TDC_COLOUR_NONE);
    put(sink, text_of("r"), number_of(1), text_of(""), TDC_COLOUR_RED);
    closed(sink);
}

static void assert_fill(const char *sheet, const char *styles, const char *place,
                        const char *colour)
{
    assert_string_equal(fill_of(styles, read_cell(sheet, place)->style), colour);
}

static void xlsx_colours_whole_rows(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    for (int argb = 0; argb < 2; argb++) {
        coloured_book(path, argb == 1);
        char *sheet = zip_member(path, "xl/worksheets/sheet1.xml");
        char *styles = zip_member(path, "xl/styles.xml");
        const char *yellow = argb == 1 ? "00FFFF00" : "FFFFFF00";
        assert_fill(sheet, styles, "A1", "");
        assert_fill(sheet, styles, "A2", yellow);
        assert_fill(sheet, styles, "B2", yellow);
        assert_fill(sheet, styles, "C2", yellow);
        assert_fill(sheet, styles, "A3", "");
        assert_fill(sheet, styles, "C4", "FFFF0000");
        assert_cell(sheet, "B2", 's', "");
        assert_cell(sheet, "C2", 'b', "1");
        assert_cell(sheet, "C4", 's', "");
        free(sheet);
        free(styles);
    }
    folder_remove(&folder);
}

static void xlsx_cuts_long_texts_at_characters(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    struct tdc_sink_spec spec = {
        .path = path, .columns = three, .column_count = 3, .rows = 1, .sheet = "Sheet1"};
    struct tdc_sink *sink = opened(TDC_FORMAT_XLSX, &spec);
    char *ascii = malloc(40000);
    char *wide = malloc(80000);
    assert_non_null(ascii);
    assert_non_null(wide);
    memset(ascii, 'x', 40000);
    for (size_t i = 0; i < 80000; i += 4) /* two UTF-16 units each: an odd limit cuts before */
        memcpy(wide + i, "\xf0\x9f\x98\x80", 4);
    put(sink, (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = ascii, .length = 40000},
        (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = wide, .length = 80000},
        (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = ascii, .length = 32767}, 0);
    closed(sink);
    char *sheet = zip_member(path, "xl/worksheets/sheet1.xml");
    assert_int_equal(read_cell(sheet, "A2")->length, 32767);
    struct seen_cell *cell = read_cell(sheet, "B2");
    assert_int_equal(cell->length, 16383 * 4);
    assert_memory_equal(cell->text, wide, cell->length);
    assert_int_equal(read_cell(sheet, "C2")->length, 32767);
    free(sheet);
    free(ascii);
    free(wide);
    folder_remove(&folder);
}

static void xlsx_without_rows_has_a_header(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    static const double widths[] = {30, -1, 1000};
    for (int with_widths = 0; with_widths < 2; with_widths++) {
        struct tdc_sink_spec spec = {.path = path,
                                     .columns = three,
                                     .column_count = 3,
                                     .sheet = "Sheet1",
                                     .header_style = true,
                                     .polish = true,
                                     .widths = with_widths ? widths : NULL};
        closed(opened(TDC_FORMAT_XLSX, &spec));
        char *sheet = zip_member(path, "xl/worksheets/sheet1.xml");
        char *styles = zip_member(path, "xl/styles.xml");
        assert_cell(sheet, "B1", 's', "Cosine");
        assert_int_equal(read_cell(sheet, "A2")->type, '-');
        assert_non_null(strstr(sheet, "<pane ySplit=\"1\""));
        assert_non_null(strstr(sheet, "<autoFilter ref=\"A1:C1\"/>"));
        assert_non_null(strstr(sheet, with_widths
                                          ? "<col min=\"1\" max=\"1\" width=\"30.7109375\""
                                          : "<col min=\"1\" max=\"1\" width=\"11.7109375\""));
        const char *format = nth(strstr(styles, "<cellXfs"), "<xf ", read_cell(sheet, "A1")->style);
        assert_memory_equal(strstr(format, "fontId="), "fontId=\"1\" fillId=\"0\" borderId=\"1\"",
                            33);
        assert_non_null(strstr(format, "horizontal=\"center\" vertical=\"top\""));
        assert_non_null(strstr(styles, "<left style=\"thin\">"));
        assert_non_null(strstr(styles, "<font><b/>"));
        free(sheet);
        free(styles);
    }
    folder_remove(&folder);
}

/* rows announced, limit, and how the rows should be spread. */
static void assert_split(size_t rows, size_t limit, size_t sheets, size_t rows_a_sheet,
                         const char *first_name)
{
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    struct tdc_sink_spec spec = {.path = path,
                                 .columns = one,
                                 .column_count = 1,
                                 .rows = rows,
                                 .sheet = "Sheet1",
                                 .argb_yellow = true};
    struct tdc_sink *sink;
    assert_int_equal(tdc_sink_open_split(TDC_FORMAT_XLSX, &spec, limit, &sink, NULL), TDC_OK);
    for (size_t i = 0; i < rows; i++) {
        struct tdc_cell cell = number_of((double)i);
        assert_int_equal(
            tdc_sink_row(sink, &cell, i % 2 ? TDC_COLOUR_YELLOW : TDC_COLOUR_NONE, NULL), TDC_OK);
    }
    closed(sink);
    char *book = zip_member(path, "xl/workbook.xml");
    char *styles = zip_member(path, "xl/styles.xml");
    assert_non_null(strstr(book, first_name));
    size_t row = 0;
    for (size_t i = 0; i < sheets; i++) {
        char name[64];
        snprintf(name, sizeof name, "xl/worksheets/sheet%zu.xml", i + 1);
        char *sheet = zip_member(path, name);
        assert_non_null(sheet);
        assert_cell(sheet, "A1", 's', "only");
        for (size_t j = 0; j < rows_a_sheet && row < rows; j++, row++) {
            char place[32];
            char number[32];
            snprintf(place, sizeof place, "A%zu", j + 2);
            snprintf(number, sizeof number, "%zu", row);
            assert_cell(sheet, place, 'n', number);
            assert_fill(sheet, styles, place, row % 2 ? "00FFFF00" : "");
        }
        snprintf(name, sizeof name, "A%zu", rows_a_sheet + 2);
        assert_int_equal(read_cell(sheet, name)->type, '-');
        snprintf(name, sizeof name, "<sheet name=\"part_%zu\"", i);
        assert_int_equal(strstr(book, name) != NULL, rows >= limit);
        free(sheet);
    }
    assert_int_equal(row, rows);
    char beyond[64];
    snprintf(beyond, sizeof beyond, "xl/worksheets/sheet%zu.xml", sheets + 1);
    assert_null(zip_member(path, beyond));
    free(book);
    free(styles);
    folder_remove(&folder);
}

static void xlsx_splits_large_tables(void **state)
{
    (void)state;
    assert_split(9, 10, 1, 9, "<sheet name=\"Sheet1\"");
    assert_split(10, 10, 1, 10, "<sheet name=\"part_0\"");
    assert_split(11, 10, 2, 6, "<sheet name=\"part_0\"");
    assert_split(25, 10, 3, 9, "<sheet name=\"part_0\"");
}

/* Limits around the length of the file stop it in its last writes: either it is whole or there is
 * none. */
static void xlsx_is_never_cut(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    struct tdc_error error;
    assert_int_equal(write_under_limit(path, TDC_FORMAT_XLSX, 1 << 20, 300, &error), TDC_OK);
    size_t whole = 0;
    char *first = file_content(path, &whole);
    assert_true(whole > 10000);
    unlink(path);
    for (size_t limit = whole - 400; limit <= whole + 40; limit += 20) {
        tdc_status status = write_under_limit(path, TDC_FORMAT_XLSX, (rlim_t)limit, 300, &error);
        assert_int_equal(status, limit >= whole ? TDC_OK : TDC_ERR_WRITE);
        assert_int_equal(folder_entries(&folder), status == TDC_OK ? 1 : 0);
        if (status == TDC_OK) { /* equal rows, equal files: nothing hangs on the clock */
            size_t length = 0;
            char *again = file_content(path, &length);
            assert_int_equal(length, whole);
            assert_memory_equal(again, first, whole);
            free(again);
        }
        unlink(path);
    }
    free(first);
    folder_remove(&folder);
}

/* The sheets' heads come before their rows and say how many there are. */
static void xlsx_takes_the_rows_announced(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    struct tdc_cell cell = number_of(1);
    for (size_t rows = 1; rows <= 3; rows += 2) {
        struct tdc_sink_spec spec = {.path = folder_file(&folder, "t.xlsx"),
                                     .columns = one,
                                     .column_count = 1,
                                     .rows = 2,
                                     .sheet = "Sheet1"};
        struct tdc_sink *sink = opened(TDC_FORMAT_XLSX, &spec);
        tdc_status status = TDC_OK;
        for (size_t i = 0; i < rows; i++)
            status = tdc_sink_row(sink, &cell, TDC_COLOUR_NONE, NULL);
        assert_int_equal(status, rows > 2 ? TDC_ERR_ARGUMENT : TDC_OK);
        assert_int_equal(tdc_sink_close(sink, NULL), TDC_ERR_ARGUMENT);
        assert_int_equal(folder_entries(&folder), 0);
    }
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xlsx_holds_every_kind_of_cell),
        cmocka_unit_test(xlsx_colours_whole_rows),
        cmocka_unit_test(xlsx_cuts_long_texts_at_characters),
        cmocka_unit_test(xlsx_without_rows_has_a_header),
        cmocka_unit_test(xlsx_splits_large_tables),
        cmocka_unit_test(xlsx_is_never_cut),
        cmocka_unit_test(xlsx_takes_the_rows_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
