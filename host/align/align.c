#include "host/align/align.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

#define ALIGN_LIMIT ((size_t)32 << 30)

static tdc_status no_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for logical tensors");
}

/* ---- sides ----------------------------------------------------------------------------------- */

static tdc_status open_sides(struct tdc_alignment *alignment,
                             const struct tdc_align_request *request, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (int i = 0; i < TDC_ALIGN_SIDES && status == TDC_OK; i++) {
        struct tdc_side_request side = {
            .path = request->paths[i],
            .step = request->step,
            .key = request->key,
            .options = request->options,
        };
        if (request->paths[i] == NULL)
            continue;
        status = tdc_side_open(&side, &alignment->sides[i], error);
        if (status == TDC_OK && alignment->sides[i]->count == 0)
            status = tdc_fail(error, TDC_ERR_NOTHING, "%s: no tensors found", request->paths[i]);
        if (status == TDC_OK && i < 2)
            alignment->from_statistics |= !alignment->sides[i]->has_data;
        if (status == TDC_OK)
            status = tdc_sided_init(&alignment->sided[i], (char)('A' + i), &alignment->rules,
                                    alignment->sides[i], error);
    }
    return status;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static const struct tdc_rule_entries *entries_called(const struct tdc_rule_tensor *tensor,
                                                     const char *key)
{
    for (size_t i = 0; i < tensor->entry_count && key != NULL; i++)
        if (strcmp(tensor->entries[i].key, key) == 0)
            return &tensor->entries[i];
    return NULL;
}

/* By the letter of the side, else by its form; the truth else takes what the reference takes. */
static const struct tdc_rule_entries *entries_of(const struct tdc_align_rules *rules,
                                                 const struct tdc_rule_tensor *tensor, int side)
{
    static const char *const letters[] = {"a", "b", "c"};
    const struct tdc_rule_entries *found = entries_called(tensor, letters[side]);
    if (found == NULL)
        found = entries_called(tensor, rules->sides[side].form);
    return found == NULL && side == 2 ? entries_of(rules, tensor, 1) : found;
}

static tdc_status find_side(struct tdc_row_making *making, int index)
{
    struct tdc_alignment *alignment = making->alignment;
    struct tdc_row_side *side = &making->sides[index];
    const struct tdc_rule_tensor *tensor = making->tensor;
    static const struct tdc_rule_entry everything;
    *side = (struct tdc_row_side){.sided = &alignment->sided[index]};
    if (alignment->sides[index] == NULL)
        return TDC_OK;
    side->entries = tensor != NULL ? entries_of(&alignment->rules, tensor, index) : NULL;
    size_t count = tensor == NULL ? 1 : side->entries != NULL ? side->entries->count : 0;
    side->used = tdc_arena_zeroed(&alignment->arena, count + 1, sizeof *side->used);
    side->groups = calloc(count + 1, sizeof *side->groups);
    if (side->used == NULL || side->groups == NULL)
        return no_memory(making->error);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        side->used[i] = tdc_entry_used(side->sided, tensor,
                                       tensor != NULL ? side->entries->list[i] : &everything);
        side->used[i].each_rank = making->each_rank;
        status =
            tdc_part_groups_find(side->sided, &side->used[i], tensor != NULL ? tensor->name : NULL,
                                 tensor != NULL ? tensor->name_place : (struct tdc_rule_place){0},
                                 &alignment->arena, &side->groups[side->count++], making->error);
    }
    return status;
}

static void free_side(struct tdc_row_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        tdc_part_groups_free(&side->groups[i]);
    free(side->groups);
    *side = (struct tdc_row_side){0};
}

static tdc_status add_row(struct tdc_row_making *making, const char *name)
{
    struct tdc_alignment *alignment = making->alignment;
    bool fresh;
    if (tdc_names_put(&alignment->seen, name, strlen(name), &fresh) == TDC_NAME_NONE)
        return no_memory(making->error);
    if (!fresh)
        return TDC_OK; /* an earlier rule has it */
    if (alignment->count == alignment->room) {
        size_t room = alignment->room * 2 + 64;
        struct tdc_aligned_row *grown = realloc(alignment->rows, room * sizeof *grown);
        if (grown == NULL)
            return no_memory(making->error);
        alignment->rows = grown;
        alignment->room = room;
    }
    tdc_status status = tdc_row_make(making, name, &alignment->rows[alignment->count]);
    alignment->count += status == TDC_OK;
    return status;
}

static tdc_status add_rows(struct tdc_row_making *making)
{
    tdc_status status = TDC_OK;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < making->sides[side].count; i++)
            for (size_t k = 0; k < making->sides[side].groups[i].count && status == TDC_OK; k++)
                status = add_row(making, making->sides[side].groups[i].groups[k].name);
    return status;
}

/* Whether both sides of a tensor are in the rules. */
static bool takes_part(const struct tdc_alignment *alignment, const struct tdc_rule_tensor *tensor)
{
    return entries_of(&alignment->rules, tensor, 0) != NULL &&
           entries_of(&alignment->rules, tensor, 1) != NULL;
}

