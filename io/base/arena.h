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

struct tdc_arena_block;

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

/* Uninitialised memory aligned to 16 bytes; NULL when the limit is reached. size may be 0. */
void *tdc_arena_take(struct tdc_arena *arena, size_t size);
/* count * size bytes, overflow checked, zeroed. */
void *tdc_arena_zeroed(struct tdc_arena *arena, size_t count, size_t size);
/* A terminated copy of length bytes. */
char *tdc_arena_text(struct tdc_arena *arena, const char *text, size_t length);

#endif
