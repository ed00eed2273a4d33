/* boxes.c - the product of the runs of all axes of a part, as boxes. */
#include <stdlib.h>
#include <string.h>

#include "host/align/place/place.h"

/* What one logical axis has of a part: an interval, and where it begins in the stored axes. */
struct stretch {
    uint64_t to, length;
    uint64_t batch,
        position; /* indices of the leaves it came from; `batch` of a token axis alone */
};

/* Leaves of a stored axis between two of its indices, all of them intervals. */
struct corner {
    uint64_t lo[TDC_LOGICAL_AXES], extent[TDC_LOGICAL_AXES]; /* by leaf of the axis */
    uint64_t base; /* stored index of lo, minus what the leaves add */
};

struct corners {
    struct corner *list;
    size_t count;
};

struct boxing {
    struct tdc_placing *placing;
    struct tdc_placed *placed;
    size_t cell;
    const struct tdc_side_piece *piece; /* NULL: all of the record */
    uint32_t part;
    struct corners corners[TDC_LOGICAL_AXES]; /* by axis of the plan */
    size_t chosen[TDC_LOGICAL_AXES];
    /* logical axes: the leaf each comes from; the token axis of batch and position from both */
    unsigned leaf_of[TDC_LOGICAL_AXES];
    int token_axis; /* of batch and position; -1: none */
    struct tdc_logical_box **boxes;
    size_t *room;
};

/* ---- the stored axis ------------------------------------------------------------------------- */

/* The interval [from, from + length) of a product as boxes of its leaves: the rest of a row, whole
 * rows, the rest of a plane... */
static bool add_corners(struct boxing *boxing, const struct tdc_axis_plan *axis, unsigned depth,
                        struct corner *corner, uint64_t from, uint64_t length, uint64_t stored,
                        struct corners *corners)
{
    const struct tdc_placing *placing = boxing->placing;
    if (length == 0)
        return true;
    if (depth == axis->leaf_count) {
        corner->base = stored;
        for (unsigned i = 0; i < axis->leaf_count; i++)
            corner->base -= corner->lo[i] * placing->leaves[axis->first_leaf + i].way[boxing->cell];
        if ((corners->count & (corners->count - 1)) == 0) { /* grows by doubling */
            struct corner *grown =
                tdc_arena_take(placing->arena, (corners->count * 2 + 1) * sizeof *grown);
            if (grown == NULL)
                return false;
            if (corners->count != 0)
                memcpy(grown, corners->list, corners->count * sizeof *grown);
            corners->list = grown;
        }
        corners->list[corners->count++] = *corner;
        return true;
    }
    uint64_t way = placing->leaves[axis->first_leaf + depth].way[boxing->cell];
    uint64_t place = from / way, within = from % way;
    if (within != 0) {
        uint64_t part = way - within < length ? way - within : length;
        corner->lo[depth] = place++;
        corner->extent[depth] = 1;
        if (!add_corners(boxing, axis, depth + 1, corner, within, part, stored, corners))
            return false;
        stored += part;
        length -= part;
    }
    uint64_t whole = length / way;
    if (whole != 0) {
        corner->lo[depth] = place;
        corner->extent[depth] = whole;
        for (unsigned i = depth + 1; i < axis->leaf_count; i++) {
            corner->lo[i] = 0;
            corner->extent[i] = placing->leaves[axis->first_leaf + i].local[boxing->cell];
        }
        if (!add_corners(boxing, axis, axis->leaf_count, corner, 0, 1, stored, corners))
            return false;
        stored += whole * way;
        length -= whole * way;
    }
    if (length == 0)
        return true;
    corner->lo[depth] = place + whole;
    corner->extent[depth] = 1;
    return add_corners(boxing, axis, depth + 1, corner, 0, length, stored, corners);
}

