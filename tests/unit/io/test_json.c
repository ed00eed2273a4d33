#include <math.h>
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

/* Reads a whole text from memory of exactly its size, both ways, which must agree. */
static tdc_status read_bytes(const char *bytes, size_t size, struct tdc_json **value)
{
    char *exact = malloc(size != 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    struct tdc_json_cursor cursor;
    struct tdc_error skipping = {0};
    tdc_json_start(&cursor, "f.json", exact, size);
    tdc_status skipped = tdc_json_skip(&cursor, &skipping);
    if (skipped == TDC_OK)
        skipped = tdc_json_finish(&cursor, &skipping);
    tdc_json_start(&cursor, "f.json", exact, size);
    tdc_status status = tdc_json_read(&cursor, &arena, value, &error);
    if (status == TDC_OK)
        status = tdc_json_finish(&cursor, &error);
    assert_int_equal(skipped, status);
    if (status != TDC_OK)
        assert_string_equal(skipping.message, error.message);
    free(exact);
    return status;
}

static struct tdc_json *read_text(const char *text)
{
    struct tdc_json *value = NULL;
    if (read_bytes(text, strlen(text), &value) != TDC_OK)
        fail_msg("%s", error.message);
    assert_non_null(value);
    return value;
}

static void values_keep_kind_text_and_order(void **state)
{
    (void)state;
    const struct tdc_json *root =
        read_text(" {\"n\": null, \"t\": true, \"f\": false, \"i\": -12, \"d\": 2.50, "
                  "\"s\": \"x\\u0000y\", \"l\": [1, [2], {}], \"nan\": NaN, \"inf\": -Infinity} ");
    assert_int_equal(root->kind, TDC_JSON_OBJECT);
    assert_int_equal(root->children, 9);
    assert_string_equal(root->child->key, "n");
    assert_string_equal(root->child->next->key, "t");
    assert_int_equal(tdc_json_get(root, "n")->kind, TDC_JSON_NULL);
    assert_int_equal(tdc_json_get(root, "t")->kind, TDC_JSON_TRUE);
    assert_int_equal(tdc_json_get(root, "f")->kind, TDC_JSON_FALSE);
    const struct tdc_json *i = tdc_json_get(root, "i");
    assert_int_equal(i->kind, TDC_JSON_INTEGER);
    assert_string_equal(i->text, "-12");
    assert_true(i->number == -12.0);
    const struct tdc_json *d = tdc_json_get(root, "d");
    assert_int_equal(d->kind, TDC_JSON_FLOAT);
    assert_string_equal(d->text, "2.50");
    assert_true(d->number == 2.5);
    const struct tdc_json *s = tdc_json_get(root, "s");
    assert_int_equal(s->length, 4); /* a NUL is carried, and ends nothing */
    assert_string_equal(s->text, "x\xc0\x80y");
    const struct tdc_json *l = tdc_json_get(root, "l");
    assert_int_equal(l->children, 3);
    assert_int_equal(l->child->next->kind, TDC_JSON_LIST);
    assert_null(l->child->next->next->child);
    assert_true(isnan(tdc_json_get(root, "nan")->number));
    assert_true(tdc_json_get(root, "inf")->number == -INFINITY);
    assert_string_equal(tdc_json_get(root, "inf")->text, "-Infinity");
    assert_null(tdc_json_get(root, "missing"));
    assert_null(tdc_json_get(l, "n"));
    assert_null(tdc_json_get(NULL, "n"));
}

static void numbers_follow_python(void **state)
{
    (void)state;
    const struct tdc_json *zero = read_text("-0");
    assert_int_equal(zero->kind, TDC_JSON_INTEGER);
    assert_string_equal(zero->text, "0");
    assert_false(signbit(zero->number));
    assert_true(signbit(read_text("-0.0")->number));
    assert_true(isinf(read_text("1e999")->number));
    const struct tdc_json *large = read_text("123456789012345678901234567890");
    assert_int_equal(large->kind, TDC_JSON_INTEGER);
    assert_string_equal(large->text, "123456789012345678901234567890");
    assert_true(large->number == 123456789012345678901234567890.0);
}

static void repeated_key_keeps_first_place_and_last_value(void **state)
{
    (void)state;
    const struct tdc_json *root =
        read_text("{\"a\": [1, 2], \"b\": 2, \"\\u0061\": {\"x\": 1}, \"b\": \"last\", \"c\": 0}");
    assert_int_equal(root->children, 3);
    assert_string_equal(root->child->key, "a");
    assert_int_equal(root->child->kind, TDC_JSON_OBJECT);
    assert_int_equal(root->child->children, 1);
    assert_string_equal(root->child->next->key, "b");
    assert_string_equal(root->child->next->text, "last");
    assert_string_equal(root->child->next->next->key, "c");
    assert_null(root->child->next->next->next);
}

/* 2e5 different keys, each given twice: only an index finishes this. */
static void large_object_takes_linear_time(void **state)
{
    (void)state;
    const int members = 200000;
    size_t room = (size_t)members * 2 * 24 + 16, length = 0;
    char *text = malloc(room);
    assert_non_null(text);
    text[length++] = '{';
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < members; i++)
            length += (size_t)snprintf(text + length, room - length, "%s\"key%d\":%d",
                                       length == 1 ? "" : ",", i, i + round);
    text[length++] = '}';
    struct tdc_json_cursor cursor;
    struct tdc_json *root;
    tdc_json_start(&cursor, "f.json", text, length);
    assert_int_equal(tdc_json_read(&cursor, &arena, &root, &error), TDC_OK);
    assert_int_equal(root->children, members);
    int i = 0;
    for (const struct tdc_json *node = root->child; node != NULL; node = node->next, i++)
        if (node->number != i + 1)
            fail_msg("member %d is %s", i, node->text);
    assert_int_equal(i, members);
    free(text);
}

