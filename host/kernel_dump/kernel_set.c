#include "host/kernel_dump/kernel_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/folder.h"
#include "host/graph/files/say.h"
#include "host/kernel_dump/kernel_places.h"
#include "host/kernel_dump/kernel_records.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

#define ARENA_LIMIT ((size_t)8 << 30)

struct kernel_item {
    struct tdc_graph_item base;
    struct tdc_kernel_set *set;
    struct tdc_kernel_place place; /* of a rank and step; folder NULL: npy folders */
};

struct tdc_kernel_set {
    struct tdc_arena arena;
    struct tdc_options options;
    struct tdc_kernel_places sides[2];
    struct kernel_item **items;
    size_t count, room;
    size_t left_out;
    char *roots[2];
};

static tdc_status out_of_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

/* ---- loading
 * -------------------------------------------------------------------------------------- */

static tdc_status list_side(struct tdc_arena *arena, const struct kernel_item *item, int side,
                            struct tdc_kernel_list *list, struct tdc_error *error)
{
    struct tdc_kernel_set *set = item->set;
    if (item->place.folder != NULL)
        return tdc_kernel_place_load(arena, &set->sides[side], &item->place, &set->options, list,
                                     error);
    *list = (struct tdc_kernel_list){.mode = TDC_KERNEL_FILES};
    return tdc_kernel_arrays_list(arena, set->roots[side], list, error);
}

static tdc_status load(const struct tdc_graph_item *base, struct tdc_dump **npu,
                       struct tdc_dump **bench, struct tdc_error *error)
{
    const struct kernel_item *item = (const struct kernel_item *)base;
    struct tdc_kernel_list lists[2] = {0};
    struct tdc_dump **dumps[] = {npu, bench};
    struct tdc_arena arena;
    tdc_arena_init(&arena, ARENA_LIMIT);
    tdc_status status = TDC_OK;
    *npu = *bench = NULL;
    for (int side = 0; side < 2 && status == TDC_OK; side++)
        status = list_side(&arena, item, side, &lists[side], error);
    if (status == TDC_OK && lists[0].mode != lists[1].mode)
        status = tdc_fail(error, TDC_ERR_MISMATCH,
                          "%s: npy files on one side, statistics on the other", base->mine);
    for (int side = 0; side < 2 && status == TDC_OK; side++)
        status = tdc_kernel_records(item->set->roots[side], &lists[side], &lists[1 - side],
                                    dumps[side], error);
    if (status != TDC_OK) {
        tdc_dump_free(*npu);
        tdc_dump_free(*bench);
        *npu = *bench = NULL;
    }
    free(lists[0].items);
    free(lists[1].items);
    tdc_arena_free(&arena);
    return status;
}

/* ---- comparisons
 * ----------------------------------------------------------------------------------- */

static struct kernel_item *add_item(struct tdc_kernel_set *set)
{
    struct kernel_item *item = tdc_arena_zeroed(&set->arena, 1, sizeof *item);
    if (item == NULL || !tdc_arena_grow(&set->arena, (void **)&set->items, set->count,
                                        sizeof(struct kernel_item *), &set->room))
        return NULL;
    item->base.load = load;
    item->base.mine = set->roots[0];
    item->base.golden = set->roots[1];
    item->set = set;
    set->items[set->count++] = item;
    return item;
}

static void leave_out(struct tdc_kernel_set *set, const struct tdc_kernel_place *place)
{
    set->left_out++;
    tdc_say(&set->options, TDC_MESSAGE_WARNING, "%s has no counterpart and is left out",
            place->folder);
}

