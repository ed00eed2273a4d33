/* plan.c - what dims, placements and hints say about axes, leaves and joins. */
#include <string.h>

#include "host/align/place/place.h"
#include "io/base/error.h"

static bool same_leaves(const struct tdc_dims_axis *axis, const struct tdc_dims_axis *other)
{
    if (axis->leaf_count != other->leaf_count)
        return false;
    for (size_t i = 0; i < axis->leaf_count; i++)
        if (strcmp(axis->leaves[i].name, other->leaves[i].name) != 0)
            return false;
    return true;
}

bool tdc_place_is_fused(const struct tdc_dims_axis *axis, const struct tdc_dims *other)
{
    if (tdc_dims_open_leaves(axis) < 2 || other == NULL)
        return false;
    for (size_t i = 0; i < other->axis_count; i++)
        if (tdc_dims_open_leaves(&other->axes[i]) > 1 && same_leaves(axis, &other->axes[i]))
            return true;
    return false;
}

/* ---- joins ----------------------------------------------------------------------------------- */

static tdc_status find_join(struct tdc_placing *placing, const char *name,
                            struct tdc_written repeat, unsigned *index)
{
    if (placing->join_count == TDC_MOST_JOINS)
        return tdc_placing_fail(placing, "more than %d joins", TDC_MOST_JOINS);
    struct tdc_join_plan *join = &placing->joins[placing->join_count];
    *join = (struct tdc_join_plan){.name = name, .repeat = 1};
    *index = placing->join_count++;
    if (repeat.length == 0)
        return TDC_OK;
    tdc_status status = tdc_placing_number(placing, repeat, &join->repeat);
    if (status == TDC_OK && join->repeat <= 0)
        status = tdc_rule_fail(placing->error, placing->used->dims_place,
                               "dims '%.300s': repeat=%lld has no meaning", placing->dims->text,
                               (long long)join->repeat);
    return status;
}

/* The digits of a list of joins; those of a product are given to its leaves later. */
static tdc_status add_digits(struct tdc_placing *placing, const struct tdc_join_list *list,
                             struct tdc_step_plan *step)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tdc_join_part *part = &list->parts[i];
        if (step->digit_count == sizeof step->digits / sizeof *step->digits)
            return tdc_placing_fail(placing, "more than 8 joins of one axis");
        struct tdc_digit *digit = &step->digits[step->digit_count++];
        *digit = (struct tdc_digit){
            .divisor = 1, .zigzag = part->zigzag, .seq = part->seq, .whole = part->whole};
        tdc_status status = find_join(placing, part->name, part->repeat, &digit->join);
        if (status != TDC_OK)
            return status;
    }
    return TDC_OK;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static const uint64_t *hinted(const struct tdc_placing *placing, const struct tdc_leaf *leaf)
{
    for (size_t s = 0; s < leaf->step_count; s++)
        if (leaf->steps[s].range != NULL)
            return NULL;
    for (unsigned i = 0; placing->hints != NULL && i < placing->hints->count; i++)
        if (strcmp(placing->hints->names[i], leaf->name) == 0)
            return &placing->hints->sizes[i];
    return NULL;
}

/* Open leaves that the other side has take their sizes from there, the later ones first, until one
 * is left. */
