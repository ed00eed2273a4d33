#include "host/graph/files/arena_list.h"

#include <string.h>

bool tdc_arena_grow(struct tdc_arena *arena, void **list, size_t count, size_t size, size_t *room)
{
    if (count < *room)
        return true;
    size_t wanted = *room == 0 ? 8 : *room * 2;
    void *longer = tdc_arena_zeroed(arena, wanted, size);
    if (longer == NULL)
        return false;
    if (count != 0)
        memcpy(longer, *list, count * size);
    *list = longer;
    *room = wanted;
    return true;
}