/* Ranks and steps of both sides; each is there once, however many folders it has. */
static tdc_status pair_places(struct tdc_kernel_set *set, struct tdc_error *error)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < set->sides[side].count; i++) {
            const struct tdc_kernel_place *place = &set->sides[side].places[i];
            if (i != 0 && tdc_kernel_same_place(place, place - 1))
                continue;
            if (!tdc_kernel_has_place(&set->sides[1 - side], place)) {
                leave_out(set, place);
                continue;
            }
            struct kernel_item *item = side == 0 ? add_item(set) : NULL;
            if (side == 0 && item == NULL)
                return out_of_memory(error);
            if (item == NULL)
                continue;
            item->place = *place;
            item->base.token = (uint64_t)place->step;
            snprintf(item->base.rank, sizeof item->base.rank, "rank%ld", place->rank);
        }
    return TDC_OK;
}

/* Folders of ranks and steps in which there is something. */
static bool holds_kernels(struct tdc_kernel_set *set, struct tdc_kernel_places *places,
                          tdc_status *status, struct tdc_error *error)
{
    struct tdc_options silent = {0};
    for (size_t i = 0; i < places->count && *status == TDC_OK; i++) {
        struct tdc_kernel_list list = {0};
        *status =
            tdc_kernel_place_load(&set->arena, places, &places->places[i], &silent, &list, error);
        bool any = list.count != 0;
        free(list.items);
        if (any)
            return *status == TDC_OK;
    }
    return false;
}

static tdc_status find_all(struct tdc_kernel_set *set, const char *const paths[2], int step,
                           struct tdc_error *error)
{
    long wanted = step;
    const struct tdc_kernel_choice choice = {.steps = &wanted, .step_count = step >= 0 ? 1 : 0};
    bool kernels = true, arrays = true;
    tdc_status status = TDC_OK;
    for (int side = 0; side < 2 && status == TDC_OK; side++) {
        set->roots[side] = tdc_real_path(paths[side]);
        if (set->roots[side] == NULL)
            return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no such folder", paths[side]);
        status =
            tdc_kernel_places_find(&set->arena, paths[side], &choice, &set->sides[side], error);
        if (status == TDC_OK)
            kernels = holds_kernels(set, &set->sides[side], &status, error) && kernels;
    }
    for (int side = 0; side < 2 && status == TDC_OK && !kernels; side++) {
        struct tdc_kernel_list list = {0};
        status = tdc_kernel_arrays_list(&set->arena, set->roots[side], &list, error);
        arrays = arrays && list.count != 0;
        free(list.items);
    }
    if (status != TDC_OK)
        return status;
    if (!kernels && !arrays)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no kernel dump and no npy files", paths[0]);
    if (kernels)
        status = pair_places(set, error);
    else if (add_item(set) == NULL)
        status = out_of_memory(error);
    return status == TDC_OK && set->count == 0
               ? tdc_fail(error, TDC_ERR_NOTHING, "%s and %s have no rank and step in common",
                          paths[0], paths[1])
               : status;
}

tdc_status tdc_kernel_set_find(const char *npu, const char *bench, int step,
                               const struct tdc_options *options, struct tdc_kernel_set **set,
                               struct tdc_error *error)
{
    const char *const paths[] = {npu, bench};
    struct tdc_kernel_set *made = calloc(1, sizeof *made);
    *set = NULL;
    if (made == NULL)
        return out_of_memory(error);
    tdc_arena_init(&made->arena, ARENA_LIMIT);
    made->options = *options;
    tdc_status status = find_all(made, paths, step, error);
    if (status == TDC_OK)
        *set = made;
    else
        tdc_kernel_set_free(made);
    return status;
}

void tdc_kernel_set_free(struct tdc_kernel_set *set)
{
    if (set == NULL)
        return;
    for (int side = 0; side < 2; side++) {
        free(set->sides[side].places);
        free(set->roots[side]);
    }
    tdc_arena_free(&set->arena);
    free(set);
}

size_t tdc_kernel_set_count(const struct tdc_kernel_set *set)
{
    return set->count;
}

const struct tdc_graph_item *tdc_kernel_set_get(const struct tdc_kernel_set *set, size_t index)
{
    return &set->items[index]->base;
}

size_t tdc_kernel_set_left_out(const struct tdc_kernel_set *set)
{
    return set->left_out;
}