static void strings_are_unescaped(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"\"\"", ""},
        {"\"plain text longer than eight bytes\"", "plain text longer than eight bytes"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u65E5\"", "A\xc3\xa9\xe6\x97\xa5"},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
        {"\"\\ud83d\"", "\xed\xa0\xbd"},
        {"\"\\ude00\\ud83d\"", "\xed\xb8\x80\xed\xa0\xbd"},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xed\xa0\xbd\xf0\x9f\x98\x80"},
        {"\"\\ud83dx\"", "\xed\xa0\xbdx"},
        {"\"\xf0\x9f\x98\x80 \xc3\xa9\"", "\xf0\x9f\x98\x80 \xc3\xa9"},
        {"\"\x7f\"", "\x7f"},
        {"\xef\xbb\xbf\"bom\"", "bom"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tdc_json *value = read_text(cases[i].json);
        assert_int_equal(value->kind, TDC_JSON_STRING);
        assert_string_equal(value->text, cases[i].text);
        assert_int_equal(value->length, strlen(cases[i].text));
    }
}

static void malformed_text_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"", "f.json: line 1 column 1: ends where a value is expected (truncated?)"},
        {" \n ", "f.json: line 2 column 2: ends where a value is expected (truncated?)"},
        {"{", "f.json: line 1 column 2: ends in the middle of an object (truncated?)"},
        {"{\"a\"", "f.json: line 1 column 5: ends in the middle of an object (truncated?)"},
        {"{\"a\":", "f.json: line 1 column 6: ends where a value is expected (truncated?)"},
        {"{\"a\":1", "f.json: line 1 column 7: ends in the middle of an object (truncated?)"},
        {"{\"a\":1,", "f.json: line 1 column 8: ends in the middle of an object (truncated?)"},
        {"[1", "f.json: line 1 column 3: ends in the middle of a list (truncated?)"},
        {"[", "f.json: line 1 column 2: ends in the middle of a list (truncated?)"},
        {"[\n \"ab", "f.json: line 2 column 5: ends in the middle of a string (truncated?)"},
        {"\"a\\", "f.json: line 1 column 4: ends in the middle of a string (truncated?)"},
        {"\"\\u00", "f.json: line 1 column 6: ends in the middle of a string (truncated?)"},
        {"\"\xe2\x82", "f.json: line 1 column 3: ends in the middle of a string (truncated?)"},
        {"-", "f.json: line 1 column 2: ends in the middle of a number (truncated?)"},
        {"1.", "f.json: line 1 column 3: ends in the middle of a number (truncated?)"},
        {"1e+", "f.json: line 1 column 4: ends in the middle of a number (truncated?)"},
        {"-Inf", "f.json: line 1 column 5: ends in the middle of a word (truncated?)"},
        {"tru", "f.json: line 1 column 4: ends in the middle of a word (truncated?)"},
        {"{\n \"a\": 1\n \"b\": 2}",
         "f.json: line 3 column 2: expected a comma or a closing brace"},
        {"[1 2]", "f.json: line 1 column 4: expected a comma or a closing bracket"},
        {"[1}", "f.json: line 1 column 3: expected a comma or a closing bracket"},
        {"{\"a\":1]", "f.json: line 1 column 7: expected a comma or a closing brace"},
        {"{\"a\" 1}", "f.json: line 1 column 6: expected a colon"},
        {"{a: 1}", "f.json: line 1 column 2: expected a key in double quotes"},
        {"{\"a\": 1,}", "f.json: line 1 column 9: expected a key in double quotes"},
        {"[1,]", "f.json: line 1 column 4: expected a value"},
        {"[,1]", "f.json: line 1 column 2: expected a value"},
        {"nan", "f.json: line 1 column 1: expected a value"},
        {"+1", "f.json: line 1 column 1: expected a value"},
        {".5", "f.json: line 1 column 1: expected a value"},
        {"\f1", "f.json: line 1 column 1: expected a value"},
        {"01", "f.json: line 1 column 1: malformed number"},
        {"-a", "f.json: line 1 column 1: malformed number"},
        {"-NaN", "f.json: line 1 column 1: malformed number"},
        {"1.e5", "f.json: line 1 column 1: malformed number"},
        {"[1e]", "f.json: line 1 column 2: malformed number"},
        {"1 2", "f.json: line 1 column 3: expected the end of the file"},
        {"{}}", "f.json: line 1 column 3: expected the end of the file"},
        {"\"a\tb\"", "f.json: line 1 column 3: control character in a string"},
        {"\"a\nb\"", "f.json: line 1 column 3: control character in a string"},
        {"\"\\x41\"", "f.json: line 1 column 2: unknown escape in a string"},
        {"\"\\u12g4\"", "f.json: line 1 column 2: malformed \\u escape in a string"},
        {"\"\xc3\xa9\\q\"", "f.json: line 1 column 3: unknown escape in a string"},
        {"\"a\xff\"", "f.json: byte 2: not valid UTF-8"},
        {"\"\xc0\x80\"", "f.json: byte 1: not valid UTF-8"},
        {"\"\xed\xa0\x80\"", "f.json: byte 1: not valid UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "f.json: byte 1: not valid UTF-8"},
        {"\"\xe2\x82\"", "f.json: byte 1: not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_json *value;
        assert_int_equal(read_bytes(cases[i].json, strlen(cases[i].json), &value), TDC_ERR_FORMAT);
        assert_string_equal(error.message, cases[i].message);
    }
}

