#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/match/layer/layer.h"
#include "io/text/json.h"
#include "io/text/yaml_map.h"

/* ---- the function of the framework in a call stack ------------------------------------------- */

#define MS   "\"File /x/site-packages/mindspore/ops/f.py, line 3, "
#define PT   "\"File /x/site-packages/torch/f.py, line 3, "
#define USER "\"File train/net.py, line 9, in construct, x\""

static void check_function(const char *stack, bool mindspore, const char *expected)
{
    struct tdc_arena arena;
    struct tdc_json_cursor cursor;
    struct tdc_json *lines;
    tdc_arena_init(&arena, 1 << 20);
    tdc_json_start(&cursor, "stack", stack, strlen(stack));
    assert_int_equal(tdc_json_read(&cursor, &arena, &lines, NULL), TDC_OK);
    const char *found = tdc_framework_function(&arena, lines, mindspore);
    if (expected == NULL) {
        if (found != NULL)
            fail_msg("%s: found %s", stack, found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, expected);
    }
    tdc_arena_free(&arena);
}

static void function_is_the_last_frame_before_the_user(void **state)
{
    (void)state;
    check_function("[" MS "in add, x\", " USER "]", true, "add");
    check_function("[" MS "in inner, x\", " MS "in add, x\", " USER "]", true, "add");
    check_function("[" MS "in add, x\", " USER ", " MS "in later, x\"]", true, "add");
    check_function("[" MS "in add, x\"]", true, "add");
    check_function("[" PT "in add, x\", " USER "]", false, "add");
    /* either framework's frames count on either side */
    check_function("[" PT "in add, x\", " USER "]", true, "add");
    check_function("[\"File /package/torch/f.py, line 1, in a, x\"]", true, "a");
    check_function("[\"File /package/mindspore/f.py, line 1, in a, x\"]", false, "a");
    check_function("[" MS "in \\t add  more, x\"]", true, "add");
}

static void user_code_on_top_has_no_function(void **state)
{
    (void)state;
    check_function("[" USER ", " MS "in add, x\"]", true, NULL);
    check_function("[]", true, NULL);
    check_function("null", true, NULL);
    check_function("{}", true, NULL);
    check_function("\"text\"", true, NULL);
    check_function("[null, " MS "in add, x\"]", true, NULL);
    check_function("[[1], 2]", true, NULL);
    /* the place of the file decides, not the rest of the line */
    check_function("[\"File train.py, line 1, in site-packages/torch, x\"]", true, NULL);
}

static void frames_that_do_not_count(void **state)
{
    (void)state;
    check_function("[\"File site-packages/mindspore/msprobe/f.py, line 1, in add, x\"]", true,
                   NULL);
    check_function("[\"File site-packages/torch/MindSpeed/f.py, line 1, in add, x\"]", false, NULL);
    check_function("[" MS "in construct, x\"]", true, NULL);
    check_function("[" MS "in _run_construct, x\"]", true, NULL);
    check_function("[" MS "in __call__, x\"]", true, NULL);
    /* only the last frame is looked at */
    check_function("[" MS "in __call__, x\", " MS "in add, x\"]", true, "add");
    check_function("[" MS "in add, x\", " MS "in __call__, x\"]", true, NULL);
}

static void lines_too_short(void **state)
{
    (void)state;
    check_function("[\"The call stack retrieval failed.\"]", true, NULL);
    check_function("[\"File site-packages/mindspore/f.py\"]", true, NULL);
    check_function("[\"File site-packages/mindspore/f.py, line 1\"]", true, NULL);
    check_function("[\"File site-packages/mindspore/f.py, line 1,\"]", true, NULL);
    check_function("[\"File site-packages/mindspore/f.py, line 1, in\"]", true, NULL);
    check_function("[\"File site-packages/mindspore/f.py,,in  add\"]", true, "add");
    check_function("[\"\"]", true, NULL);
}

