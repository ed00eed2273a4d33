/* arena_fixture.h - an arena and an error for each test of a reader. */
#ifndef TDC_TEST_ARENA_FIXTURE_H
#define TDC_TEST_ARENA_FIXTURE_H

#include <string.h>

#include "io/base/arena.h"
#include "tdcmp.h"

static struct tdc_arena arena;
static struct tdc_error error;

static int set_up(void **state)
{
    (void)state;
    tdc_arena_init(&arena, (size_t)1 << 30);
    memset(&error, 0, sizeof error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tdc_arena_free(&arena);
    return 0;
}

#endif
