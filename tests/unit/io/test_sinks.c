#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>

#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/table/row_blocks.h"
#include "io/table/sink_backend.h"
#include "io/table/json_object.h"
#include "tests/support/sink_rows.h"
#include "tests/support/temporary_folder.h"

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

/* ---- rows of several threads --------------------------------------------------------------- */

#define BLOCK_TEST_ROWS ((size_t)9000)

/* Rows from `fail_from` on cannot be made. */
struct made_rows {
    size_t fail_from;
};

static tdc_status cells_of_row(void *context, size_t row, struct tdc_text *texts,
                               struct tdc_cell *cells, struct tdc_error *error)
{
    const struct made_rows *made = context;
    if (row >= made->fail_from)
        return tdc_fail(error, TDC_ERR_MEMORY, "row %zu", row);
    tdc_text_addf(texts, "row, %zu", row);
    for (size_t i = 0; i < row % 7 * 40; i++)
        tdc_text_addc(texts, (char)('a' + i % 26));
    cells[0] = (struct tdc_cell){TDC_CELL_TEXT, .text = texts->data, .length = texts->length};
    cells[1] = number_of((double)row / 7);
    cells[2] = truth_of(row % 3 == 0);
    return TDC_OK;
}

static void write_in_blocks(const char *path, int threads)
{
    struct made_rows made = {SIZE_MAX};
    struct tdc_error error;
    struct tdc_sink_spec spec = {
        .path = path, .columns = three, .column_count = 3, .rows = BLOCK_TEST_ROWS};
    struct tdc_sink *sink = opened(TDC_FORMAT_CSV, &spec);
    struct tdc_row_blocks *blocks = tdc_row_blocks_start(sink, threads, cells_of_row, &made);
    assert_true((blocks != NULL) == (threads > 1));
    for (size_t row = 0; row < BLOCK_TEST_ROWS; row += 3)
        if (blocks != NULL)
            tdc_row_blocks_ready(blocks, row + 3);
    if (blocks != NULL)
        assert_int_equal(tdc_row_blocks_end(blocks, &error), TDC_OK);
    struct tdc_text texts;
    tdc_text_init(&texts, (size_t)1 << 20);
    for (size_t row = 0; blocks == NULL && row < BLOCK_TEST_ROWS; row++) {
        struct tdc_cell cells[3];
        tdc_text_clear(&texts);
        assert_int_equal(cells_of_row(&made, row, &texts, cells, &error), TDC_OK);
        assert_int_equal(tdc_sink_row(sink, cells, TDC_COLOUR_NONE, &error), TDC_OK);
    }
    tdc_text_free(&texts);
    closed(sink);
}

static void blocks_of_rows_keep_their_order(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.csv");
    write_in_blocks(path, 1);
    char *expected = file_content(path, NULL);
    for (int threads = 2; threads <= 5; threads++) {
        write_in_blocks(path, threads);
        char *content = file_content(path, NULL);
        assert_string_equal(content, expected);
        free(content);
    }
    free(expected);
    folder_remove(&folder);
}

static void a_row_that_fails_ends_its_file(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    struct made_rows made = {BLOCK_TEST_ROWS / 2};
    struct tdc_error error = {0};
    struct tdc_sink_spec spec = {.path = folder_file(&folder, "t.csv"),
                                 .columns = three,
                                 .column_count = 3,
                                 .rows = BLOCK_TEST_ROWS};
    struct tdc_sink *sink = opened(TDC_FORMAT_CSV, &spec);
    struct tdc_row_blocks *blocks = tdc_row_blocks_start(sink, 3, cells_of_row, &made);
    assert_non_null(blocks);
    for (size_t row = 0; row < BLOCK_TEST_ROWS; row += 100)
        tdc_row_blocks_ready(blocks, row + 100);
    assert_int_equal(tdc_row_blocks_end(blocks, &error), TDC_ERR_MEMORY);
    assert_string_equal(error.message, "row 4500");
    assert_int_equal(tdc_sink_close(sink, &error), TDC_ERR_MEMORY);
    assert_int_equal(folder_entries(&folder), 0);
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
              "{\"NPU Name\": 42, \"Cosine\": 5e-324, \"Result, \\\"final\\\"\": "
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
    closed(opened(TDC_FORMAT_JSONL, &spec));
    assert_content(path, "");
    folder_remove(&folder);
}

/* Rows that come as objects, with what stands around them. */
static void write_objects(tdc_format format, const char *path, size_t rows)
{
    struct tdc_sink_spec spec = {.path = path, .columns = one, .column_count = 1, .objects = true};
    struct tdc_sink *sink = opened(format, &spec);
    struct tdc_error error;
    assert_int_equal(tdc_sink_head(sink, "\"head\": 1", &error), TDC_OK);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(tdc_sink_object(sink, "{\"a\": 2}", 8, &error), TDC_OK);
    tdc_sink_tail(sink, "\"tail\": 3");
    closed(sink);
}

static void json_of_objects(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "t.json");
    write_objects(TDC_FORMAT_JSON, path, 2);
    assert_content(path, "{\"head\": 1,\n\"rows\": [\n{\"a\": 2},\n{\"a\": 2}\n],\n\"tail\": 3}\n");
    write_objects(TDC_FORMAT_JSON, path, 0);
    assert_content(path, "{\"head\": 1,\n\"rows\": [\n],\n\"tail\": 3}\n");
    write_objects(TDC_FORMAT_JSONL, path, 2);
    assert_content(path, "{\"head\": 1}\n{\"a\": 2}\n{\"a\": 2}\n");
    folder_remove(&folder);
}

static void numbers_without_a_word(void **state)
{
    (void)state;
    struct tdc_text out;
    struct tdc_json_object object, inner;
    tdc_text_init(&out, 1 << 16);
    tdc_object_begin(&object, &out);
    tdc_object_number(&object, "a", NAN);
    tdc_object_key(&object, "b");
    tdc_object_begin(&inner, &out);
    tdc_object_number(&inner, "c", -INFINITY);
    tdc_object_number(&inner, "d", -0.0);
    tdc_object_text(&inner, "e", NULL);
    tdc_object_truth(&inner, "f", true);
    tdc_object_end(&inner);
    tdc_object_whole(&object, "g", UINT64_MAX);
    tdc_object_number(&object, "h", INFINITY);
    tdc_object_end(&object);
    assert_string_equal(
        tdc_text_get(&out),
        "{\"a\": null, \"b\": {\"c\": null, \"d\": -0.0, \"e\": null, \"f\": true, \"not_finite\": "
        "{\"c\": \"-Infinity\"}}, \"g\": 18446744073709551615, \"h\": null, \"not_finite\": "
        "{\"a\": "
        "\"NaN\", \"h\": \"Infinity\"}}");
    tdc_text_free(&out);
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
        cmocka_unit_test(blocks_of_rows_keep_their_order),
        cmocka_unit_test(a_row_that_fails_ends_its_file),
        cmocka_unit_test(json_is_an_array_of_objects),
        cmocka_unit_test(json_of_objects),
        cmocka_unit_test(numbers_without_a_word),
        cmocka_unit_test(json_without_rows_is_valid),
        cmocka_unit_test(bad_folders_are_errors),
        cmocka_unit_test(full_disk_leaves_nothing),
        cmocka_unit_test(discarded_sinks_leave_nothing),
        cmocka_unit_test(interrupted_sinks_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
