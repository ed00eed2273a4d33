#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "io/text/pytext.h"
#include "io/text/unicode_printable.h"

#define LIMIT ((size_t)1 << 20)

static void check_repr(const char *text, size_t length, const char *expected)
{
    struct tdc_text out;
    tdc_text_init(&out, LIMIT);
    tdc_pytext_repr_string(&out, text, length);
    assert_string_equal(tdc_text_get(&out), expected);
    tdc_text_free(&out);
}

static void strings_are_quoted_as_python_does(void **state)
{
    (void)state;
    static const struct {
        const char *text, *repr;
    } cases[] = {
        {"", "''"},
        {"a", "'a'"},
        {"it's", "\"it's\""},
        {"say \"x\"", "'say \"x\"'"},
        {"it's \"x\"", "'it\\'s \"x\"'"},
        {"back\\slash", "'back\\\\slash'"},
        {"\n\t\r\x1f\x7f", "'\\n\\t\\r\\x1f\\x7f'"},
        {"\xc2\x80\xc2\xa0\xc2\xad\xc3\xbf\xc4\x80", "'\\x80\\xa0\\xad\xc3\xbf\xc4\x80'"},
        {"\xe6\x97\xa5\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf", "'\xe6\x97\xa5\\u200b\\u2028\\ufeff'"},
        {"\xf0\x9f\x98\x80\xf3\xa0\x80\x81\xf4\x8f\xbf\xbf",
         "'\xf0\x9f\x98\x80\\U000e0001\\U0010ffff'"},
        {"\xed\xa0\x80x\xed\xbf\xbf", "'\\ud800x\\udfff'"},
        {"\xff\xc1\x80\xe0\x80\x80\xf5", "'\\udcff\\udcc1\\udc80\\udce0\\udc80\\udc80\\udcf5'"},
        {"a\xc0\x80"
         "b",
         "'a\\x00b'"}, /* as texts of JSON carry a NUL */
        {"cut \xe6\x97", "'cut \\udce6\\udc97'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_repr(cases[i].text, strlen(cases[i].text), cases[i].repr);
    check_repr("a\0b", 3, "'a\\x00b'");
    check_repr(NULL, 0, "''");
}

/* Count and polynomial hash of str.isprintable over all characters, computed by Python 3.11. */
static void printable_characters_are_pythons(void **state)
{
    (void)state;
    uint64_t count = 0, hash = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        bool printable = tdc_unicode_printable(code);
        count += printable;
        hash = hash * 31 + printable;
    }
    assert_int_equal(count, 144516);
    assert_int_equal(hash, 0x9ca6d5bcb9056210u);
    assert_false(tdc_unicode_printable(0x110000));
    assert_false(tdc_unicode_printable(UINT32_MAX));
}

static void check_str(const char *json, const char *expected)
{
    struct tdc_arena arena;
    struct tdc_text out;
    struct tdc_json_cursor cursor;
    struct tdc_json *value;
    tdc_arena_init(&arena, LIMIT);
    tdc_text_init(&out, LIMIT);
    tdc_json_start(&cursor, "json", json, strlen(json));
    assert_int_equal(tdc_json_read(&cursor, &arena, &value, NULL), TDC_OK);
    tdc_pytext_str(&out, value);
    assert_string_equal(tdc_text_get(&out), expected);
    tdc_text_free(&out);
    tdc_arena_free(&arena);
}

static void values_have_pythons_str(void **state)
{
    (void)state;
    check_str("null", "None");
    check_str("true", "True");
    check_str("false", "False");
    check_str("-0", "0");
    check_str("12345678901234567890123", "12345678901234567890123");
    check_str("2.50", "2.5");
    check_str("1E-7", "1e-07");
    check_str("NaN", "nan");
    check_str("-Infinity", "-inf");
    check_str("1e999", "inf");
    check_str("\"it's\\n\"", "it's\n");
    check_str("[]", "[]");
    check_str("{}", "{}");
    check_str("[0, 5, null]", "[0, 5, None]");
    check_str("[\"a\", [\"it's\"], {\"k\": [], \"l\": {}, \"m\": 1.0}, []]",
              "['a', [\"it's\"], {'k': [], 'l': {}, 'm': 1.0}, []]");
    check_str("{\"a\": {\"b\": {\"c\": 1}}, \"d\": 2}", "{'a': {'b': {'c': 1}}, 'd': 2}");
}

/* A value read as an element: its siblings must not show. */
static void str_of_an_element_is_only_the_element(void **state)
{
    (void)state;
    const char *json = "[[1, [2]], 3]";
    struct tdc_arena arena;
    struct tdc_text out;
    struct tdc_json_cursor cursor;
    struct tdc_json *value;
    tdc_arena_init(&arena, LIMIT);
    tdc_text_init(&out, LIMIT);
    tdc_json_start(&cursor, "json", json, strlen(json));
    assert_int_equal(tdc_json_read(&cursor, &arena, &value, NULL), TDC_OK);
    tdc_pytext_str(&out, value->child);
    assert_string_equal(tdc_text_get(&out), "[1, [2]]");
    tdc_text_clear(&out);
    tdc_pytext_str(&out, value->child->next);
    assert_string_equal(tdc_text_get(&out), "3");
    tdc_text_free(&out);
    tdc_text_init(&out, 5);
    tdc_pytext_str(&out, value);
    assert_true(out.failed);
    tdc_text_free(&out);
    tdc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_quoted_as_python_does),
        cmocka_unit_test(printable_characters_are_pythons),
        cmocka_unit_test(values_have_pythons_str),
        cmocka_unit_test(str_of_an_element_is_only_the_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