static tdc_status close_leaves(struct tdc_placing *placing, const struct tdc_dims_axis *axis,
                               struct tdc_leaf_plan *leaves)
{
    size_t open = tdc_dims_open_leaves(axis), known = 0;
    const struct tdc_leaf *first = NULL, *second = NULL;
    for (size_t i = 0; i < axis->leaf_count; i++)
        known += axis->leaves[i].size.length == 0 && !axis->leaves[i].fresh &&
                 hinted(placing, &axis->leaves[i]) != NULL;
    for (size_t i = axis->leaf_count; i-- > 0 && known + 1 >= open && open > 1;) {
        const uint64_t *size = hinted(placing, &axis->leaves[i]);
        if (leaves[i].sized || leaves[i].fresh || size == NULL)
            continue;
        leaves[i].sized = true;
        leaves[i].size = (int64_t)*size;
        open--;
    }
    if (open < 2)
        return TDC_OK;
    for (size_t i = 0; i < axis->leaf_count; i++)
        if (!leaves[i].sized && !leaves[i].fresh) {
            if (first == NULL)
                first = &axis->leaves[i];
            else if (second == NULL)
                second = &axis->leaves[i];
        }
    return tdc_rule_fail(placing->error, placing->used->dims_place,
                         "dims '%.400s': the sizes of '%.100s' and '%.100s' are both open",
                         placing->dims->text, first != NULL ? first->name : "",
                         second != NULL ? second->name : "");
}

static tdc_status new_leaf(struct tdc_placing *placing, const char *name, size_t steps,
                           struct tdc_leaf_plan **leaf)
{
    if (placing->leaf_count == TDC_LOGICAL_AXES)
        return tdc_placing_fail(placing, "more than %d axes", TDC_LOGICAL_AXES);
    *leaf = &placing->leaves[placing->leaf_count++];
    **leaf = (struct tdc_leaf_plan){.name = name, .axis = placing->axis_count};
    /* room for what placements and a split product put in front */
    (*leaf)->steps = tdc_arena_zeroed(placing->arena, steps + 3, sizeof *(*leaf)->steps);
    return (*leaf)->steps != NULL ? TDC_OK : tdc_placing_no_memory(placing);
}

static tdc_status plan_leaf(struct tdc_placing *placing, const struct tdc_leaf *leaf)
{
    struct tdc_leaf_plan *plan = NULL;
    tdc_status status = new_leaf(placing, leaf->name, leaf->step_count, &plan);
    if (status != TDC_OK || plan == NULL)
        return status;
    plan->fresh = leaf->fresh;
    plan->sized = leaf->size.length != 0;
    if (plan->sized)
        status = tdc_placing_number(placing, leaf->size, &plan->size);
    for (size_t i = 0; i < leaf->step_count && status == TDC_OK; i++) {
        struct tdc_step_plan *step = &plan->steps[plan->step_count++];
        step->range = leaf->steps[i].range;
        if (step->range == NULL)
            status = add_digits(placing, &leaf->steps[i].join, step);
        else
            plan->dropped |= tdc_range_is_index(step->range);
    }
    return status;
}

/* A product that both sides leave open is one axis, called by all its leaves. */
static tdc_status plan_fused(struct tdc_placing *placing, const struct tdc_dims_axis *axis)
{
    char name[512];
    size_t used = 0;
    for (size_t i = 0; i < axis->leaf_count; i++) {
        size_t length = strlen(axis->leaves[i].name);
        if (used + length + 2 > sizeof name)
            return tdc_placing_fail(placing, "a name of more than 500 letters");
        if (i != 0)
            name[used++] = '*';
        memcpy(name + used, axis->leaves[i].name, length);
        used += length;
    }
    const char *kept = tdc_arena_text(placing->arena, name, used);
    struct tdc_leaf_plan *plan = NULL;
    if (kept == NULL)
        return tdc_placing_no_memory(placing);
    tdc_status status = new_leaf(placing, kept, axis->leaves[0].step_count, &plan);
    if (status == TDC_OK && axis->whole.count != 0)
        status = add_digits(placing, &axis->whole, &plan->steps[plan->step_count++]);
    for (size_t i = 0; i < axis->leaves[0].step_count && status == TDC_OK; i++) {
        struct tdc_step_plan *step = &plan->steps[plan->step_count++];
        step->range = axis->leaves[0].steps[i].range;
        if (step->range == NULL)
            status = add_digits(placing, &axis->leaves[0].steps[i].join, step);
    }
    return status;
}