static size_t from_hex(const char *hex, char *bytes)
{
    size_t size = 0;
    for (; hex[0] != '-' && hex[0] != '\0'; hex += 2) {
        unsigned byte;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        bytes[size++] = (char)byte;
    }
    return size;
}

/* In place; the room is twice what hexadecimal digits stand for. */
static size_t carry_nul(char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\0')
            continue;
        memmove(bytes + i + 2, bytes + i + 1, size++ - i - 1);
        bytes[i++] = (char)0xc0;
        bytes[i] = (char)0x80;
    }
    return size;
}

/* Input and what Python makes of it: error, or the str of the value. */
static void agrees_with_python(void **state)
{
    (void)state;
    size_t size, lines = 0;
    char *table = load_file("python_cases.txt", &size), *rest = table;
    char *input = malloc(size), *expected = malloc(size);
    assert_true(input != NULL && expected != NULL);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0'; lines++) {
        char *blank = strchr(line, ' ');
        assert_non_null(blank);
        *blank = '\0';
        size_t input_size = from_hex(line, input);
        struct tdc_json *value;
        tdc_status status = read_bytes(input, input_size, &value);
        if (strcmp(blank + 1, "error") == 0) {
            if (status != TDC_ERR_FORMAT)
                fail_msg("%s accepted", line);
            continue;
        }
        if (status != TDC_OK)
            fail_msg("%s: %s", line, error.message);
        size_t expected_size = carry_nul(expected, from_hex(blank + 1, expected));
        struct tdc_text text;
        tdc_text_init(&text, (size_t)1 << 30);
        tdc_pytext_str(&text, value);
        if (text.length != expected_size ||
            memcmp(tdc_text_get(&text), expected, expected_size) != 0)
            fail_msg("%s gives %s", line, tdc_text_get(&text));
        tdc_text_free(&text);
    }
    assert_true(lines > 1000);
    free(table);
    free(input);
    free(expected);
}

