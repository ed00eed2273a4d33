/*
 * arena.h - memory that lives as long as a run.
 *
 * Allocations are never freed one by one. An arena has a limit given at its start and refuses to
 * grow past it, so that hostile input ends in TDC_ERR_MEMORY and not in a dead machine. No limit is
 * more than the process may use (memory_limit.h).
 * Not safe for use from several threads at once.
 */
#ifndef TDC_IO_ARENA_H
#define TDC_IO_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of memory that is handed out from its front. */
struct tdc_arena_block {
    struct tdc_arena_block *older;
    size_t size; /* bytes after the head */
    size_t used;
    size_t padding; /* keeps the content at a multiple of TDC_ARENA_ALIGNMENT */
};

#define TDC_ARENA_ALIGNMENT ((size_t)16)

struct tdc_arena {
    struct tdc_arena_block *blocks;
    size_t used;    /* bytes handed out and block heads */
    size_t limit;   /* bytes this arena may take in all */
    size_t hint;    /* what one round took: the first block of the next has room for all of it */
    bool refused;   /* something was, since the start or the last reset */
    bool exhausted; /* the system had no memory for a block of ordinary size */
};

/* A block of this size that the system refuses is too large; a smaller one ends the work. */
#define TDC_ARENA_LARGE ((size_t)64 << 20)

/* Reserves nothing yet. */
void tdc_arena_init(struct tdc_arena *arena, size_t limit);
void tdc_arena_free(struct tdc_arena *arena);
/* Forgets all content, for reuse record by record; a moderate amount of memory is kept, so that
 * rounds alike do not ask the system again. */
void tdc_arena_reset(struct tdc_arena *arena);

/* The same as tdc_arena_take where the newest block has no room. */
void *tdc_arena_take_more(struct tdc_arena *arena, size_t size);

/* Uninitialised memory aligned to 16 bytes; NULL when the limit is reached. size may be 0. */
static inline void *tdc_arena_take(struct tdc_arena *arena, size_t size)
{
    struct tdc_arena_block *block = arena->blocks;
    size_t room = block != NULL ? block->size - block->used : 0;
    if (room < TDC_ARENA_ALIGNMENT || size > room - TDC_ARENA_ALIGNMENT)
        return tdc_arena_take_more(arena, size);
    void *memory = (char *)(block + 1) + block->used;
    block->used += (size + TDC_ARENA_ALIGNMENT - 1) & ~(TDC_ARENA_ALIGNMENT - 1);
    return memory;
}
/* count * size bytes, overflow checked, zeroed. */
void *tdc_arena_zeroed(struct tdc_arena *arena, size_t count, size_t size);
/* A terminated copy of length bytes. */
char *tdc_arena_text(struct tdc_arena *arena, const char *text, size_t length);

#endif
