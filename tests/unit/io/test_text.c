#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "io/base/arena.h"
#include "io/base/error.h"
#include "io/base/text.h"

static void text_grows_and_stops_at_its_limit(void **state)
{
    (void)state;
    struct tdc_text text;
    tdc_text_init(&text, 100);
    assert_string_equal(tdc_text_get(&text), "");
    for (int i = 0; i < 100; i++)
        assert_true(tdc_text_addc(&text, 'x'));
    assert_int_equal(text.length, 100);
    assert_false(tdc_text_addc(&text, 'y'));
    assert_true(text.failed);
    assert_int_equal(strlen(tdc_text_get(&text)), 100);
    tdc_text_clear(&text);
    assert_true(tdc_text_addf(&text, "%d-%s", 7, "seven"));
    assert_string_equal(tdc_text_get(&text), "7-seven");
    tdc_text_free(&text);
}

static void arena_respects_limit_and_alignment(void **state)
{
    (void)state;
    struct tdc_arena arena;
    tdc_arena_init(&arena, (size_t)1 << 20);
    for (size_t size = 0; size < 100; size++) {
        void *memory = tdc_arena_take(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, 0xee, size);
    }
    assert_null(tdc_arena_take(&arena, (size_t)1 << 20));
    assert_null(tdc_arena_take(&arena, SIZE_MAX));
    assert_null(tdc_arena_zeroed(&arena, SIZE_MAX / 2, 3));
    assert_string_equal(tdc_arena_text(&arena, "abcdef", 3), "abc");
    tdc_arena_reset(&arena);
    assert_non_null(tdc_arena_take(&arena, (size_t)1 << 17));
    tdc_arena_free(&arena);
    assert_int_equal(arena.used, 0);
}

static void error_is_one_line(void **state)
{
    (void)state;
    struct tdc_error error;
    assert_int_equal(tdc_fail(&error, TDC_ERR_FORMAT, "bad\nname\x1b[31m"), TDC_ERR_FORMAT);
    assert_string_equal(error.message, "bad name [31m");
    assert_int_equal(tdc_fail(NULL, TDC_ERR_READ, "x"), TDC_ERR_READ);
    tdc_fail_errno(&error, TDC_ERR_READ, 2, "a/b");
    assert_string_equal(error.message, "a/b: No such file or directory");
}

static void check_printable(const char *text, const char *expected)
{
    char room[128];
    assert_int_equal(tdc_printable(text, room, sizeof room), strlen(expected));
    assert_string_equal(room, expected);
    assert_int_equal(tdc_printable(text, NULL, 0), strlen(expected));
}

static void terminal_sees_no_controls(void **state)
{
    (void)state;
    check_printable("", "");
    check_printable("Torch.add.0 \xe5\xb1\x82 \xc3\xa9", "Torch.add.0 \xe5\xb1\x82 \xc3\xa9");
    check_printable("a\x1b[31m\n\x7f", "a\\x1b[31m\\x0a\\x7f");
    check_printable("\xc2\x9b"
                    "1m",
                    "\\u009b1m");
    check_printable("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8", "\\u202e\\u2066\\u2028");
    check_printable("\xf3\xa0\x81\x81", "\\U000e0041");
    check_printable("a\xc0\x80"
                    "b",
                    "a\\x00b");
    /* a byte that is no character, half a surrogate pair, a true U+FFFD */
    check_printable("\x9b\xff", "\\x9b\\xff");
    check_printable("\xed\xa0\x80", "\\xed\\xa0\\x80");
    check_printable("\xef\xbf\xbd", "\xef\xbf\xbd");
    check_printable("\xf0\x9f\x98", "\\xf0\\x9f\\x98");
    char room[8];
    assert_int_equal(tdc_printable("abcd\x1b", room, sizeof room), 8);
    assert_string_equal(room, "abcd"); /* an escape is not cut in two */
    assert_int_equal(tdc_printable("\x1b\x1b"
                                   "ab",
                                   room, 5),
                     10);
    assert_string_equal(room, "\\x1b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_and_stops_at_its_limit),
        cmocka_unit_test(arena_respects_limit_and_alignment),
        cmocka_unit_test(error_is_one_line),
        cmocka_unit_test(terminal_sees_no_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