static void template_begins_the_lines(void **state)
{
    (void)state;
#define TEMPLATE "\"File Template.py, line 1, in t, x\""
    check_function("[" USER ", " TEMPLATE ", " MS "in add, x\", " USER "]", true, "add");
    /* the last Template before the end sign */
    check_function("[" TEMPLATE ", " MS "in no, x\", " TEMPLATE ", " MS "in add, x\", " USER "]",
                   true, "add");
    /* the end sign ends the lines: a framework frame that matches it is not regarded */
    check_function("[" TEMPLATE ", " MS "in construct, x\", " MS "in add, x\"]", true, NULL);
    check_function("[" TEMPLATE ", " PT "in forward, x\", " PT "in add, x\"]", false, NULL);
    check_function("[" TEMPLATE ", " PT "in backward, x\", " PT "in add, x\"]", false, NULL);
    /* each framework has its own end sign */
    check_function("[" TEMPLATE ", " MS "in forward, x\", " MS "in add, x\"]", true, "add");
    check_function("[" TEMPLATE ", " PT "in add, construct\", " PT "in b, x\"]", false, "b");
    /* no end sign, or a Template after it */
    check_function("[" TEMPLATE ", " MS "in add, x\"]", true, "add");
    check_function("[" TEMPLATE "]", true, NULL);
    check_function("[" TEMPLATE ", " USER ", " TEMPLATE ", " MS "in add, x\"]", true, NULL);
    /* before a Template an end sign is a line like any other */
    check_function("[" USER ", " TEMPLATE ", " MS "in add, x\"]", true, "add");
}

/* ---- types ----------------------------------------------------------------------------------- */

static void types_within_a_framework(void **state)
{
    (void)state;
    static const char *const mindspore[] = {"Float16", "Float32", "BFloat16"};
    static const char *const torch[] = {"torch.float16", "torch.float32", "torch.bfloat16"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            assert_true(tdc_dtypes_agree(mindspore[i], mindspore[k], false, false));
            assert_true(tdc_dtypes_agree(torch[i], torch[k], false, false));
            assert_false(tdc_dtypes_agree(mindspore[i], torch[k], false, false));
            assert_true(tdc_dtypes_agree(mindspore[i], torch[k], true, false));
        }
    assert_true(tdc_dtypes_agree("torch.int8", "torch.int8", false, false));
    assert_false(tdc_dtypes_agree("torch.int8", "torch.int16", false, false));
    assert_false(tdc_dtypes_agree("torch.float64", "torch.float32", false, false));
    assert_false(tdc_dtypes_agree("Float64", "Float32", false, false));
    assert_true(tdc_dtypes_agree("torch.float64", "torch.bfloat16", false, true));
    assert_true(tdc_dtypes_agree("Float16", "Float64", false, true));
    assert_false(tdc_dtypes_agree("torch.float64", "Float64", false, true));
    assert_false(tdc_dtypes_agree("torch.int64", "torch.float64", false, true));
    assert_false(tdc_dtypes_agree("<class 'int'>", "<class 'float'>", false, false));
}

static void classes_across_frameworks(void **state)
{
    (void)state;
    static const struct {
        const char *mindspore, *torch, *class;
    } types[] = {
        {"Int8", "torch.int8", "i"},
        {"Int16", "torch.int16", "i"},
        {"Int32", "torch.int32", "i"},
        {"Int64", "torch.int64", "i"},
        {"UInt8", "torch.uint8", "i"},
        {"UInt16", "torch.uint16", "i"},
        {"UInt32", "torch.uint32", "i"},
        {"UInt64", "torch.uint64", "i"},
        {"Float16", "torch.float16", "f"},
        {"Float32", "torch.float32", "f"},
        {"Float64", "torch.float64", "f"},
        {"BFloat16", "torch.bfloat16", "f"},
        {"Bool", "torch.bool", "b"},
        {"Complex64", "torch.complex64", "c"},
        {"Complex128", "torch.complex128", "c"},
        {"<class 'int'>", "<class 'int'>", "python"},
        {"QInt4x2", "QInt4x2", "unknown"},
        {"slice", "slice", "slice"},
    };
    size_t count = sizeof types / sizeof *types;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            assert_int_equal(tdc_dtypes_agree(types[i].mindspore, types[k].torch, true, false),
                             strcmp(types[i].class, types[k].class) == 0);
}

/* ---- names in yaml --------------------------------------------------------------------------- */

static void check_name(const char *name, const char *written)
{
    struct tdc_text text;
    struct tdc_arena arena;
    struct tdc_yaml *root;
    tdc_text_init(&text, 1 << 20);
    tdc_arena_init(&arena, 1 << 20);
    tdc_yaml_put_name(&text, name);
    if (written != NULL)
        assert_string_equal(tdc_text_get(&text), written);
    /* and reads back as it was, as key and as value */
    tdc_text_adds(&text, ": ");
    tdc_yaml_put_name(&text, name);
    tdc_text_addc(&text, '\n');
    assert_int_equal(tdc_yaml_parse(text.data, text.length, "m", &arena, &root, NULL), TDC_OK);
    assert_string_equal(root->child->key, name);
    assert_string_equal(root->child->text, name);
    assert_false(root->child->is_null);
    tdc_text_free(&text);
    tdc_arena_free(&arena);
}

