#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "io/text/json.h"
#include "io/text/pytext.h"
#include "tests/unit/arena_fixture.h"
#include "tests/unit/io/json_data.h"

/* The way a dump is read: members by cursor, entries as trees. */
static void cursor_walks_a_dump(void **state)
{
    (void)state;
    size_t size, expected_size, entries = 0, members = 0;
    char *bytes = load_file("dump.json", &size);
    char *expected = load_file("dump_str.txt", &expected_size), *rest = expected;
    struct tdc_json_cursor cursor;
    struct tdc_text text;
    const char *key;
    size_t key_length;
    tdc_text_init(&text, (size_t)1 << 30);
    tdc_json_start(&cursor, "dump.json", bytes, size);
    assert_int_equal(tdc_json_peek(&cursor), TDC_JSON_OBJECT);
    assert_int_equal(tdc_json_enter(&cursor, &error), TDC_OK);
    for (bool first = true;; members++) {
        assert_int_equal(tdc_json_member(&cursor, &first, &arena, &key, &key_length, &error), 0);
        if (key == NULL)
            break;
        assert_int_equal(strlen(key), key_length);
        if (strcmp(key, "data") != 0) {
            assert_int_equal(tdc_json_peek(&cursor), TDC_JSON_STRING);
            assert_int_equal(tdc_json_skip(&cursor, &error), TDC_OK);
            continue;
        }
        assert_int_equal(tdc_json_enter(&cursor, &error), TDC_OK);
        for (bool first_entry = true;; entries++) {
            assert_int_equal(
                tdc_json_member(&cursor, &first_entry, &arena, &key, &key_length, &error), 0);
            if (key == NULL)
                break;
            struct tdc_json *entry;
            assert_int_equal(tdc_json_read(&cursor, &arena, &entry, &error), TDC_OK);
            tdc_text_clear(&text);
            tdc_pytext_str(&text, entry);
            assert_string_equal(tdc_text_get(&text), strsep(&rest, "\n"));
        }
    }
    assert_int_equal(tdc_json_finish(&cursor, &error), TDC_OK);
    assert_int_equal(members, 5);
    assert_true(entries > 20);
    assert_int_equal(cursor.depth, 0);
    tdc_text_free(&text);
    free(bytes);
    free(expected);
}

static void cursor_does_not_hide_repeated_keys(void **state)
{
    (void)state;
    struct tdc_json_cursor cursor;
    const char *text = "{\"\\u0061\":1,\"a\":2}";
    const char *key;
    size_t length;
    bool first = true;
    tdc_json_start(&cursor, "f.json", text, strlen(text));
    assert_int_equal(tdc_json_enter(&cursor, &error), TDC_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tdc_json_member(&cursor, &first, &arena, &key, &length, &error), TDC_OK);
        assert_string_equal(key, "a");
        assert_int_equal(length, 1);
        assert_int_equal(tdc_json_skip(&cursor, &error), TDC_OK);
    }
    assert_int_equal(tdc_json_member(&cursor, &first, &arena, &key, &length, &error), TDC_OK);
    assert_null(key);
}

static void cursor_reports_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[]", "f.json: line 1 column 1: expected an object"},
        {"", "f.json: line 1 column 1: ends where an object is expected (truncated?)"},
        {"{", "f.json: line 1 column 2: ends in the middle of an object (truncated?)"},
        {"{,", "f.json: line 1 column 2: expected a key in double quotes"},
        {"{\"a\":1 1", "f.json: line 1 column 8: expected a comma or a closing brace"},
        {"{\"a\":1,}", "f.json: line 1 column 8: expected a key in double quotes"},
        {"{\"a\":}", "f.json: line 1 column 6: expected a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_json_cursor cursor;
        const char *key = "";
        size_t length;
        bool first = true;
        tdc_json_start(&cursor, "f.json", cases[i].json, strlen(cases[i].json));
        tdc_status status = tdc_json_enter(&cursor, &error);
        while (status == TDC_OK && key != NULL) {
            status = tdc_json_member(&cursor, &first, &arena, &key, &length, &error);
            if (status == TDC_OK && key != NULL)
                status = tdc_json_skip(&cursor, &error);
        }
        assert_int_equal(status, TDC_ERR_FORMAT);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void peek_knows_the_kind(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum tdc_json_kind kind;
    } cases[] = {
        {" {}", TDC_JSON_OBJECT},      {"\n[", TDC_JSON_LIST},     {"\"x", TDC_JSON_STRING},
        {"true", TDC_JSON_TRUE},       {"false", TDC_JSON_FALSE},  {"null", TDC_JSON_NULL},
        {"-12,", TDC_JSON_INTEGER},    {"12.5", TDC_JSON_FLOAT},   {"1e5", TDC_JSON_FLOAT},
        {"-Infinity", TDC_JSON_FLOAT}, {"NaN", TDC_JSON_FLOAT},    {"Infinity", TDC_JSON_FLOAT},
        {"0", TDC_JSON_INTEGER},       {"1 .5", TDC_JSON_INTEGER}, {"", TDC_JSON_NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_json_cursor cursor;
        tdc_json_start(&cursor, "f.json", cases[i].json, strlen(cases[i].json));
        assert_int_equal(tdc_json_peek(&cursor), cases[i].kind);
    }
}

/* What the cursor entered counts, too. */
static void nesting_counts_entered_objects(void **state)
{
    (void)state;
    static char text[5 * TDC_JSON_MAX_DEPTH + 8];
    size_t size = 0;
    for (int i = 0; i < TDC_JSON_MAX_DEPTH; i++, size += 5)
        memcpy(text + size, "{\"a\":", 5);
    memcpy(text + size, "[{\"", 3);
    struct tdc_json_cursor cursor;
    struct tdc_json *value;
    const char *key;
    size_t length;
    tdc_json_start(&cursor, "f.json", text, size + 3);
    for (int i = 0; i < TDC_JSON_MAX_DEPTH; i++) {
        bool first = true;
        assert_int_equal(tdc_json_enter(&cursor, &error), TDC_OK);
        assert_int_equal(tdc_json_member(&cursor, &first, &arena, &key, &length, &error), TDC_OK);
    }
    assert_int_equal(tdc_json_read(&cursor, &arena, &value, &error), TDC_ERR_UNSUPPORTED);
    assert_int_equal(tdc_json_skip(&cursor, &error), TDC_ERR_UNSUPPORTED);
    cursor.at++;
    assert_int_equal(tdc_json_enter(&cursor, &error), TDC_ERR_UNSUPPORTED);
}

int main(void)
{
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(cursor_walks_a_dump),
        WITH_ARENA(cursor_does_not_hide_repeated_keys),
        WITH_ARENA(cursor_reports_what_is_wrong),
        WITH_ARENA(peek_knows_the_kind),
        WITH_ARENA(nesting_counts_entered_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