/* Intervals of a stored axis that take part: the range before, within the piece. */
static bool find_corners(struct boxing *boxing, unsigned index)
{
    const struct tdc_axis_plan *axis = &boxing->placing->axes[index];
    const struct tdc_side_record *record = boxing->placing->cells[boxing->cell].record;
    struct corners *corners = &boxing->corners[index];
    struct corner corner = {0};
    *corners = (struct corners){0};
    if (axis->stored < 0 || axis->one) {
        uint64_t low = axis->one && boxing->piece != NULL ? boxing->piece->first[axis->stored] : 0;
        if (low != 0)
            return true; /* another piece has it */
        for (unsigned i = 0; i < axis->leaf_count; i++)
            corner.extent[i] = 1;
        corners->list = tdc_arena_take(boxing->placing->arena, sizeof corner);
        if (corners->list == NULL)
            return false;
        corners->list[corners->count++] = corner;
        return true;
    }
    struct tdc_run whole = {0, 0, record->shape[axis->stored]};
    const struct tdc_runs all = {&whole, 1};
    const struct tdc_runs *runs = axis->before != NULL ? &axis->before[boxing->cell] : &all;
    uint64_t low = 0, high = record->shape[axis->stored];
    if (boxing->piece != NULL) {
        low = boxing->piece->first[axis->stored];
        high = low + boxing->piece->shape[axis->stored];
    }
    for (size_t i = 0; i < runs->count; i++) {
        const struct tdc_run *run = &runs->list[i];
        uint64_t from = run->from > low ? run->from : low, end = run->from + run->length;
        uint64_t to = end < high ? end : high;
        if (from < to && !add_corners(boxing, axis, 0, &corner, run->to + (from - run->from),
                                      to - from, from - low, corners))
            return false;
    }
    return true;
}

/* ---- logical axes ---------------------------------------------------------------------------- */

/* The stretches of a leaf within a corner. */
static size_t leaf_stretches(const struct boxing *boxing, unsigned leaf, struct stretch *list)
{
    const struct tdc_leaf_plan *plan = &boxing->placing->leaves[leaf];
    const struct tdc_axis_plan *axis = &boxing->placing->axes[plan->axis];
    const struct corner *corner = &boxing->corners[plan->axis].list[boxing->chosen[plan->axis]];
    unsigned within = leaf - axis->first_leaf;
    uint64_t low = corner->lo[within], high = low + corner->extent[within];
    const struct tdc_runs *runs = &plan->runs[boxing->cell];
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct tdc_run *run = &runs->list[i];
        uint64_t from = run->from > low ? run->from : low, end = run->from + run->length;
        uint64_t to = end < high ? end : high;
        if (from >= to)
            continue;
        if (list != NULL)
            list[count] = (struct stretch){
                .to = run->to + (from - run->from), .length = to - from, .position = from};
        count++;
    }
    return count;
}

/* Batch and position become tokens: for each index of the batch the stretches of its row. */
static bool token_stretches(const struct boxing *boxing, struct stretch **list, size_t *count)
{
    struct tdc_placing *placing = boxing->placing;
    size_t rows = leaf_stretches(boxing, placing->batch_leaf, NULL);
    size_t parts = leaf_stretches(boxing, placing->position_leaf, NULL);
    struct stretch *row_list = tdc_arena_zeroed(placing->arena, rows + 1, sizeof *row_list);
    struct stretch *part_list = tdc_arena_zeroed(placing->arena, parts + 1, sizeof *part_list);
    struct tdc_run *runs = tdc_arena_zeroed(placing->arena, parts + 1, sizeof *runs);
    if (row_list == NULL || part_list == NULL || runs == NULL)
        return false;
    leaf_stretches(boxing, placing->batch_leaf, row_list);
    leaf_stretches(boxing, placing->position_leaf, part_list);
    for (size_t i = 0; i < parts; i++)
        runs[i] = (struct tdc_run){part_list[i].position, part_list[i].to, part_list[i].length};
    size_t used = 0, room = 0;
    *list = NULL;
    for (size_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < row_list[i].length; k++) {
            struct tdc_runs mapped, of_row = {runs, parts};
            if (tdc_runs_map(placing, &of_row, &placing->rows[row_list[i].to + k], &mapped) !=
                TDC_OK)
                return false;
            if (used + mapped.count > room) {
                room = (used + mapped.count) * 2;
                struct stretch *grown = tdc_arena_zeroed(placing->arena, room, sizeof *grown);
                if (grown == NULL)
                    return false;
                if (used != 0)
                    memcpy(grown, *list, used * sizeof *grown);
                *list = grown;
            }
            for (size_t m = 0; m < mapped.count; m++)
                (*list)[used++] = (struct stretch){.to = mapped.list[m].to,
                                                   .length = mapped.list[m].length,
                                                   .batch = row_list[i].position + k,
                                                   .position = mapped.list[m].from};
        }
    *count = used;
    return true;
}

