#include "io/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/memory_limit.h"
#include "io/platform/platform.h"

#define BLOCK_SIZE ((size_t)1 << 18)
#define BLOCK_MOST ((size_t)8 << 20) /* what grows takes half as much again, up to so much */
#define HUGE_PAGE  ((size_t)2 << 20) /* asked for in blocks of at least twice this size */
#define KEPT_MOST  ((size_t)1 << 28) /* bytes kept over a reset */

void tdc_arena_init(struct tdc_arena *arena, size_t limit)
{
    arena->blocks = NULL;
    arena->used = 0;
    arena->limit = limit;
    arena->hint = 0;
    arena->refused = false;
    arena->exhausted = false;
    size_t process = tdc_memory_limit();
    if (arena->limit > process)
        arena->limit = process;
}

void tdc_arena_free(struct tdc_arena *arena)
{
    struct tdc_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct tdc_arena_block *older = block->older;
        free(block);
        block = older;
    }
    arena->blocks = NULL;
    arena->used = 0;
}

void tdc_arena_reset(struct tdc_arena *arena)
{
    arena->refused = arena->exhausted = false;
    struct tdc_arena_block *only = arena->blocks;
    if (only != NULL && only->older == NULL && only->size <= KEPT_MOST) {
        only->used = 0;
        arena->used = sizeof *only + only->size;
        return;
    }
    size_t taken = arena->used;
    tdc_arena_free(arena);
    arena->hint = taken < KEPT_MOST ? taken : 0;
}

/* A page fault per 4 KiB costs more than most work on the page: large blocks ask for large pages.
 */
static struct tdc_arena_block *allocate(size_t whole)
{
    if (whole < 2 * HUGE_PAGE)
        return malloc(whole);
    void *memory = NULL;
    if (posix_memalign(&memory, HUGE_PAGE, whole) != 0)
        return NULL;
    tdc_pages_advise(memory, whole, TDC_PAGES_LARGE);
    return memory;
}

static struct tdc_arena_block *new_block(struct tdc_arena *arena, size_t content)
{
    size_t size = arena->used / 2 < BLOCK_MOST ? arena->used / 2 : BLOCK_MOST;
    if (size < BLOCK_SIZE || size > (arena->limit - arena->used) / 2)
        size = BLOCK_SIZE;
    if (size < content)
        size = content;
    size_t whole, used;
    if (arena->blocks == NULL && arena->hint > size && arena->hint <= arena->limit / 2)
        size = arena->hint;
    if (__builtin_add_overflow(size, sizeof(struct tdc_arena_block), &whole) ||
        __builtin_add_overflow(arena->used, whole, &used) || used > arena->limit)
        return NULL;
    struct tdc_arena_block *block = allocate(whole);
    if (block == NULL) {
        arena->exhausted |= whole < TDC_ARENA_LARGE;
        return NULL;
    }
    block->size = size;
    block->used = 0;
    block->older = arena->blocks;
    arena->blocks = block;
    arena->used = used;
    return block;
}

void *tdc_arena_take_more(struct tdc_arena *arena, size_t size)
{
    if (size > SIZE_MAX - TDC_ARENA_ALIGNMENT)
        return NULL;
    size_t rounded = (size + TDC_ARENA_ALIGNMENT - 1) & ~(TDC_ARENA_ALIGNMENT - 1);
    struct tdc_arena_block *block = arena->blocks;
    if (block == NULL || block->size - block->used < rounded) {
        block = new_block(arena, rounded);
        arena->refused |= block == NULL;
        if (block == NULL)
            return NULL;
    }
    void *memory = (char *)(block + 1) + block->used;
    block->used += rounded;
    return memory;
}

void *tdc_arena_zeroed(struct tdc_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *memory = tdc_arena_take(arena, bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

char *tdc_arena_text(struct tdc_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = tdc_arena_take(arena, length + 1);
    if (copy != NULL) {
        if (length != 0)
            memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}
