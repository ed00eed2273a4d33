#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/out_file.h"
#include "io/sink.h"
#include "io/sink_backend.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/xlsx_reader.h"

static struct tdc_cell text_of(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static struct tdc_cell number_of(double number)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

static struct tdc_cell truth_of(bool truth)
{
    return (struct tdc_cell){.kind = TDC_CELL_BOOL, .truth = truth};
}

static const char *const three[] = {"NPU Name", "Cosine", "Result, \"final\""};
static const char *const one[] = {"only"};

static struct tdc_sink *opened(tdc_format format, const struct tdc_sink_spec *spec)
{
    struct tdc_sink *sink;
    struct tdc_error error;
    if (tdc_sink_open(format, spec, &sink, &error) != TDC_OK)
        fail_msg("%s", error.message);
    return sink;
}

static void put(struct tdc_sink *sink, struct tdc_cell a, struct tdc_cell b, struct tdc_cell c,
                tdc_colour colour)
{
    struct tdc_cell cells[] = {a, b, c};
    assert_int_equal(tdc_sink_row(sink, cells, colour, NULL), TDC_OK);
}

static void closed(struct tdc_sink *sink)
{
    struct tdc_error error;
    if (tdc_sink_close(sink, &error) != TDC_OK)
        fail_msg("%s", error.message);
}

static void assert_content(const char *path, const char *expected)
{
    char *content = file_content(path, NULL);
    assert_non_null(content);
    assert_string_equal(content, expected);
    free(content);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

/* ---- csv ------------------------------------------------------------------------------------ */

static void csv_quotes_as_needed(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    struct tdc_sink_spec spec = {.path = path, .columns = three, .column_count = 3, .rows = 9};
    struct tdc_sink *sink = opened(TDC_FORMAT_CSV, &spec);
    put(sink, text_of("plain"), number_of(0.975900072949), truth_of(true), TDC_COLOUR_RED);
    put(sink, text_of("a,b"), number_of(-3), truth_of(false), TDC_COLOUR_NONE);
    put(sink, text_of("say \"x\""), number_of(1e-7), text_of("two\nlines"), TDC_COLOUR_NONE);
    put(sink, text_of(""), number_of(2e22), text_of("cr\r"), TDC_COLOUR_NONE);
    put(sink, number_of(INFINITY), number_of(-INFINITY), number_of(NAN), TDC_COLOUR_NONE);
    put(sink, number_of(-0.0), number_of(123456789012345678.0), number_of(5e-324), 0);
    put(sink, text_of("\xe5\x90\x8d \xf0\x9f\x98\x80 \"\xff\""), text_of("\xed\xa0\x80"),
        (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = "n\0l", .length = 3}, 0);
    put(sink, text_of("=1+1"), (struct tdc_cell){.kind = TDC_CELL_TEXT}, text_of(" pad "), 0);
    closed(sink);
    assert_content(path, "NPU Name,Cosine,\"Result, \"\"final\"\"\"\n"
                         "plain,0.9759000729490001,True\n"
                         "\"a,b\",-3,False\n"
                         "\"say \"\"x\"\"\",1e-07,\"two\nlines\"\n"
                         ",2e+22,\"cr\r\"\n"
                         "inf,-inf,nan\n"
                         "-0,1.234567890123457e+17,4.940656458412465e-324\n"
                         "\"\xe5\x90\x8d \xf0\x9f\x98\x80 \"\"\xef\xbf\xbd\"\"\","
                         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd,n\xef\xbf\xbdl\n"
                         "=1+1,, pad \n");
    assert_int_equal(folder_entries(&folder), 1);
    folder_remove(&folder);
}

static void csv_escapes_formulas(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"=1+1", "'=1+1"},
        {"+x", "'+x"},
        {"-x", "'-x"},
        {"@x", "'@x"},
        {"\t=x", "'\t=x"},
        {"\r@x", "\"'\r@x\""},
        {"\t\r-x,", "\"'\t\r-x,\""},
        {"\xef\xbc\x9dx", "'\xef\xbc\x9dx"}, /* full width = */
        {"\xef\xbc\x8bx", "'\xef\xbc\x8bx"},
        {"\xef\xbc\x8dx", "'\xef\xbc\x8dx"},
        {"\xef\xbc\xa0x", "'\xef\xbc\xa0x"},
        {"a=1", "a=1"},
        {" =1", " =1"},
        {"\tx", "\tx"},
        {"\t", "\t"},
        {"", "\"\""},
    };
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    struct tdc_sink_spec spec = {
        .path = path, .columns = one, .column_count = 1, .escape_formulas = true};
    struct tdc_sink *sink = opened(TDC_FORMAT_CSV, &spec);
    char expected[1024] = "only\n";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tdc_cell cell = text_of(texts[i][0]);
        assert_int_equal(tdc_sink_row(sink, &cell, TDC_COLOUR_NONE, NULL), TDC_OK);
        strcat(strcat(expected, texts[i][1]), "\n");
    }
    struct tdc_cell negative = number_of(-1); /* a number is no formula */
    assert_int_equal(tdc_sink_row(sink, &negative, TDC_COLOUR_NONE, NULL), TDC_OK);
    closed(sink);
    assert_content(path, strcat(expected, "-1\n"));
    folder_remove(&folder);
}