static bool axis_stretches(const struct boxing *boxing, unsigned axis, struct stretch **list,
                           size_t *count)
{
    if ((int)axis == boxing->token_axis)
        return token_stretches(boxing, list, count);
    *count = leaf_stretches(boxing, boxing->leaf_of[axis], NULL);
    *list = tdc_arena_zeroed(boxing->placing->arena, *count + 1, sizeof **list);
    if (*list == NULL)
        return false;
    leaf_stretches(boxing, boxing->leaf_of[axis], *list);
    return true;
}

/* Adds an index of a leaf to the stored index of its axis. */
static void add_index(const struct boxing *boxing, unsigned leaf, uint64_t index, uint64_t *base)
{
    const struct tdc_leaf_plan *plan = &boxing->placing->leaves[leaf];
    int stored = boxing->placing->axes[plan->axis].stored;
    if (stored >= 0)
        base[stored] += index * plan->way[boxing->cell];
}

static bool add_box(struct boxing *boxing, struct stretch *const *lists, const size_t *at,
                    const uint64_t *start)
{
    struct tdc_placed *placed = boxing->placed;
    struct tdc_placing *placing = boxing->placing;
    unsigned axes = placed->axes;
    if (placed->box_count == *boxing->room) {
        size_t room = *boxing->room * 2 + 16;
        if (room > UINT32_MAX)
            return false;
        struct tdc_logical_box *grown = realloc(*boxing->boxes, room * sizeof *grown);
        if (grown == NULL)
            return false;
        *boxing->boxes = grown;
        *boxing->room = room;
    }
    uint64_t *numbers =
        tdc_arena_zeroed(placing->arena, 2 * axes + placing->stored_count + 1, sizeof *numbers);
    if (numbers == NULL)
        return false;
    uint64_t *first = numbers, *extent = first + axes, *base = extent + axes;
    memcpy(base, start, placing->stored_count * sizeof *base);
    for (unsigned d = 0; d < axes; d++) {
        const struct stretch *stretch = &lists[d][at[d]];
        first[d] = stretch->to;
        extent[d] = stretch->length;
        if ((int)d == boxing->token_axis) {
            add_index(boxing, placing->batch_leaf, stretch->batch, base);
            add_index(boxing, placing->position_leaf, stretch->position, base);
        } else {
            add_index(boxing, boxing->leaf_of[d], stretch->position, base);
        }
    }
    (*boxing->boxes)[placed->box_count++] = (struct tdc_logical_box){
        .part = boxing->part,
        .term = (uint32_t)(boxing->cell % placing->terms),
        .first = first,
        .extent = extent,
        .base = base,
    };
    return true;
}

