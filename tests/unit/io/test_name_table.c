/* Numbers of texts: in the order they first appear, the same for the same text, copies that outlive
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/base/name_table.h"

static void numbers_are_given_once(void **state)
{
    (void)state;
    struct tdc_name_table table;
    tdc_names_init(&table);
    bool fresh;
    assert_int_equal(tdc_names_find(&table, "a", 1), TDC_NAME_NONE);
    assert_int_equal(tdc_names_put(&table, "a", 1, &fresh), 0);
    assert_true(fresh);
    assert_int_equal(tdc_names_put(&table, "ab", 2, &fresh), 1);
    assert_int_equal(tdc_names_put(&table, "ab", 1, &fresh), 0);
    assert_false(fresh);
    assert_int_equal(tdc_names_find(&table, "ab", 2), 1);
    tdc_names_free(&table);
}

/* Thousands of them, from one buffer that is written over each time. */
static void kept_texts_are_copies(void **state)
{
    (void)state;
    struct tdc_name_table table;
    struct tdc_arena arena;
    tdc_names_init(&table);
    tdc_arena_init(&arena, 1 << 20);
    char text[40];
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 5000; i++) {
            size_t length = (size_t)snprintf(text, sizeof text, "Module.layers.%u.forward", i);
            assert_int_equal(tdc_names_keep(&table, &arena, text, length), i);
        }
    assert_int_equal(table.count, 5000);
    assert_string_equal(table.keys[4711].text, "Module.layers.4711.forward");
    tdc_names_free(&table);
    tdc_arena_free(&arena);
}

/* An arena that is full: the text has no number, and those before keep theirs. */
static void without_room_there_is_none(void **state)
{
    (void)state;
    struct tdc_name_table table;
    struct tdc_arena arena;
    tdc_names_init(&table);
    tdc_arena_init(&arena, 1 << 20);
    static char large[1 << 21];
    memset(large, 'x', sizeof large);
    assert_int_equal(tdc_names_keep(&table, &arena, "small", 5), 0);
    assert_int_equal(tdc_names_keep(&table, &arena, large, sizeof large), TDC_NAME_NONE);
    assert_int_equal(tdc_names_find(&table, large, sizeof large), TDC_NAME_NONE);
    assert_int_equal(tdc_names_keep(&table, &arena, "small", 5), 0);
    assert_int_equal(table.count, 1);
    tdc_names_free(&table);
    tdc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_given_once),
        cmocka_unit_test(kept_texts_are_copies),
        cmocka_unit_test(without_room_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
