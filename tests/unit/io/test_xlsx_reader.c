#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "io/base/little_endian.h"
#include "io/table/sink_backend.h"
#include "io/table/text_table.h"
#include "tests/support/made_book.h"
#include "tests/support/sink_rows.h"
#include "tests/support/temporary_folder.h"

static struct temporary_folder folder;

static int start(void **state)
{
    (void)state;
    folder_make(&folder);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

static const char *book_path(void)
{
    return folder_file(&folder, "t.xlsx");
}

static void write_book(const struct book_part *parts, size_t count)
{
    int fd = open(book_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(make_book(fd, parts, count));
    close(fd);
}

static void write_sheet(const char *sheet)
{
    int fd = open(book_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(make_book_of(fd, sheet, strlen(sheet)));
    close(fd);
}

/* Rows with '/' behind, cells with '|' between. */
static const char *shown(const struct tdc_text_table *table)
{
    static char text[1024];
    size_t length = 0;
    for (size_t i = 0; i < table->count; i++) {
        for (size_t k = 0; k < table->rows[i].count; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       k == 0 ? "" : "|", table->rows[i].cells[k]);
        length += (size_t)snprintf(text + length, sizeof text - length, "/");
    }
    return text;
}

static void assert_sheet(const char *sheet, const char *expected)
{
    struct tdc_text_table table;
    struct tdc_error error = {0};
    write_sheet(sheet);
    if (tdc_text_table_from_xlsx(book_path(), 0, &table, &error) != TDC_OK)
        fail_msg("%s: %s", sheet, error.message);
    assert_string_equal(shown(&table), expected);
    tdc_text_table_free(&table);
}

static void assert_wrong(size_t sheet, tdc_status status, const char *reason)
{
    struct tdc_text_table table;
    struct tdc_error error = {0};
    assert_int_equal(tdc_text_table_from_xlsx(book_path(), sheet, &table, &error), status);
    if (strstr(error.message, reason) == NULL)
        fail_msg("'%s' is not in '%s'", reason, error.message);
    tdc_text_table_free(&table);
}

static void every_kind_of_cell(void **state)
{
    (void)state;
    assert_sheet(
        "<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c>"
        "<c r=\"B1\" t=\"s\"><v>1</v></c><c r=\"C1\" t=\"s\"><v>2</v></c></row>"
        "<row r=\"2\"><c r=\"A2\"><v>1.5E-05</v></c><c r=\"B2\" t=\"b\"><v>1</v></c>"
        "<c r=\"C2\" t=\"b\"><v>0</v></c></row>"
        "<row r=\"3\"><c t=\"inlineStr\"><is><t>in</t><rPh><t>aloud</t></rPh><t>line</t></is></c>"
        "<c t=\"str\"><f>A1&amp;B1</f><v>made</v></c><c t=\"e\"><v>#DIV/0!</v></c></row>"
        "</sheetData></worksheet>",
        "Name|two parts| <A\xe4\xbd\xa0\t_x0041_&/1.5E-05|True|False/inline|made|#DIV/0!/");
}

static void gaps_are_empty(void **state)
{
    (void)state;
    assert_sheet(
        "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"2\"/>"
        "<row r=\"4\"><c r=\"C4\"><v>2</v></c><c/><c r=\"AA4\"><v>3</v></c></row></sheetData>",
        "1///||2||||||||||||||||||||||||3/");
}

static void what_xml_may_hold(void **state)
{
    (void)state;
    assert_sheet(
        "\xef\xbb\xbf<?xml version='1.0' ?><!-- a -- comment --><x:sheetData xmlns:x='u'>\n"
        "<x:row\tr = '1' ><x:c t='inlineStr'><x:is><x:t><![CDATA[a]]b<&]]>c</x:t></x:is></x:c >"
        "</x:row></x:sheetData><!---->",
        "a]]b<&c/");
}

static void sheets_by_number(void **state)
{
    (void)state;
    static const char first[] = "<row><c><v>1</v></c></row>",
                      second[] = "<row><c><v>2</v></c></row>";
    const struct book_part parts[] = {
        {"xl/workbook.xml", book_sheets, sizeof book_sheets - 1},
        {"xl/_rels/workbook.xml.rels", book_relations, sizeof book_relations - 1},
        {"xl/texts.xml", book_strings, sizeof book_strings - 1},
        {"xl/sheets/a.xml", first, sizeof first - 1},
        {"xl/b.xml", second, sizeof second - 1},
    };
    write_book(parts, 5);
    for (size_t sheet = 0; sheet < 2; sheet++) {
        struct tdc_text_table table;
        struct tdc_error error = {0};
        assert_int_equal(tdc_text_table_from_xlsx(book_path(), sheet, &table, &error), TDC_OK);
        assert_string_equal(shown(&table), sheet == 0 ? "1/" : "2/");
        tdc_text_table_free(&table);
    }
    assert_wrong(2, TDC_ERR_NOT_FOUND, "no sheet 3");
    write_book(parts, 4);
    assert_wrong(1, TDC_ERR_FORMAT, "it lacks a sheet");
    write_book(parts, 2);
    assert_wrong(0, TDC_ERR_FORMAT, "it lacks its texts");
    write_book(parts, 1);
    assert_wrong(0, TDC_ERR_FORMAT, "it lacks its list of sheets");
}

static void damage_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *sheet, *reason;
    } cases[] = {
        {"<sheetData/>", "an empty sheet"},
        {"<row><c r=\"B1\"/><c r=\"A1\"/></row>", "a cell out of order"},
        {"<row><c r=\"XFE1\"/></row>", "a cell out of order"},
        {"<row><c r=\"1\"/></row>", "a cell out of order"},
        {"<row r=\"2\"/><row r=\"2\"/>", "a row out of order"},
        {"<row r=\"1048577\"/>", "a row out of order"},
        {"<row><c t=\"s\"><v>3</v></c></row>", "a text that is not there"},
        {"<row><c t=\"s\"><v>-1</v></c></row>", "a text that is not there"},
        {"<row><c t=\"s\"/></row>", "a text that is not there"},
        {"<row><c><v>1</v></c>", "ends inside a tag"},
        {"<row><c><v>1", "ends inside a tag"},
        {"<row", "attributes"},
        {"<row r=1/>", "attributes"},
        {"</row>", "more ends"},
        {"<!DOCTYPE x [<!ENTITY a \"b\">]><row/>", "document type"},
        {"<row><c><v>&a;</v></c></row>", "unknown entity"},
        {"<row><c><v>&#xD800;</v></c></row>", "unknown entity"},
        {"<row><c><v>&#0;</v></c></row>", "unknown entity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_sheet(cases[i].sheet);
        assert_wrong(0, TDC_ERR_FORMAT, cases[i].reason);
    }
    char deep[3 * 1001 + 1];
    for (size_t i = 0; i < 1001; i++)
        memcpy(deep + 3 * i, "<a>", 4);
    write_sheet(deep);
    assert_wrong(0, TDC_ERR_FORMAT, "nested too deep");
}

/* Every byte of the sheet as it lies in the file. */
static void changed_bytes_are_told(void **state)
{
    (void)state;
    write_sheet("<row><c><v>12345</v></c><c><v>67890</v></c></row>");
    size_t length = 0;
    char *bytes = file_content(book_path(), &length);
    assert_non_null(bytes);
    const unsigned char *head = (const unsigned char *)bytes;
    size_t stored = tdc_le32(head + 18), data = 30u + tdc_le16(head + 26) + tdc_le16(head + 28);
    assert_true(stored > 20);
    size_t told = 0;
    for (size_t i = data; i < data + stored; i++) {
        FILE *file = fopen(book_path(), "wb");
        assert_non_null(file);
        bytes[i] ^= 1;
        assert_int_equal(fwrite(bytes, 1, length, file), length);
        bytes[i] ^= 1;
        assert_int_equal(fclose(file), 0);
        struct tdc_text_table table;
        struct tdc_error error = {0};
        told += tdc_text_table_from_xlsx(book_path(), 0, &table, &error) != TDC_OK;
        tdc_text_table_free(&table);
    }
    assert_int_equal(told, stored);
    free(bytes);
}

static void our_own_workbooks(void **state)
{
    (void)state;
    struct tdc_sink_spec spec = {
        .path = book_path(), .columns = three, .column_count = 3, .rows = 4, .sheet = "Sheet1"};
    struct tdc_sink *sink = opened(TDC_FORMAT_XLSX, &spec);
    put(sink, text_of("a"), number_of(0.1), truth_of(true), TDC_COLOUR_RED);
    put(sink, text_of(""), number_of(-2e22), truth_of(false), 0);
    put(sink, number_of((double)INFINITY), number_of((double)NAN), text_of("\x01\r_x0041_"), 0);
    put(sink, text_of(" two\nlines "), text_of("<&>\"'"), text_of("\xe5\x90\x8d"), 0);
    closed(sink);
    struct tdc_text_table table;
    struct tdc_error error = {0};
    if (tdc_text_table_from_xlsx(book_path(), 0, &table, &error) != TDC_OK)
        fail_msg("%s", error.message);
    assert_string_equal(shown(&table), "NPU Name|Cosine|Result, \"final\"/a|0.1|True/|-2e+22|False/"
                                       "inf|nan|\x01\r_x0041_/ two\nlines |<&>\"'|\xe5\x90\x8d/");
    assert_int_equal(tdc_text_column(&table, "Cosine"), 1);
    tdc_text_table_free(&table);
}

static void what_is_no_workbook(void **state)
{
    (void)state;
    assert_wrong(0, TDC_ERR_NOT_FOUND, "t.xlsx");
    static const char *const contents[] = {"", "PK", "Name,Value\n1,2\n"};
    for (size_t i = 0; i < 3; i++) {
        FILE *file = fopen(book_path(), "wb");
        assert_non_null(file);
        fputs(contents[i], file);
        assert_int_equal(fclose(file), 0);
        assert_wrong(0, TDC_ERR_FORMAT, "t.xlsx");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(every_kind_of_cell), TEST(gaps_are_empty),      TEST(what_xml_may_hold),
        TEST(sheets_by_number),   TEST(damage_is_told),      TEST(changed_bytes_are_told),
        TEST(our_own_workbooks),  TEST(what_is_no_workbook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