static tdc_status plan_axis(struct tdc_placing *placing, const struct tdc_dims_axis *axis)
{
    if (placing->axis_count == TDC_LOGICAL_AXES)
        return tdc_placing_fail(placing, "more than %d axes", TDC_LOGICAL_AXES);
    struct tdc_axis_plan *plan = &placing->axes[placing->axis_count];
    bool stored = tdc_dims_is_stored(axis);
    *plan = (struct tdc_axis_plan){.axis = axis,
                                   .one = axis->one,
                                   .stored = stored ? (int)placing->stored_count : -1,
                                   .first_leaf = placing->leaf_count};
    placing->stored_count += stored;
    tdc_status status = TDC_OK;
    const struct tdc_dims *other = placing->hints != NULL ? placing->hints->other : NULL;
    if (tdc_place_is_fused(axis, other)) {
        status = plan_fused(placing, axis);
        plan->leaf_count = 1;
    } else {
        for (size_t i = 0; i < axis->leaf_count && status == TDC_OK; i++)
            status = plan_leaf(placing, &axis->leaves[i]);
        plan->leaf_count = (unsigned)axis->leaf_count;
        if (status == TDC_OK && axis->leaf_count != 0)
            status = close_leaves(placing, axis, &placing->leaves[plan->first_leaf]);
        /* the joins of the product come behind those of its leaves */
        if (status == TDC_OK)
            status = add_digits(placing, &axis->whole, &plan->whole);
    }
    placing->axis_count++;
    return status;
}

/* ---- placements ------------------------------------------------------------------------------ */

static tdc_status check_dtensor(const struct tdc_placing *placing,
                                const struct tdc_dtensor *dtensor)
{
    const struct tdc_part_group *group = placing->group;
    for (unsigned i = 0; i < dtensor->placement_count; i++) {
        const struct tdc_placement *placement = &dtensor->placements[i];
        if (placement->kind == TDC_PLACED_PARTIAL && strcmp(placement->reduction, "sum") != 0)
            return tdc_placing_fail(placing, "partial values of '%.100s' cannot be put together",
                                    placement->reduction);
    }
    for (size_t i = 0; i < group->count; i++) {
        const struct tdc_side_record *record =
            &placing->sided->side->records[group->parts[i].record];
        uint64_t place[TDC_MESH_AXES];
        bool fits = record->dtensor != NULL && record->dtensor->axes == dtensor->axes &&
                    tdc_dtensor_place(record->dtensor, record->rank, place);
        for (unsigned k = 0; fits && k < dtensor->axes; k++)
            fits = place[k] < dtensor->sizes[k];
        if (!fits)
            return tdc_placing_fail(placing, "rank%lld is not in its device_mesh",
                                    (long long)record->rank);
    }
    if (dtensor->placement_count != dtensor->axes)
        return tdc_placing_fail(placing, "%u placements for a mesh of %u axes",
                                dtensor->placement_count, dtensor->axes);
    return TDC_OK;
}

/* The axis of dims that stands for a stored one; SIZE_MAX: none. */
static size_t axis_stored_at(const struct tdc_placing *placing, int64_t stored)
{
    for (size_t i = 0; i < placing->axis_count; i++)
        if (placing->axes[i].stored == stored && !placing->axes[i].one)
            return i;
    return SIZE_MAX;
}