static void csv_passes_its_buffer(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    struct tdc_sink_spec spec = {.path = path, .columns = one, .column_count = 1};
    struct tdc_sink *sink = opened(TDC_FORMAT_CSV, &spec);
    size_t long_length = 3 * TDC_BYTE_WRITER_ROOM + 7;
    char *text = malloc(long_length);
    assert_non_null(text);
    for (size_t i = 0; i < long_length; i++)
        text[i] = (char)('a' + i % 23);
    struct tdc_cell cell = {.kind = TDC_CELL_TEXT, .text = text};
    size_t lengths[] = {1, TDC_BYTE_WRITER_ROOM - 7, 1, 5, TDC_BYTE_WRITER_ROOM, 3, long_length, 2};
    size_t total = strlen("only\n");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        cell.length = lengths[i];
        assert_int_equal(tdc_sink_row(sink, &cell, TDC_COLOUR_NONE, NULL), TDC_OK);
        total += lengths[i] + 1;
    }
    closed(sink);
    size_t length;
    char *content = file_content(path, &length);
    assert_int_equal(length, total);
    const char *at = content + strlen("only\n");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_int_equal(memcmp(at, text, lengths[i]), 0);
        at += lengths[i];
        assert_int_equal(*at++, '\n');
    }
    free(content);
    free(text);
    folder_remove(&folder);
}

/* ---- json ----------------------------------------------------------------------------------- */

static void json_is_an_array_of_objects(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.json");
    struct tdc_sink_spec spec = {.path = path, .columns = three, .column_count = 3};
    struct tdc_sink *sink = opened(TDC_FORMAT_JSON, &spec);
    put(sink, text_of("a\"\\/\b\f\n\r\t\x01\x7f"), number_of(0.1), truth_of(true), 0);
    put(sink, text_of("\xe5\x90\x8d\xc0\xaf\xe5\x90"), number_of(1.0 / 3), truth_of(false),
        TDC_COLOUR_YELLOW);
    put(sink, number_of(NAN), number_of(INFINITY), number_of(-INFINITY), TDC_COLOUR_RED);
    put(sink, number_of(-0.0), number_of(1e22), number_of(0.1 + 0.2), 0);
    put(sink, number_of(42), number_of(5e-324), number_of(-1.7976931348623157e308), 0);
    closed(sink);
    assert_content(
        path, "[\n"
              "{\"NPU Name\": \"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\", \"Cosine\": 0.1, "
              "\"Result, \\\"final\\\"\": true},\n"
              "{\"NPU Name\": \"\xe5\x90\x8d\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\", \"Cosine\": "
              "0.3333333333333333, \"Result, \\\"final\\\"\": false, \"colour\": \"yellow\"},\n"
              "{\"NPU Name\": \"NaN\", \"Cosine\": \"Infinity\", \"Result, \\\"final\\\"\": "
              "\"-Infinity\", \"colour\": \"red\"},\n"
              "{\"NPU Name\": -0.0, \"Cosine\": 1e+22, \"Result, \\\"final\\\"\": "
              "0.30000000000000004},\n"
              "{\"NPU Name\": 42, \"Cosine\": 4.94065645841247e-324, \"Result, \\\"final\\\"\": "
              "-1.7976931348623157e+308}\n"
              "]\n");
    folder_remove(&folder);
}