static void names_survive_yaml(void **state)
{
    (void)state;
    check_name("Cell.a.b-c_d.Dense.forward.0", "Cell.a.b-c_d.Dense.forward.0");
    check_name("N/A", "N/A");
    check_name("no", "'no'");
    check_name("Null", "'Null'");
    check_name("~", "'~'");
    check_name("0", "'0'");
    check_name("", "''");
    check_name("it's", "'it''s'");
    check_name("a: b", "'a: b'");
    check_name("a #b", "'a #b'");
    check_name("- a", "'- a'");
    check_name("<lambda>", "'<lambda>'");
    check_name("a\nb", "\"a\\x0Ab\"");
    check_name("\"\\\x1b\x7f", "\"\\\"\\\\\\x1B\\x7F\"");
    check_name("\xe5\xb1\x82", NULL);
    check_name("%!&*?|>@`", NULL);
    check_name("a\xc2\x85"
               "b",
               "\"a\\x85b\"");
    check_name("a\xe2\x80\xa8", "\"a\\u2028\"");
    check_name("\xc0\x80", "\"\\x00\"");
    check_name("\xef\xbf\xbd", "'\xef\xbf\xbd'");
    check_name("\xf3\xa0\x81\x81", "\"\\U000E0041\"");
}

/* Every character there is, alone and between others. */
static void every_character_survives_yaml(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        bool tested = code < 0x3100 || (code >= 0xd700 && code < 0xe100) || code % 97 == 0 ||
                      (code & 0xfffe) == 0xfffe || (code >= 0xfe00 && code < 0x10010);
        if (!tested || (code >= 0xd800 && code < 0xe000))
            continue;
        char name[8] = "a", *to = name + 1;
        if (code != 0 && code < 0x80) {
            *to++ = (char)code;
        } else if (code < 0x800) { /* NUL takes this form, too */
            *to++ = (char)(0xc0 | code >> 6);
            *to++ = (char)(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            *to++ = (char)(0xe0 | code >> 12);
            *to++ = (char)(0x80 | (code >> 6 & 0x3f));
            *to++ = (char)(0x80 | (code & 0x3f));
        } else {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
            *to++ = (char)(0x80 | (code >> 6 & 0x3f));
            *to++ = (char)(0x80 | (code & 0x3f));
        }
        check_name(name + 1, NULL);
        *to = 'b';
        check_name(name, NULL);
    }
}

/* ---- replacing in names ---------------------------------------------------------------------- */

static void replaced_texts(void **state)
{
    (void)state;
    struct tdc_arena arena;
    tdc_arena_init(&arena, 1 << 20);
    assert_string_equal(tdc_text_replaced(&arena, "a.b.a", "a", "xyz", false), "xyz.b.xyz");
    assert_string_equal(tdc_text_replaced(&arena, "a.b.a", "a", "xyz", true), "xyz.b.a");
    assert_string_equal(tdc_text_replaced(&arena, "aaaa", "aa", "", false), "");
    assert_string_equal(tdc_text_replaced(&arena, "aaa", "aa", "b", false), "ba");
    const char *same = "abc";
    assert_ptr_equal(tdc_text_replaced(&arena, same, "x", "y", false), same);
    assert_ptr_equal(tdc_text_replaced(&arena, same, "", "y", false), same);
    tdc_arena_free(&arena);
    tdc_arena_init(&arena, 16);
    assert_null(tdc_text_replaced(&arena, "aaaaaaaaaaaaaaaa", "a", "bbbbbbbb", false));
    tdc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(function_is_the_last_frame_before_the_user),
        cmocka_unit_test(user_code_on_top_has_no_function),
        cmocka_unit_test(frames_that_do_not_count),
        cmocka_unit_test(lines_too_short),
        cmocka_unit_test(template_begins_the_lines),
        cmocka_unit_test(types_within_a_framework),
        cmocka_unit_test(classes_across_frameworks),
        cmocka_unit_test(names_survive_yaml),
        cmocka_unit_test(every_character_survives_yaml),
        cmocka_unit_test(replaced_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