/* All boxes of one choice of corners. */
static bool add_product(struct boxing *boxing)
{
    struct tdc_placing *placing = boxing->placing;
    struct stretch *lists[TDC_LOGICAL_AXES];
    size_t counts[TDC_LOGICAL_AXES], at[TDC_LOGICAL_AXES] = {0};
    uint64_t start[TDC_MAX_DIMENSIONS] = {0};
    for (unsigned i = 0; i < placing->axis_count; i++)
        if (placing->axes[i].stored >= 0)
            start[placing->axes[i].stored] = boxing->corners[i].list[boxing->chosen[i]].base;
    for (unsigned i = 0; i < placing->leaf_count; i++) {
        struct stretch one;
        if (!placing->leaves[i].dropped)
            continue;
        if (leaf_stretches(boxing, i, NULL) != 1)
            return true; /* the index that was chosen is in another part */
        leaf_stretches(boxing, i, &one);
        add_index(boxing, i, one.position, start);
    }
    for (unsigned d = 0; d < boxing->placed->axes; d++) {
        if (!axis_stretches(boxing, d, &lists[d], &counts[d]))
            return false;
        if (counts[d] == 0)
            return true;
    }
    for (;;) {
        if (!add_box(boxing, lists, at, start))
            return false;
        unsigned d = boxing->placed->axes;
        while (d > 0 && ++at[d - 1] == counts[d - 1])
            at[--d] = 0;
        if (d == 0)
            return true;
    }
}

/* ---- a part ---------------------------------------------------------------------------------- */

static bool box_piece(struct boxing *boxing)
{
    unsigned count = boxing->placing->axis_count;
    for (unsigned i = 0; i < count; i++) {
        if (!find_corners(boxing, i))
            return false;
        if (boxing->corners[i].count == 0)
            return true;
        boxing->chosen[i] = 0;
    }
    for (;;) {
        if (!add_product(boxing))
            return false;
        unsigned i = count;
        while (i > 0 && ++boxing->chosen[i - 1] == boxing->corners[i - 1].count)
            boxing->chosen[--i] = 0;
        if (i == 0)
            return true;
    }
}

static tdc_status open_part(const struct tdc_logical_part *part, struct tdc_tensor *tensor,
                            struct tdc_error *error)
{
    const struct tdc_side *side = part->context;
    return side->open(side, part->record, part->piece, tensor, error);
}

static void make_part(const struct boxing *boxing, const struct tdc_side_record *record,
                      size_t piece, struct tdc_logical_part *part)
{
    const struct tdc_placing *placing = boxing->placing;
    *part = (struct tdc_logical_part){.open = open_part,
                                      .context = placing->sided->side,
                                      .record = record,
                                      .piece = piece,
                                      .where = record->where};
    for (unsigned d = 0; d < boxing->placed->axes; d++) {
        unsigned leaf = (int)d == boxing->token_axis ? placing->position_leaf : boxing->leaf_of[d];
        part->stored[d] = (int8_t)placing->axes[placing->leaves[leaf].axis].stored;
        part->steps[d] = placing->leaves[leaf].way[boxing->cell];
    }
}

/* Which leaf each logical axis comes from: those that were not dropped, tokens in place of batch
 * and position where the earlier of the two stood. */
static void name_axes(struct boxing *boxing)
{
    const struct tdc_placing *placing = boxing->placing;
    struct tdc_placed *placed = boxing->placed;
    bool of = placing->tokens != NULL && placing->tokens->of[0] != NULL, stands = false;
    boxing->token_axis = -1;
    for (unsigned i = 0; i < placing->leaf_count; i++) {
        const struct tdc_leaf_plan *leaf = &placing->leaves[i];
        bool token = of && (i == placing->batch_leaf || i == placing->position_leaf);
        if (leaf->dropped || (token && stands))
            continue;
        unsigned d = placed->axes++;
        stands |= token;
        boxing->leaf_of[d] = i;
        if (token)
            boxing->token_axis = (int)d;
        bool packed = placing->tokens != NULL && !of && i == placing->token_leaf;
        placed->names[d] = token ? placing->tokens->axis : leaf->name;
        placed->sizes[d] = token || packed ? placing->token_count : leaf->full;
        if (token || packed) {
            placed->has_tokens = true;
            placed->tokens = (struct tdc_token_axis){
                .axis = d, .lengths = placing->sequences, .count = placing->sequence_count};
        }
    }
}

