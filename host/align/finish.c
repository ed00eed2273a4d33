/* finish.c - placed entries as the boxes of one logical tensor, in the axes of the result. */
#include <stdlib.h>
#include <string.h>

#include "host/align/align.h"

/* Boxes with their numbers, as they are made. */
struct finishing {
    const struct tdc_finish *finish;
    struct tdc_arena *arena;
    struct tdc_logical *logical;
    struct tdc_logical_box *boxes;
    size_t room;
};

/* Indices of the stored axes that a part may have: all logical axes run along one. */
static unsigned stored_axes(const struct tdc_logical_part *part)
{
    const struct tdc_side_record *record = part->record;
    return record->dimensions;
}

/* A box of an entry, with [from, from + length) of the placed token axis at `to`. */
static bool add_box(struct finishing *finishing, const struct tdc_placed *placed,
                    const struct tdc_logical_box *box, const struct tdc_run *token, uint64_t shift,
                    unsigned shifted, uint32_t first_part, uint32_t first_term)
{
    const struct tdc_finish *finish = finishing->finish;
    const struct tdc_logical_part *part = &placed->parts[box->part];
    unsigned stored = stored_axes(part);
    struct tdc_logical *logical = finishing->logical;
    if (logical->box_count == finishing->room) {
        size_t room = finishing->room * 2 + 16;
        if (room > UINT32_MAX)
            return false;
        struct tdc_logical_box *grown = realloc(finishing->boxes, room * sizeof *grown);
        if (grown == NULL)
            return false;
        finishing->boxes = grown;
        finishing->room = room;
    }
    uint64_t *numbers =
        tdc_arena_zeroed(finishing->arena, 2 * finish->axes + stored + 1, sizeof *numbers);
    if (numbers == NULL)
        return false;
    uint64_t *first = numbers, *extent = first + finish->axes, *base = extent + finish->axes;
    memcpy(base, box->base, stored * sizeof *base);
    for (unsigned d = 0; d < finish->axes; d++) {
        unsigned from = finish->order[d];
        first[d] = box->first[from];
        extent[d] = box->extent[from];
        if (token != NULL && from == finish->token_axis) {
            if (part->stored[from] >= 0)
                base[part->stored[from]] += (token->from - first[d]) * part->steps[from];
            first[d] = token->to;
            extent[d] = token->length;
        }
        if (d == shifted)
            first[d] += shift;
    }
    finishing->boxes[logical->box_count++] = (struct tdc_logical_box){
        .part = first_part + box->part,
        .term = first_term + box->term,
        .first = first,
        .extent = extent,
        .base = base,
    };
    return true;
}

/* The intervals of the token axis that are kept of a box. */
static bool add_kept(struct finishing *finishing, const struct tdc_placed *placed,
                     const struct tdc_logical_box *box, uint64_t shift, unsigned shifted,
                     uint32_t first_part, uint32_t first_term)
{
    const struct tdc_finish *finish = finishing->finish;
    if (finish->tokens == NULL)
        return add_box(finishing, placed, box, NULL, shift, shifted, first_part, first_term);
    uint64_t low = box->first[finish->token_axis];
    uint64_t high = low + box->extent[finish->token_axis];
    for (size_t i = 0; i < finish->tokens->count; i++) {
        const struct tdc_run *kept = &finish->tokens->list[i];
        uint64_t end = kept->from + kept->length;
        uint64_t from = low > kept->from ? low : kept->from, to = high < end ? high : end;
        if (from >= to)
            continue;
        struct tdc_run token = {from, kept->to + (from - kept->from), to - from};
        if (!add_box(finishing, placed, box, &token, shift, shifted, first_part, first_term))
            return false;
    }
    return true;
}

static void copy_part(const struct tdc_finish *finish, const struct tdc_logical_part *from,
                      struct tdc_logical_part *part)
{
    *part = *from;
    for (unsigned d = 0; d < finish->axes; d++) {
        part->stored[d] = from->stored[finish->order[d]];
        part->steps[d] = from->steps[finish->order[d]];
    }
}