static void json_without_rows_is_valid(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.json");
    struct tdc_sink_spec spec = {.path = path, .columns = one, .column_count = 1};
    closed(opened(TDC_FORMAT_JSON, &spec));
    assert_content(path, "[\n]\n");
    folder_remove(&folder);
}

/* ---- xlsx ----------------------------------------------------------------------------------- */

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
        char *app = zip_member(path, "docProps/app.xml"); /* behind the styles */
        assert_non_null(strstr(app, "</Properties>"));
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
        free(app);
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

/* ---- failures ------------------------------------------------------------------------------- */

static const tdc_format formats[] = {TDC_FORMAT_CSV, TDC_FORMAT_JSON, TDC_FORMAT_XLSX};

static void bad_folders_are_errors(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    close(open(folder_file(&folder, "file"), O_CREAT | O_WRONLY, 0600));
    for (size_t i = 0; i < 3; i++) {
        struct tdc_sink_spec spec = {.columns = one, .column_count = 1, .sheet = "Sheet1"};
        struct tdc_sink *sink;
        struct tdc_error error;
        spec.path = folder_file(&folder, "missing/t");
        assert_int_equal(tdc_sink_open(formats[i], &spec, &sink, &error), TDC_ERR_WRITE);
        assert_null(sink);
        assert_non_null(strstr(error.message, "missing/t"));
        spec.path = folder_file(&folder, "file/t");
        assert_int_equal(tdc_sink_open(formats[i], &spec, &sink, &error), TDC_ERR_WRITE);
        spec.path = folder_file(&folder, "t");
        spec.column_count = 0;
        assert_int_equal(tdc_sink_open(formats[i], &spec, &sink, &error), TDC_ERR_ARGUMENT);
        assert_int_equal(folder_entries(&folder), 1);
    }
    struct tdc_sink *sink;
    struct tdc_sink_spec spec = {
        .path = folder_file(&folder, "t"), .columns = one, .column_count = 1};
    assert_int_equal(tdc_sink_open((tdc_format)3, &spec, &sink, NULL), TDC_ERR_ARGUMENT);
    tdc_sink_discard(NULL);
    folder_remove(&folder);
}

