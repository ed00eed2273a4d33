#include "host/kernel_dump/kernel_places.h"

#include <stdlib.h>
#include <string.h>

#include "host/graph/files/folder.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

#define MOST_FOLDERS ((size_t)1 << 20) /* of a path that may be anything */

struct search {
    struct tdc_arena *arena;
    const struct tdc_kernel_choice *choice;
    struct tdc_kernel_places *places;
    size_t visited;
};

/* A part of a path counted from its end, 1 is the last; NULL when there are not so many. */
static const char *part_from_end(const char *path, int which, size_t *length)
{
    const char *end = path + strlen(path);
    for (;;) {
        const char *start = end;
        while (start > path && start[-1] != '/')
            start--;
        *length = (size_t)(end - start);
        if (--which == 0)
            return start;
        if (start == path)
            return NULL;
        end = start - 1;
    }
}

static long number_of(const char *text, size_t length)
{
    return text != NULL && length > 0 && length < 10 && tdc_all_digits(text, length)
               ? strtol(text, NULL, 10)
               : -1;
}

static void read_place(const char *path, struct tdc_kernel_place *place)
{
    size_t length;
    const char *part = part_from_end(path, 1, &length);
    place->folder = path;
    place->step = number_of(part, length);
    part = part_from_end(path, 4, &length);
    if (strstr(path, "rank_") != NULL) {
        size_t head = 0;
        for (size_t i = 0; part != NULL && i < length; i++)
            if (part[i] == '_')
                head = i + 1;
        place->rank = part != NULL ? number_of(part + head, length - head) : -1;
        return;
    }
    place->rank = number_of(part, length);
    if (place->rank < 0) {
        part = part_from_end(path, 3, &length);
        place->rank = number_of(part, length);
    }
}

static bool is_chosen(const long *numbers, size_t count, long number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return count == 0;
}

static tdc_status find_places(struct search *search, const char *folder, int depth,
                              struct tdc_error *error)
{
    struct tdc_kernel_places *side = search->places;
    struct tdc_folder names;
    if (++search->visited > MOST_FOLDERS)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: too many folders", folder);
    tdc_status status = tdc_folder_read(search->arena, folder, &names, error);
    if (status != TDC_OK || depth > TDC_FOLDER_DEPTH)
        return status;
    for (size_t i = 0; i < names.count && names.folders != 0 && status == TDC_OK; i++) {
        if (!names.entries[i].folder)
            continue;
        const char *below = tdc_folder_path(search->arena, folder, names.entries[i].name);
        status = below != NULL ? find_places(search, below, depth + 1, error)
                               : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", folder);
    }
    struct tdc_kernel_place place;
    read_place(folder, &place);
    if (status != TDC_OK || names.folders != 0 || place.rank < 0 || place.step < 0 ||
        !is_chosen(search->choice->ranks, search->choice->rank_count, place.rank) ||
        !is_chosen(search->choice->steps, search->choice->step_count, place.step))
        return status;
    if (side->count == side->capacity) {
        size_t capacity = side->capacity == 0 ? 16 : side->capacity * 2;
        struct tdc_kernel_place *grown = realloc(side->places, capacity * sizeof *grown);
        if (grown == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", folder);
        side->places = grown;
        side->capacity = capacity;
    }
    side->places[side->count++] = place;
    return TDC_OK;
}

static int compare_places(const void *left, const void *right)
{
    const struct tdc_kernel_place *one = left, *other = right;
    if (one->rank != other->rank)
        return one->rank < other->rank ? -1 : 1;
    if (one->step != other->step)
        return one->step < other->step ? -1 : 1;
    return strcmp(one->folder, other->folder);
}

tdc_status tdc_kernel_places_find(struct tdc_arena *arena, const char *path,
                                  const struct tdc_kernel_choice *choice,
                                  struct tdc_kernel_places *places, struct tdc_error *error)
{
    struct search search = {arena, choice, places, 0};
    char *whole = tdc_real_path(path);
    const char *kept = whole != NULL ? tdc_arena_text(arena, whole, strlen(whole)) : NULL;
    free(whole);
    if (kept == NULL)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no such folder", path);
    tdc_status status = find_places(&search, kept, 0, error);
    if (places->count != 0)
        qsort(places->places, places->count, sizeof *places->places, compare_places);
    return status;
}

bool tdc_kernel_same_place(const struct tdc_kernel_place *one, const struct tdc_kernel_place *other)
{
    return one->rank == other->rank && one->step == other->step;
}

bool tdc_kernel_has_place(const struct tdc_kernel_places *places,
                          const struct tdc_kernel_place *place)
{
    for (size_t i = 0; i < places->count; i++)
        if (tdc_kernel_same_place(&places->places[i], place))
            return true;
    return false;
}

tdc_status tdc_kernel_place_load(struct tdc_arena *arena, const struct tdc_kernel_places *places,
                                 const struct tdc_kernel_place *place,
                                 const struct tdc_options *options, struct tdc_kernel_list *list,
                                 struct tdc_error *error)
{
    *list = (struct tdc_kernel_list){0};
    for (size_t i = 0; i < places->count; i++)
        if (tdc_kernel_same_place(&places->places[i], place) &&
            !tdc_kernel_list_add(arena, list, places->places[i].folder, options))
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", place->folder);
    tdc_kernel_list_settle(list);
    return TDC_OK;
}