static tdc_status place_shard(struct tdc_placing *placing, unsigned mesh_axis, int64_t cut)
{
    static const char *const names[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"};
    size_t at = axis_stored_at(placing, cut);
    if (at == SIZE_MAX)
        return tdc_placing_fail(placing, "axis %lld is split by its placements, which dims drop",
                                (long long)cut);
    struct tdc_leaf_plan *leaf = &placing->leaves[placing->axes[at].first_leaf];
    memmove(leaf->steps + 1, leaf->steps, leaf->step_count * sizeof *leaf->steps);
    leaf->step_count++;
    leaf->steps[0] = (struct tdc_step_plan){.digit_count = 1};
    leaf->steps[0].digits[0].divisor = 1;
    return find_join(placing, names[mesh_axis], (struct tdc_written){0},
                     &leaf->steps[0].digits[0].join);
}

static void number_joins(struct tdc_placing *placing, struct tdc_step_plan *step,
                         const struct tdc_join_plan *joins)
{
    for (unsigned i = 0; i < step->digit_count; i++) {
        placing->joins[placing->join_count] = joins[step->digits[i].join];
        step->digits[i].join = placing->join_count++;
    }
}

/* Joins in the order of the axes they stand on, those of placements among them: the order in which
 * a part that is missing is looked for and named. */
static void order_joins(struct tdc_placing *placing)
{
    struct tdc_join_plan joins[TDC_MOST_JOINS];
    memcpy(joins, placing->joins, sizeof joins);
    placing->join_count = 0;
    for (unsigned i = 0; i < placing->axis_count; i++) {
        struct tdc_axis_plan *axis = &placing->axes[i];
        for (unsigned k = 0; k < axis->leaf_count; k++) {
            struct tdc_leaf_plan *leaf = &placing->leaves[axis->first_leaf + k];
            for (unsigned s = 0; s < leaf->step_count; s++)
                number_joins(placing, &leaf->steps[s], joins);
        }
        number_joins(placing, &axis->whole, joins);
    }
}

static tdc_status plan_placements(struct tdc_placing *placing, const struct tdc_dtensor *dtensor)
{
    static const char *const names[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"};
    int64_t stored = (int64_t)placing->stored_count, cuts[TDC_MESH_AXES];
    unsigned cut_count = 0;
    tdc_status status = check_dtensor(placing, dtensor);
    for (unsigned i = 0; i < dtensor->placement_count && status == TDC_OK; i++) {
        if (dtensor->placements[i].kind != TDC_PLACED_SHARD)
            continue;
        int64_t cut = dtensor->placements[i].axis;
        cut += cut < 0 ? stored : 0;
        for (unsigned k = 0; k < cut_count; k++)
            if (cuts[k] == cut)
                return tdc_placing_fail(placing,
                                        "axis %lld is split twice by its placements; declare mesh "
                                        "and dims",
                                        (long long)cut);
        cuts[cut_count++] = cut;
    }
    cut_count = 0;
    for (unsigned i = 0; i < dtensor->placement_count && status == TDC_OK; i++) {
        if (dtensor->placements[i].kind == TDC_PLACED_SHARD)
            status = place_shard(placing, i, cuts[cut_count++]);
        else if (dtensor->placements[i].kind == TDC_PLACED_PARTIAL)
            placing->sums[placing->sum_count++] =
                (struct tdc_join_plan){.name = names[i], .repeat = 1};
    }
    if (status == TDC_OK)
        order_joins(placing);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

tdc_status tdc_placing_plan(struct tdc_placing *placing)
{
    const struct tdc_dims *dims = placing->dims;
    const struct tdc_side_record *first =
        &placing->sided->side->records[placing->group->parts[0].record];
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < dims->axis_count && status == TDC_OK; i++)
        status = plan_axis(placing, &dims->axes[i]);
    for (size_t i = 0; i < dims->declaration_count && status == TDC_OK; i++) {
        if (dims->declarations[i].how != TDC_DECLARED_SUM)
            continue;
        if (placing->sum_count + TDC_MESH_AXES >= TDC_MOST_JOINS)
            return tdc_placing_fail(placing, "more than 8 sums");
        placing->sums[placing->sum_count++] =
            (struct tdc_join_plan){.name = dims->declarations[i].name, .repeat = 1};
    }
    if (status == TDC_OK && placing->sided->rule->dtensor && first->dtensor != NULL)
        status = plan_placements(placing, first->dtensor);
    return status;
}