static tdc_status add_tensor(struct tdc_row_making *making)
{
    tdc_status status = TDC_OK;
    if (making->tensor != NULL && !takes_part(making->alignment, making->tensor))
        return TDC_OK;
    for (int i = 0; i < TDC_ALIGN_SIDES && status == TDC_OK; i++)
        status = find_side(making, i);
    if (status == TDC_OK)
        status = add_rows(making);
    for (int i = 0; i < TDC_ALIGN_SIDES; i++)
        free_side(&making->sides[i]);
    return status;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static size_t count_rest(const struct tdc_sided *sided)
{
    size_t count = 0;
    for (size_t i = 0; i < sided->side->count; i++)
        count += !sided->used[i] && !sided->excluded[i];
    return count;
}

static bool has_rank(const struct tdc_sided *sided, int64_t rank)
{
    for (size_t i = 0; i < sided->side->count; i++)
        if (!sided->excluded[i] && sided->side->records[i].rank == rank)
            return true;
    return false;
}

static bool same_ranks(const struct tdc_alignment *alignment)
{
    for (int i = 0; i < 2; i++) {
        const struct tdc_sided *one = &alignment->sided[i], *other = &alignment->sided[1 - i];
        int64_t last = -1;
        for (size_t k = 0; k < one->side->count; k++) {
            int64_t rank = one->side->records[k].rank;
            if (!one->excluded[k] && rank != last && !has_rank(other, rank))
                return false;
            last = rank;
        }
    }
    return true;
}

/* Records that no rule has face those of the same name, rank and step. */
static tdc_status compare_rest(struct tdc_row_making *making)
{
    struct tdc_alignment *alignment = making->alignment;
    if (!same_ranks(alignment))
        return tdc_rule_fail(making->error, alignment->rules.rest_place,
                             "rest: compare needs the same ranks on both sides");
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < alignment->sides[i]->count; k++)
            alignment->sided[i].excluded[k] |= alignment->sided[i].used[k];
    making->tensor = NULL;
    making->each_rank = true;
    return add_tensor(making);
}

static tdc_status take_rest(struct tdc_row_making *making)
{
    struct tdc_alignment *alignment = making->alignment;
    if (alignment->rules.rest == TDC_REST_COMPARE)
        return compare_rest(making);
    for (int i = 0; i < 2 && alignment->rules.rest == TDC_REST_REPORT; i++)
        alignment->rest[i] = count_rest(&alignment->sided[i]);
    return TDC_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static tdc_status make_rows(struct tdc_alignment *alignment,
                            const struct tdc_align_request *request, bool all,
                            struct tdc_error *error)
{
    struct tdc_row_making making = {.alignment = alignment, .request = request, .error = error};
    tdc_arena_init(&making.scratch, ALIGN_LIMIT);
    tdc_status status = TDC_OK;
    for (making.tensor = alignment->rules.tensors; making.tensor != NULL && status == TDC_OK;
         making.tensor = making.tensor->next)
        status = add_tensor(&making);
    making.tensor = NULL;
    if (status == TDC_OK && all && request->file == NULL)
        status = add_tensor(&making);
    else if (status == TDC_OK && all)
        status = take_rest(&making);
    tdc_arena_free(&making.scratch);
    return status;
}

/* A mistake that stands before the one that ended the reading is told in its place. */
static tdc_status find_earlier_mistake(struct tdc_alignment *alignment,
                                       const struct tdc_align_request *request,
                                       struct tdc_error *error)
{
    struct tdc_error earlier = {0};
    tdc_status status = open_sides(alignment, request, &earlier);
    if (status == TDC_OK)
        status = make_rows(alignment, request, false, &earlier);
    if (status == TDC_ERR_ARGUMENT)
        *error = earlier;
    return TDC_ERR_ARGUMENT;
}

static tdc_status build(struct tdc_alignment *alignment, const struct tdc_align_request *request,
                        struct tdc_error *error)
{
    tdc_align_rules_init(&alignment->rules);
    /* equal names: what a dump says of its tensors is known, the rest are replicas */
    alignment->rules.sides[0].dtensor = alignment->rules.sides[1].dtensor =
        alignment->rules.sides[2].dtensor = request->file == NULL;
    tdc_status status = TDC_OK;
    if (request->file != NULL)
        status = tdc_align_rules_load(request->file, &alignment->rules, error);
    if (status == TDC_ERR_ARGUMENT)
        return find_earlier_mistake(alignment, request, error);
    if (status == TDC_OK)
        status = open_sides(alignment, request, error);
    if (status == TDC_OK)
        status = make_rows(alignment, request, true, error);
    if (status == TDC_OK && !tdc_alignment_dumps(alignment))
        status = no_memory(error);
    return status;
}

tdc_status tdc_alignment_new(const struct tdc_align_request *request,
                             struct tdc_alignment **alignment, struct tdc_error *error)
{
    struct tdc_alignment *made = calloc(1, sizeof *made);
    *alignment = NULL;
    if (made == NULL)
        return no_memory(error);
    tdc_arena_init(&made->arena, ALIGN_LIMIT);
    tdc_names_init(&made->seen);
    tdc_status status = build(made, request, error);
    if (status == TDC_OK)
        *alignment = made;
    else
        tdc_alignment_free(made);
    return status;
}

static void free_dump(struct tdc_dump *dump)
{
    free(dump->records);
    free(dump->entries);
    tdc_names_free(&dump->entry_names);
    tdc_arena_free(&dump->arena);
}

void tdc_alignment_free(struct tdc_alignment *alignment)
{
    if (alignment == NULL)
        return;
    for (int i = 0; i < TDC_ALIGN_SIDES; i++) {
        tdc_sided_free(&alignment->sided[i]);
        tdc_side_free(alignment->sides[i]);
    }
    for (int i = 0; i < 2; i++)
        free_dump(&alignment->dumps[i]);
    tdc_align_rules_free(&alignment->rules);
    tdc_names_free(&alignment->seen);
    free(alignment->rows);
    tdc_arena_free(&alignment->arena);
    free(alignment);
}