/* Writes rows until the file may not grow any more; digits hardly compress. */
static tdc_status write_under_limit(const char *path, tdc_format format, rlim_t limit, size_t rows,
                                    struct tdc_error *error)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct tdc_sink_spec spec = {
        .path = path, .columns = three, .column_count = 3, .rows = rows, .sheet = "Sheet1"};
    struct tdc_sink *sink = opened(format, &spec);
    struct rlimit small = {limit, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint64_t random = 88172645463325252u;
    tdc_status row_status = TDC_OK;
    for (size_t i = 0; i < rows && row_status == TDC_OK; i++) {
        struct tdc_cell cells[3];
        for (size_t j = 0; j < 3; j++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            cells[j] = number_of((double)random / 3e19);
        }
        row_status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    tdc_status status = tdc_sink_close(sink, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(row_status == TDC_OK || row_status == status);
    return status;
}

/* Limits that stop the rows themselves, the assembly of the sheet, and the zip. */
static void full_disk_leaves_nothing(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t");
    struct tdc_error error;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(write_under_limit(path, formats[i], 100000, 20000, &error), TDC_ERR_WRITE);
        assert_non_null(strstr(error.message, path));
        assert_non_null(strstr(error.message, "File too large"));
        assert_int_equal(folder_entries(&folder), 0);
        assert_int_equal(write_under_limit(path, formats[i], 1000, 100, &error), TDC_ERR_WRITE);
        assert_int_equal(folder_entries(&folder), 0);
    }
    folder_remove(&folder);
}

/* libxlsxwriter does not notice when the second copy of a sheet is cut: sizes around the length of
 * the rows make it happen. Either the file is whole or there is none. */
static void xlsx_is_never_cut(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.xlsx");
    struct tdc_error error;
    assert_int_equal(write_under_limit(path, TDC_FORMAT_XLSX, 1 << 20, 300, &error), TDC_OK);
    char *sheet = zip_member(path, "xl/worksheets/sheet1.xml");
    size_t whole = strlen(sheet);
    const char *begin = strstr(sheet, "<sheetData>") + strlen("<sheetData>");
    size_t rows = (size_t)(strstr(sheet, "</sheetData>") - begin);
    assert_true(rows > 20000);
    free(sheet);
    unlink(path);
    size_t cut = 0;
    for (size_t limit = rows - 40; limit <= whole + 40; limit += 20) {
        tdc_status status = write_under_limit(path, TDC_FORMAT_XLSX, (rlim_t)limit, 300, &error);
        assert_int_equal(status, limit >= whole ? TDC_OK : TDC_ERR_WRITE);
        assert_int_equal(folder_entries(&folder), status == TDC_OK ? 1 : 0);
        cut += limit >= rows && limit < whole;
        unlink(path);
    }
    assert_true(cut > 10);
    folder_remove(&folder);
}

static void discarded_sinks_leave_nothing(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    for (size_t i = 0; i < 3; i++) {
        struct tdc_sink_spec spec = {.path = folder_file(&folder, "t"),
                                     .columns = three,
                                     .column_count = 3,
                                     .rows = 5,
                                     .sheet = "Sheet1",
                                     .polish = true};
        struct tdc_sink *sink;
        assert_int_equal(tdc_sink_open_split(formats[i], &spec, 2, &sink, NULL), TDC_OK);
        for (int j = 0; j < 5; j++)
            put(sink, text_of("a"), text_of("b"), text_of("c"), TDC_COLOUR_RED);
        assert_true(folder_entries(&folder) == 1);
        tdc_sink_discard(sink);
        assert_int_equal(folder_entries(&folder), 0);
    }
    folder_remove(&folder);
}

static void stop(int number)
{
    tdc_out_files_remove();
    _exit(number);
}

static void interrupted_sinks_leave_nothing(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    for (size_t i = 0; i < 3; i++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGINT, stop);
            struct tdc_sink_spec spec = {.path = folder_file(&folder, "t"),
                                         .columns = one,
                                         .column_count = 1,
                                         .rows = 1000000,
                                         .sheet = "Sheet1"};
            struct tdc_sink *sink;
            if (tdc_sink_open(formats[i], &spec, &sink, NULL) != TDC_OK)
                _exit(99);
            for (int row = 0; row < 1000000; row++) {
                struct tdc_cell cell = number_of(row);
                if (row == 100 && write(ready[1], "r", 1) != 1)
                    _exit(98);
                if (tdc_sink_row(sink, &cell, TDC_COLOUR_NONE, NULL) != TDC_OK)
                    _exit(97);
            }
            pause();
        }
        char byte;
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_int_equal(kill(child, SIGINT), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), SIGINT);
        assert_int_equal(folder_entries(&folder), 0);
        close(ready[0]);
        close(ready[1]);
    }
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_quotes_as_needed),
        cmocka_unit_test(csv_escapes_formulas),
        cmocka_unit_test(csv_passes_its_buffer),
        cmocka_unit_test(json_is_an_array_of_objects),
        cmocka_unit_test(json_without_rows_is_valid),
        cmocka_unit_test(xlsx_holds_every_kind_of_cell),
        cmocka_unit_test(xlsx_colours_whole_rows),
        cmocka_unit_test(xlsx_cuts_long_texts_at_characters),
        cmocka_unit_test(xlsx_without_rows_has_a_header),
        cmocka_unit_test(xlsx_splits_large_tables),
        cmocka_unit_test(bad_folders_are_errors),
        cmocka_unit_test(full_disk_leaves_nothing),
        cmocka_unit_test(xlsx_is_never_cut),
        cmocka_unit_test(discarded_sinks_leave_nothing),
        cmocka_unit_test(interrupted_sinks_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
