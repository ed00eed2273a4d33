/* vis_places.c - whose child a call is, also where a backward hook did not say so. */
#include <string.h>

#include "host/match/match.h"
#include "host/visual/vis_graph.h"

/* Where .direction.N begins at the end of a name; NULL when it does not end so. */
static const char *numbered_end(const char *name, const char *direction)
{
    const char *number = strrchr(name, '.');
    size_t length = strlen(direction);
    if (number == NULL || number[1] == '\0' || number[1 + strspn(number + 1, "0123456789")] != '\0')
        return NULL;
    if ((size_t)(number - name) < length + 1)
        return NULL;
    const char *start = number - length - 1;
    return *start == '.' && strncmp(start + 1, direction, length) == 0 ? start : NULL;
}

bool tdc_vis_ends_numbered(const char *name, const char *direction)
{
    return numbered_end(name, direction) != NULL;
}

const char *tdc_vis_turned(struct tdc_arena *arena, const char *name, const char *from,
                           const char *to)
{
    const char *end = numbered_end(name, from);
    if (end == NULL)
        return name;
    const char *number = end + 1 + strlen(from);
    size_t head = (size_t)(end - name) + 1, middle = strlen(to), tail = strlen(number);
    char *turned = tdc_arena_take(arena, head + middle + tail + 1);
    if (turned == NULL)
        return NULL;
    memcpy(turned, name, head);
    memcpy(turned + head, to, middle);
    memcpy(turned + head + middle, number, tail + 1);
    return turned;
}

static const struct tdc_vis_place *place_of(const struct tdc_vis_places *places, const char *name)
{
    uint32_t number = tdc_names_find(&places->names, name, strlen(name));
    return number == TDC_NAME_NONE ? NULL : &places->places[number];
}

/* The text up to the last `parts` parts; its length, or SIZE_MAX with no more parts than that. */
static size_t without_last(const char *name, int parts)
{
    size_t length = strlen(name);
    for (int i = 0; i < parts; i++) {
        while (length > 0 && name[length - 1] != '.')
            length--;
        if (length == 0)
            return SIZE_MAX;
        length--;
    }
    return length;
}

/* What stands where the forward call's parent stands, if construct.json knows it. */
static const char *turned_parent(struct tdc_arena *arena, const struct tdc_vis_places *places,
                                 const char *forward_parent, bool *failed)
{
    const char *turned = tdc_vis_turned(arena, forward_parent, "forward", "backward");
    *failed |= turned == NULL;
    return turned != NULL && place_of(places, turned) != NULL ? turned : NULL;
}

/* Module.a.b.Class.backward.0 without a parent: that of the forward call, turned. */
static const char *missing_parent(struct tdc_arena *arena, const struct tdc_vis_places *places,
                                  const char *name, bool *failed)
{
    if (tdc_vis_ends_numbered(name, "backward")) {
        const char *forward = tdc_vis_turned(arena, name, "backward", "forward");
        *failed |= forward == NULL;
        const struct tdc_vis_place *place = forward != NULL ? place_of(places, forward) : NULL;
        if (place != NULL && place->up != NULL)
            return turned_parent(arena, places, place->up, failed);
    } else if (tdc_ends_in(name, ".backward")) {
        const char *forward = tdc_text_replaced(arena, name, "backward", "forward", false);
        *failed |= forward == NULL;
        const struct tdc_vis_place *place = forward != NULL ? place_of(places, forward) : NULL;
        if (place == NULL || place->up == NULL)
            return NULL;
        const char *turned = tdc_text_replaced(arena, place->up, "forward", "backward", false);
        *failed |= turned == NULL;
        return turned != NULL && place_of(places, turned) != NULL ? turned : NULL;
    }
    return NULL;
}

/* A module whose path does not begin with its parent's: layers that work in place lose their
 * backward hook, and the module above is told too late. */
static const char *mended_parent(struct tdc_arena *arena, const struct tdc_vis_places *places,
                                 const char *name, const char *up, bool *failed)
{
    if (!tdc_vis_ends_numbered(name, "backward"))
        return up;
    size_t own = without_last(name, 4), above = without_last(up, 3);
    if (own == SIZE_MAX || above == SIZE_MAX || (own == above && strncmp(name, up, own) == 0))
        return up;
    const char *forward = tdc_vis_turned(arena, name, "backward", "forward");
    *failed |= forward == NULL;
    const struct tdc_vis_place *place = forward != NULL ? place_of(places, forward) : NULL;
    if (place == NULL)
        return up;
    if (place->up == NULL)
        return NULL;
    const char *turned = turned_parent(arena, places, place->up, failed);
    return turned != NULL ? turned : up;
}

const char *tdc_vis_parent(struct tdc_arena *arena, const struct tdc_vis_places *places,
                           uint32_t child, bool *failed)
{
    const char *name = places->names.keys[child].text, *up = places->places[child].up;
    return up != NULL ? mended_parent(arena, places, name, up, failed)
                      : missing_parent(arena, places, name, failed);
}
