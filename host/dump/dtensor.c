#include "host/dump/dtensor.h"

#include <string.h>

/* The shape of nested lists: that of the first element of each. */
static bool mesh_shape(const struct tdc_json *mesh, struct tdc_dtensor *dtensor)
{
    for (; mesh != NULL && mesh->kind == TDC_JSON_LIST; mesh = mesh->child) {
        if (dtensor->axes == TDC_MESH_AXES)
            return false;
        dtensor->sizes[dtensor->axes++] = mesh->children;
    }
    return dtensor->axes != 0 && mesh != NULL;
}

/* Copies the ranks row by row; false where the lists are not of one shape. */
static bool take_ranks(const struct tdc_json *mesh, const struct tdc_dtensor *dtensor,
                       unsigned axis, int64_t **next)
{
    if (axis == dtensor->axes) {
        if (mesh->kind != TDC_JSON_INTEGER || mesh->number < 0 || mesh->number > 1e9)
            return false;
        *(*next)++ = (int64_t)mesh->number;
        return true;
    }
    if (mesh->kind != TDC_JSON_LIST || mesh->children != dtensor->sizes[axis])
        return false;
    for (const struct tdc_json *child = mesh->child; child != NULL; child = child->next)
        if (!take_ranks(child, dtensor, axis + 1, next))
            return false;
    return true;
}

static bool take_placement(struct tdc_arena *arena, const struct tdc_json *given,
                           struct tdc_placement *placement, bool *failed)
{
    const struct tdc_json *shard = tdc_json_get(given, "Shard");
    const struct tdc_json *partial = tdc_json_get(given, "Partial");
    const struct tdc_json *axis = tdc_json_get(shard, "dim");
    const struct tdc_json *reduction = tdc_json_get(partial, "reduce_op");
    *placement = (struct tdc_placement){.kind = TDC_PLACED_REPLICA};
    if (shard != NULL) {
        if (axis == NULL || axis->kind != TDC_JSON_INTEGER || !(axis->number > -1e3) ||
            !(axis->number < 1e3))
            return false;
        placement->kind = TDC_PLACED_SHARD;
        placement->axis = (int64_t)axis->number;
    } else if (partial != NULL) {
        if (reduction == NULL || reduction->kind != TDC_JSON_STRING)
            return false;
        placement->kind = TDC_PLACED_PARTIAL;
        placement->reduction = tdc_arena_text(arena, reduction->text, reduction->length);
        *failed |= placement->reduction == NULL;
    } else {
        return tdc_json_get(given, "Replicate") != NULL || tdc_json_is_text(given, "Replicate");
    }
    return true;
}

const struct tdc_dtensor *tdc_dtensor_read(struct tdc_arena *arena, const struct tdc_json *leaf,
                                           bool *failed)
{
    const struct tdc_json *mesh = tdc_json_get(leaf, "device_mesh");
    const struct tdc_json *placements = tdc_json_get(leaf, "placements");
    struct tdc_dtensor read = {0};
    if (mesh == NULL || placements == NULL || placements->kind != TDC_JSON_LIST ||
        placements->children > TDC_MESH_AXES || !mesh_shape(mesh, &read))
        return NULL;
    size_t count = 1;
    for (unsigned i = 0; i < read.axes; i++)
        if (__builtin_mul_overflow(count, (size_t)read.sizes[i], &count))
            return NULL;
    struct tdc_dtensor *kept = tdc_arena_take(arena, sizeof *kept);
    int64_t *ranks = tdc_arena_zeroed(arena, count + 1, sizeof *ranks), *next = ranks;
    *failed |= kept == NULL || ranks == NULL;
    if (kept == NULL || ranks == NULL || !take_ranks(mesh, &read, 0, &next))
        return NULL;
    read.ranks = ranks;
    for (const struct tdc_json *given = placements->child; given != NULL; given = given->next)
        if (!take_placement(arena, given, &read.placements[read.placement_count++], failed))
            return NULL;
    *kept = read;
    return kept;
}

bool tdc_dtensor_place(const struct tdc_dtensor *dtensor, int64_t rank, uint64_t *place)
{
    size_t count = 1, found = 0, at = 0;
    for (unsigned i = 0; i < dtensor->axes; i++)
        count *= (size_t)dtensor->sizes[i];
    for (size_t i = 0; i < count; i++) {
        if (dtensor->ranks[i] != rank)
            continue;
        found++;
        at = i;
    }
    for (unsigned i = dtensor->axes; i-- > 0 && found == 1;) {
        place[i] = at % dtensor->sizes[i];
        at /= dtensor->sizes[i];
    }
    return found == 1;
}