/* A packed axis loses its padding. */
static tdc_status map_tokens(struct tdc_placing *placing)
{
    struct tdc_runs pieces = placing->pieces;
    if (placing->tokens == NULL || placing->tokens->of[0] != NULL)
        return TDC_OK;
    tdc_runs_sort(&pieces);
    struct tdc_leaf_plan *leaf = &placing->leaves[placing->token_leaf];
    tdc_status status = TDC_OK;
    for (size_t cell = 0; cell < placing->keys * placing->terms && status == TDC_OK; cell++)
        status = tdc_runs_map(placing, &leaf->runs[cell], &pieces, &leaf->runs[cell]);
    return status;
}

static size_t pieces_of(const struct tdc_side_record *record)
{
    return record->piece_count != 0 ? record->piece_count : 1;
}

static bool box_cells(struct boxing *boxing)
{
    struct tdc_placing *placing = boxing->placing;
    struct tdc_placed *placed = boxing->placed;
    size_t cells = (size_t)(placing->keys * placing->terms), parts = 0;
    uint32_t *first = tdc_arena_zeroed(placing->arena, cells + 1, sizeof *first);
    for (size_t i = 0; i < cells; i++)
        parts += pieces_of(placing->cells[i].record);
    for (size_t i = 0; i < placing->twin_count; i++)
        parts += pieces_of(placing->twins[i].twin);
    placed->parts = tdc_arena_zeroed(placing->arena, parts + 1, sizeof *placed->parts);
    placed->twins = tdc_arena_zeroed(placing->arena, parts + 1, sizeof *placed->twins);
    if (first == NULL || placed->parts == NULL || placed->twins == NULL || parts > UINT32_MAX)
        return false;
    for (boxing->cell = 0; boxing->cell < cells; boxing->cell++) {
        const struct tdc_side_record *record = placing->cells[boxing->cell].record;
        first[boxing->cell] = (uint32_t)placed->part_count;
        for (size_t piece = 0; piece < pieces_of(record); piece++) {
            boxing->piece = record->piece_count != 0 ? &record->pieces[piece] : NULL;
            boxing->part = (uint32_t)placed->part_count;
            make_part(boxing, record, piece, &placed->parts[placed->part_count++]);
            if (!box_piece(boxing))
                return false;
        }
    }
    for (size_t i = 0; i < placing->twin_count; i++) {
        const struct tdc_twin_pair *pair = &placing->twins[i];
        boxing->cell = pair->cell;
        /* pieces of one shape face each other */
        size_t pieces = pieces_of(placing->cells[pair->cell].record);
        for (size_t piece = 0; piece < pieces && pieces == pieces_of(pair->twin); piece++) {
            placed->twins[placed->twin_count++] = (struct tdc_logical_twin){
                first[pair->cell] + (uint32_t)piece, (uint32_t)placed->part_count};
            make_part(boxing, pair->twin, piece, &placed->parts[placed->part_count++]);
        }
    }
    return true;
}

tdc_status tdc_placing_boxes(struct tdc_placing *placing, struct tdc_placed *placed)
{
    struct tdc_logical_box *boxes = NULL;
    size_t room = 0;
    struct boxing boxing = {.placing = placing, .placed = placed, .boxes = &boxes, .room = &room};
    tdc_status status = map_tokens(placing);
    if (status != TDC_OK)
        return status;
    name_axes(&boxing);
    uint64_t count = 1;
    for (unsigned d = 0; d < placed->axes; d++)
        if (__builtin_mul_overflow(count, placed->sizes[d] != 0 ? placed->sizes[d] : 1, &count) ||
            count > INT64_MAX)
            return tdc_placing_fail(placing, "more elements than can be counted");
    placed->term_count = (uint32_t)placing->terms;
    bool ok = box_cells(&boxing);
    if (ok) {
        placed->boxes = tdc_arena_zeroed(placing->arena, placed->box_count + 1, sizeof *boxes);
        ok = placed->boxes != NULL;
        if (ok && placed->box_count != 0)
            memcpy(placed->boxes, boxes, placed->box_count * sizeof *boxes);
    }
    free(boxes);
    return ok ? TDC_OK : tdc_placing_no_memory(placing);
}