/* The axis of the result along which entries follow each other; none: beyond the last. */
static unsigned cat_axis(const struct tdc_finish *finish)
{
    unsigned d = 0;
    if (finish->cat == NULL)
        return finish->axes;
    while (d < finish->axes && strcmp(finish->placed[0].names[finish->order[d]], finish->cat) != 0)
        d++;
    return d;
}

/* Parts that boxes refer to come before all replicas: those of all entries together. */
static bool add_entries(struct finishing *finishing)
{
    const struct tdc_finish *finish = finishing->finish;
    struct tdc_logical *logical = finishing->logical;
    unsigned shifted = cat_axis(finish);
    bool adds = finish->cat != NULL && strcmp(finish->cat, "+") == 0;
    uint64_t shift = 0;
    uint32_t term = 0, part = 0;
    for (size_t i = 0; i < finish->count; i++) {
        const struct tdc_placed *placed = &finish->placed[i];
        for (size_t k = 0; k < placed->box_count; k++)
            if (!add_kept(finishing, placed, &placed->boxes[k], shift, shifted, part,
                          adds ? term : 0))
                return false;
        for (size_t k = 0; k < placed->part_count; k++)
            copy_part(finish, &placed->parts[k], &logical->parts[part + k]);
        for (size_t k = 0; k < placed->twin_count; k++)
            logical->twins[logical->twin_count++] = (struct tdc_logical_twin){
                part + placed->twins[k].part, part + placed->twins[k].twin};
        part += (uint32_t)placed->part_count;
        term += placed->term_count;
        if (adds || i == 0)
            logical->group_starts[logical->group_count++] = adds ? term - placed->term_count : 0;
        if (shifted < finish->axes)
            shift += placed->sizes[finish->order[shifted]];
        if (placed->term_count > logical->term_count)
            logical->term_count = placed->term_count;
        logical->sparse |= placed->term_count != finish->placed[0].term_count;
    }
    logical->group_starts[logical->group_count] = adds ? term : logical->term_count;
    logical->part_count = part;
    return true;
}

struct tdc_logical *tdc_logical_finish(const struct tdc_finish *finish, struct tdc_arena *arena)
{
    struct tdc_logical *logical = tdc_arena_zeroed(arena, 1, sizeof *logical);
    size_t parts = 0, twins = 0;
    for (size_t i = 0; i < finish->count; i++) {
        parts += finish->placed[i].part_count;
        twins += finish->placed[i].twin_count;
    }
    if (logical == NULL || parts > UINT32_MAX)
        return NULL;
    *logical = (struct tdc_logical){.dimensions = finish->axes,
                                    .rounding = finish->rounding,
                                    .agree = finish->agree,
                                    .letter = finish->letter};
    memcpy(logical->shape, finish->sizes, finish->axes * sizeof *finish->sizes);
    logical->parts = tdc_arena_zeroed(arena, parts + 1, sizeof *logical->parts);
    logical->twins = tdc_arena_zeroed(arena, twins + 1, sizeof *logical->twins);
    logical->group_starts =
        tdc_arena_zeroed(arena, finish->count + 2, sizeof *logical->group_starts);
    if (logical->parts == NULL || logical->twins == NULL || logical->group_starts == NULL)
        return NULL;
    struct finishing finishing = {.finish = finish, .arena = arena, .logical = logical};
    bool ok = add_entries(&finishing);
    if (ok) {
        logical->boxes = tdc_arena_zeroed(arena, logical->box_count + 1, sizeof *logical->boxes);
        ok = logical->boxes != NULL;
    }
    if (ok && logical->box_count != 0)
        memcpy(logical->boxes, finishing.boxes, logical->box_count * sizeof *logical->boxes);
    free(finishing.boxes);
    return ok && tdc_logical_settle(logical, arena) ? logical : NULL;
}