static void cut_dump_is_an_error_at_any_byte(void **state)
{
    (void)state;
    const char *names[] = {"dump.json", "stack.json"};
    for (size_t n = 0; n < 2; n++) {
        size_t size;
        char *bytes = load_file(names[n], &size);
        size_t last = size;
        while (bytes[last - 1] != '}')
            last--;
        struct tdc_json *value;
        /* the time grows with the square: every byte at first, then every 31st */
        for (size_t cut = 0; cut < last; cut += cut < 4096 ? 1 : 31) {
            assert_int_equal(read_bytes(bytes, cut, &value), TDC_ERR_FORMAT);
            assert_non_null(strstr(error.message, "(truncated?)"));
            assert_null(value);
            tdc_arena_reset(&arena);
        }
        for (size_t cut = last; cut <= size; cut++)
            assert_int_equal(read_bytes(bytes, cut, &value), TDC_OK);
        free(bytes);
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    static char text[2 * 100000 + 1];
    for (size_t depth = TDC_JSON_MAX_DEPTH - 1; depth <= 100000; depth = depth * 2 - depth % 2) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        struct tdc_json *value;
        tdc_status status = read_bytes(text, 2 * depth, &value);
        assert_int_equal(status, depth <= TDC_JSON_MAX_DEPTH ? TDC_OK : TDC_ERR_UNSUPPORTED);
    }
    struct tdc_json *value;
    memset(text, '[', TDC_JSON_MAX_DEPTH + 1);
    memset(text + TDC_JSON_MAX_DEPTH, ']', TDC_JSON_MAX_DEPTH);
    assert_int_equal(read_bytes(text, (size_t)2 * TDC_JSON_MAX_DEPTH, &value), TDC_OK);
    struct tdc_text out;
    tdc_text_init(&out, (size_t)1 << 30);
    tdc_pytext_str(&out, value);
    assert_false(out.failed);
    assert_memory_equal(tdc_text_get(&out), text, (size_t)2 * TDC_JSON_MAX_DEPTH);
    tdc_text_free(&out);
    memset(text, '[', TDC_JSON_MAX_DEPTH + 1);
    assert_int_equal(read_bytes(text, TDC_JSON_MAX_DEPTH + 1, &value), TDC_ERR_UNSUPPORTED);
    assert_string_equal(error.message, "f.json: byte 1000: nested deeper than 1000");
}

