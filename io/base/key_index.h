/*
 * key_index.h - finding a member by its key while a large object is being built.
 *
 * Small objects are searched one by one; an object with very many members would make that
 * quadratic, so beyond TDC_KEY_INDEX_FROM members the builder keeps this open-addressing table
 * beside it. Memory comes from the arena and is at most 48 bytes a member, outgrown tables
 * included.
 */
#ifndef TDC_IO_KEY_INDEX_H
#define TDC_IO_KEY_INDEX_H

#include "io/base/arena.h"

#include <stdint.h>

#define TDC_KEY_INDEX_FROM 16

struct tdc_key_index {
    const void **slots; /* members; NULL is free */
    size_t mask;        /* number of slots - 1 */
    size_t count;
    uint64_t seed; /* unlike from run to run, so that no file can be made of colliding keys */
    /* the key inside a member */
    const char *(*key_of)(const void *member, size_t *length);
};

/* A new empty index, NULL if out of memory. */
struct tdc_key_index *tdc_key_index_new(struct tdc_arena *arena,
                                        const char *(*key_of)(const void *member, size_t *length));
/* The member with this key, NULL if there is none. */
const void *tdc_key_index_find(const struct tdc_key_index *index, const char *key, size_t length);
/* Adds a member whose key is not there yet; false if out of memory. */
bool tdc_key_index_add(struct tdc_key_index *index, struct tdc_arena *arena, const void *member);

#endif
