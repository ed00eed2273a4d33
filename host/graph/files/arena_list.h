/* arena_list.h - lists that grow inside an arena. */
#ifndef TDC_HOST_ARENA_LIST_H
#define TDC_HOST_ARENA_LIST_H

#include "io/base/arena.h"

/* Makes room for one more element behind `count`: *list may move, *room grows. False when the arena
 * has no more memory. The arena keeps the shorter lists until its end: twice the memory in all. */
bool tdc_arena_grow(struct tdc_arena *arena, void **list, size_t count, size_t size, size_t *room);

#endif