/* Wherever the memory ends - in a node, a key index, its growth - the read ends with a message. */
static void memory_limit_ends_the_read(void **state)
{
    (void)state;
    const size_t members = 20000;
    char *text = malloc(members * 32);
    size_t size = 0, refused = 0, limit = 0;
    assert_non_null(text);
    for (size_t i = 0; i < members; i++)
        size += (size_t)sprintf(text + size, "%s\"k\\n%zu\": [%zu]", i == 0 ? "{" : ",", i, i);
    text[size++] = '}';
    tdc_status status = TDC_ERR_MEMORY;
    for (; status != TDC_OK; limit += (size_t)1 << 17) {
        struct tdc_arena small;
        struct tdc_json_cursor cursor;
        struct tdc_json *value;
        tdc_arena_init(&small, limit);
        tdc_json_start(&cursor, "f.json", text, size);
        status = tdc_json_read(&cursor, &small, &value, &error);
        tdc_arena_free(&small);
        if (status == TDC_OK)
            break;
        assert_int_equal(status, TDC_ERR_MEMORY);
        assert_non_null(strstr(error.message, "f.json: too large for the memory limit"));
        refused++;
    }
    assert_true(refused > 10);
    free(text);
}

/* The text of a value, in the arena. */
static const char *shown(const struct tdc_json *value)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 20);
    tdc_pytext_str(&text, value);
    assert_false(text.failed);
    const char *kept = tdc_arena_text(&arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return kept;
}

/* Objects whose keys, order and blanks are those of others before them take another way. */
static void objects_alike_are_read_as_if_alone(void **state)
{
    (void)state;
    static const char leaf[] =
        "{\n  \"type\": \"torch.Tensor\",\n  \"shape\": [\n   8,\n   16\n  ],\n"
        "  \"Max\": 0.25,\n  \"grad\": true\n }";
    static const char *const objects[] = {
        "{\n  \"type\": \"torch.float32\",\n  \"shape\": [\n   1\n  ],\n  \"Max\": -1.5e-07,\n  "
        "\"grad\": null\n }",
        "{\n  \"type\": \"a\\u00e9\\n\",\n  \"shape\": [],\n  \"Max\": NaN,\n  \"grad\": false\n }",
        "{\n  \"type\": \"\xc3\xa9\",\n  \"shape\": [[1], {}],\n  \"Max\": -0,\n  \"grad\": -0.0\n "
        "}",
        "{\n  \"type\": {\"type\": 1},\n  \"shape\": null,\n  \"Max\": 12345678901234567890123,\n  "
        "\"grad\": 1e400\n }",
        "{\n  \"type\": 1,\n  \"shape\": 2,\n  \"Max\": 3,\n  \"type\": 4\n }",
        "{\n  \"type\": 1,\n  \"shape\": 2,\n  \"Max\": 3,\n  \"grad\": 4,\n  \"more\": 5\n }",
        "{\n  \"type\": 1,\n  \"shape\": 2,\n  \"Max\": 3\n }",
        "{\"type\":1,\"shape\":[2,3,4],\"Max\":0.1,\"grad\":\"\"}",
        "{\"type\":1 ,\"shape\":[2 , 3],\"Max\":0.1,\"grad\":\"\"}",
        "{}",
    };
    char text[4096];
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        const char *alone = shown(read_text(objects[i])), *first = shown(read_text(leaf));
        size_t size = (size_t)snprintf(text, sizeof text, "[%s, %s, %s, %s, %s, %s]", leaf, leaf,
                                       objects[i], objects[i], leaf, objects[i]);
        const struct tdc_json *value = read_text(text)->child;
        const char *const expected[] = {first, first, alone, alone, first, alone};
        for (size_t k = 0; k < 6; k++, value = value->next)
            assert_string_equal(shown(value), expected[k]);
        assert_null(value);
        struct tdc_json *cut;
        for (size_t length = 1; length < size; length++)
            assert_int_not_equal(read_bytes(text, length, &cut), TDC_OK);
    }
}

int main(void)
{
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(values_keep_kind_text_and_order),
        WITH_ARENA(numbers_follow_python),
        WITH_ARENA(repeated_key_keeps_first_place_and_last_value),
        WITH_ARENA(large_object_takes_linear_time),
        WITH_ARENA(strings_are_unescaped),
        WITH_ARENA(malformed_text_is_named),
        WITH_ARENA(agrees_with_python),
        WITH_ARENA(cut_dump_is_an_error_at_any_byte),
        WITH_ARENA(nesting_is_bounded),
        WITH_ARENA(memory_limit_ends_the_read),
        WITH_ARENA(objects_alike_are_read_as_if_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
