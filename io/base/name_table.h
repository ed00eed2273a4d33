/*
 * name_table.h - a hash table from texts to small numbers.
 *
 * Keys are not copied: they must outlive the table (names live in the arena of their dump).
 * Numbers are given out in the order in which keys first appear: 0, 1, 2, ...
 */
#ifndef TDC_HOST_NAME_TABLE_H
#define TDC_HOST_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/base/arena.h"

#define TDC_NAME_NONE UINT32_MAX

struct tdc_name_key {
    const char *text;
    size_t length;
    uint64_t hash;
};

struct tdc_name_table {
    struct tdc_name_key *keys; /* by number */
    uint32_t count, capacity;
    uint32_t *slots; /* number + 1, 0 is free; a power of two of them */
    size_t slot_count;
};

void tdc_names_init(struct tdc_name_table *table);
void tdc_names_free(struct tdc_name_table *table);

/* The number of the key, or TDC_NAME_NONE. */
uint32_t tdc_names_find(const struct tdc_name_table *table, const char *text, size_t length);
/* The number of the key, a new one if *fresh is set; TDC_NAME_NONE when out of memory. */
uint32_t tdc_names_put(struct tdc_name_table *table, const char *text, size_t length, bool *fresh);
/* The same with a copy of the key in the arena when it is new: one search, where find and put are
 * two. */
uint32_t tdc_names_keep(struct tdc_name_table *table, struct tdc_arena *arena, const char *text,
                        size_t length);

#endif
