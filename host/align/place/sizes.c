/* sizes.c - how large the leaves of each part are, and where their indices stand once joined. */
#include <string.h>

#include "host/align/place/place.h"
#include "io/base/text.h"

static size_t cell_count(const struct tdc_placing *placing)
{
    return (size_t)(placing->keys * placing->terms);
}

/* ---- sizes in the parts ---------------------------------------------------------------------- */

/* Parts along a leaf. */
static uint64_t leaf_parts(const struct tdc_leaf_plan *leaf)
{
    uint64_t parts = 1;
    for (unsigned s = 0; s < leaf->step_count; s++)
        for (unsigned k = 0; k < leaf->steps[s].digit_count; k++)
            parts *= leaf->steps[s].digits[k].modulus; /* no more than there are keys */
    return parts;
}

static tdc_status sized_leaf(const struct tdc_placing *placing, const struct tdc_leaf_plan *leaf,
                             uint64_t *local)
{
    uint64_t parts = leaf_parts(leaf);
    if (leaf->size < 0 || (uint64_t)leaf->size % parts != 0)
        return tdc_placing_fail(placing, "axis '%s' of %lld cannot be cut into %llu parts",
                                leaf->name, (long long)leaf->size, (unsigned long long)parts);
    *local = (uint64_t)leaf->size / parts;
    return TDC_OK;
}

/* What the range before leaves of a stored axis. */
static tdc_status reduce_axis(const struct tdc_placing *placing, struct tdc_axis_plan *axis,
                              size_t cell, uint64_t *size)
{
    if (axis->axis->before == NULL)
        return TDC_OK;
    tdc_status status = tdc_placing_range(placing, axis->axis->before, *size, &axis->before[cell]);
    *size = 0;
    for (size_t i = 0; status == TDC_OK && i < axis->before[cell].count; i++)
        *size += axis->before[cell].list[i].length;
    return status;
}

static tdc_status size_axis(struct tdc_placing *placing, struct tdc_axis_plan *axis, size_t cell)
{
    const struct tdc_side_record *record = placing->cells[cell].record;
    uint64_t size = axis->stored >= 0 ? record->shape[axis->stored] : 1, known = 1;
    struct tdc_leaf_plan *open = NULL;
    if (axis->one && size != 1)
        return tdc_placing_fail(placing, "axis %d is 1 in dims '%.400s', %llu in %s", axis->stored,
                                placing->dims->text, (unsigned long long)size, record->where);
    tdc_status status = reduce_axis(placing, axis, cell, &size);
    for (unsigned i = 0; i < axis->leaf_count && status == TDC_OK; i++) {
        struct tdc_leaf_plan *leaf = &placing->leaves[axis->first_leaf + i];
        uint64_t local = 1;
        if (!leaf->sized && !leaf->fresh) {
            open = leaf;
            continue;
        }
        if (leaf->sized && !leaf->fresh)
            status = sized_leaf(placing, leaf, &local);
        leaf->local[cell] = local;
        if (__builtin_mul_overflow(known, local, &known))
            known = UINT64_MAX;
    }
    if (status != TDC_OK || axis->one || axis->stored < 0)
        return status;
    if (open == NULL && known != size)
        return tdc_placing_fail(placing, "axis %.200s should be %llu, %s has %llu",
                                axis->axis->text, (unsigned long long)known, record->where,
                                (unsigned long long)size);
    if (open != NULL && (known == 0 || size % known != 0))
        return tdc_placing_fail(placing, "axis %.200s of %llu is not a multiple of %llu",
                                axis->axis->text, (unsigned long long)size,
                                (unsigned long long)known);
    if (open != NULL)
        open->local[cell] = size / known;
    uint64_t way = 1;
    for (unsigned i = axis->leaf_count; i-- > 0;) {
        struct tdc_leaf_plan *leaf = &placing->leaves[axis->first_leaf + i];
        leaf->way[cell] = way;
        way *= leaf->local[cell];
    }
    return TDC_OK;
}

tdc_status tdc_placing_sizes(struct tdc_placing *placing)
{
    size_t cells = cell_count(placing);
    for (unsigned i = 0; i < placing->leaf_count; i++) {
        struct tdc_leaf_plan *leaf = &placing->leaves[i];
        leaf->local = tdc_arena_zeroed(placing->arena, cells, sizeof *leaf->local);
        leaf->way = tdc_arena_zeroed(placing->arena, cells, sizeof *leaf->way);
        leaf->runs = tdc_arena_zeroed(placing->arena, cells, sizeof *leaf->runs);
        if (leaf->local == NULL || leaf->way == NULL || leaf->runs == NULL)
            return tdc_placing_no_memory(placing);
    }
    for (unsigned i = 0; i < placing->axis_count; i++)
        if (placing->axes[i].axis->before != NULL) {
            placing->axes[i].before =
                tdc_arena_zeroed(placing->arena, cells, sizeof *placing->axes[i].before);
            if (placing->axes[i].before == NULL)
                return tdc_placing_no_memory(placing);
        }
    tdc_status status = TDC_OK;
    for (size_t cell = 0; cell < cells && status == TDC_OK; cell++)
        for (unsigned i = 0; i < placing->axis_count && status == TDC_OK; i++)
            status = size_axis(placing, &placing->axes[i], cell);
    return status;
}

/* ---- joining --------------------------------------------------------------------------------- */

struct joining {
    struct tdc_placing *placing;
    struct tdc_leaf_plan *leaf;
    uint64_t *sizes; /* by cell: of the running coordinate */
};

static tdc_status map_cell(struct joining *joining, size_t cell, const struct tdc_runs *segments)
{
    return tdc_runs_map(joining->placing, &joining->leaf->runs[cell], segments,
                        &joining->leaf->runs[cell]);
}

static tdc_status cut_leaf(struct joining *joining, const struct tdc_range *range)
{
    struct tdc_placing *placing = joining->placing;
    size_t cells = cell_count(placing);
    struct tdc_runs segments;
    for (size_t cell = 1; cell < cells; cell++)
        if (joining->sizes[cell] != joining->sizes[0])
            return tdc_placing_fail(placing,
                                    "axis '%s' differs between parts: a slice needs equal sizes",
                                    joining->leaf->name);
    tdc_status status = tdc_placing_range(placing, range, joining->sizes[0], &segments);
    uint64_t size = 0;
    for (size_t i = 0; status == TDC_OK && i < segments.count; i++)
        size += segments.list[i].length;
    if (status == TDC_OK)
        tdc_runs_sort(&segments);
    for (size_t cell = 0; cell < cells && status == TDC_OK; cell++) {
        status = map_cell(joining, cell, &segments);
        joining->sizes[cell] = size;
    }
    return status;
}

/* Parts that follow each other, whatever their sizes. */
static tdc_status join_natural(struct joining *joining, size_t first, size_t way, uint64_t count)
{
    uint64_t at = 0;
    tdc_status status = TDC_OK;
    for (uint64_t i = 0; i < count && status == TDC_OK; i++) {
        size_t cell = first + i * way;
        struct tdc_run segment = {0, at, joining->sizes[cell]};
        status = map_cell(joining, cell, &(struct tdc_runs){&segment, 1});
        if (__builtin_add_overflow(at, joining->sizes[cell], &at))
            return tdc_placing_fail(joining->placing, "axis '%s' is too long", joining->leaf->name);
    }
    for (uint64_t i = 0; i < count; i++)
        joining->sizes[first + i * way] = at;
    return status;
}

/* Where zigzag and seq begin anew: sequences of a token axis as they are stored, or the whole. */
static bool by_pieces(const struct joining *joining, const struct tdc_digit *digit)
{
    const struct tdc_tokens *tokens = joining->placing->tokens;
    return tokens != NULL && tokens->of[0] == NULL && !digit->whole &&
           strcmp(tokens->axis, joining->leaf->name) == 0;
}

static tdc_status differing_parts(const struct joining *joining, const char *name, size_t first,
                                  size_t way, uint64_t count)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 12);
    for (uint64_t i = 0; i < count && !text.failed; i++)
        tdc_text_addf(&text, "%s%llu", i != 0 ? ", " : "",
                      (unsigned long long)joining->sizes[first + i * way]);
    tdc_status status =
        tdc_placing_fail(joining->placing, "parts of '%s' differ along axis '%s': %.600s", name,
                         joining->leaf->name, tdc_text_get(&text));
    tdc_text_free(&text);
    return status;
}

/* Of each piece part i holds chunk i, and with zigzag the one that mirrors it. */
static tdc_status join_chunks(struct joining *joining, const struct tdc_digit *digit, size_t first,
                              size_t way)
{
    const struct tdc_placing *placing = joining->placing;
    uint64_t count = digit->modulus, chunks = digit->zigzag ? 2 * count : count;
    uint64_t total = joining->sizes[first] * count, sum = 0;
    bool pieces = by_pieces(joining, digit);
    size_t piece_count = pieces ? placing->stored_count_of_pieces : 1;
    for (uint64_t i = 1; i < count; i++)
        if (joining->sizes[first + i * way] != joining->sizes[first])
            return differing_parts(joining, placing->joins[digit->join].name, first, way, count);
    for (size_t i = 0; pieces && i < piece_count; i++)
        sum += (uint64_t)placing->stored[i];
    if (pieces && sum != total)
        return tdc_placing_fail(placing, "lengths add up to %llu, axis '%s' has %llu",
                                (unsigned long long)sum, joining->leaf->name,
                                (unsigned long long)total);
    for (size_t i = 0; i < piece_count; i++) {
        uint64_t length = pieces ? (uint64_t)placing->stored[i] : total;
        if (length % chunks != 0)
            return tdc_placing_fail(placing, "axis '%s': %llu cannot be cut into %llu equal chunks",
                                    joining->leaf->name, (unsigned long long)length,
                                    (unsigned long long)chunks);
    }
    struct tdc_run *list = tdc_arena_zeroed(placing->arena, 2 * piece_count + 1, sizeof *list);
    if (list == NULL)
        return tdc_placing_no_memory(placing);
    tdc_status status = TDC_OK;
    for (uint64_t i = 0; i < count && status == TDC_OK; i++) {
        uint64_t base = 0, local = 0;
        size_t used = 0;
        for (size_t k = 0; k < piece_count; k++) {
            uint64_t length = pieces ? (uint64_t)placing->stored[k] : total,
                     chunk = length / chunks;
            list[used++] = (struct tdc_run){local, base + i * chunk, chunk};
            local += chunk;
            if (digit->zigzag) {
                list[used++] = (struct tdc_run){local, base + (chunks - 1 - i) * chunk, chunk};
                local += chunk;
            }
            base += length;
        }
        status = map_cell(joining, first + i * way, &(struct tdc_runs){list, used});
        joining->sizes[first + i * way] = total;
    }
    return status;
}

/* All parts that differ in this digit alone are joined. */
static tdc_status join_digit(struct joining *joining, const struct tdc_digit *digit)
{
    struct tdc_placing *placing = joining->placing;
    size_t way = (size_t)(digit->divisor * placing->joins[digit->join].stride * placing->terms);
    size_t cells = cell_count(placing);
    tdc_status status = TDC_OK;
    for (size_t cell = 0; cell < cells && status == TDC_OK; cell++) {
        if (cell / way % digit->modulus != 0)
            continue;
        if (digit->zigzag || digit->seq)
            status = join_chunks(joining, digit, cell, way);
        else
            status = join_natural(joining, cell, way, digit->modulus);
    }
    return status;
}

/* An axis of the joined tensor is as long in all parts. */
static tdc_status settle_size(struct joining *joining)
{
    struct tdc_placing *placing = joining->placing;
    size_t cells = cell_count(placing), least = 0, most = 0;
    for (size_t cell = 1; cell < cells; cell++) {
        if (joining->sizes[cell] < joining->sizes[least])
            least = cell;
        if (joining->sizes[cell] > joining->sizes[most])
            most = cell;
    }
    joining->leaf->full = joining->sizes[least];
    if (least == most)
        return TDC_OK;
    return tdc_placing_fail(
        placing, "axis '%s' is %llu in %s and %llu in %s", joining->leaf->name,
        (unsigned long long)joining->sizes[least], placing->cells[least].record->where,
        (unsigned long long)joining->sizes[most], placing->cells[most].record->where);
}

static tdc_status run_leaf(struct tdc_placing *placing, struct tdc_leaf_plan *leaf)
{
    size_t cells = cell_count(placing);
    struct joining joining = {.placing = placing, .leaf = leaf};
    joining.sizes = tdc_arena_zeroed(placing->arena, cells, sizeof *joining.sizes);
    struct tdc_run *whole = tdc_arena_zeroed(placing->arena, cells, sizeof *whole);
    if (joining.sizes == NULL || whole == NULL)
        return tdc_placing_no_memory(placing);
    for (size_t cell = 0; cell < cells; cell++) {
        joining.sizes[cell] = leaf->local[cell];
        whole[cell].length = leaf->local[cell];
        leaf->runs[cell] = (struct tdc_runs){&whole[cell], leaf->local[cell] != 0};
    }
    tdc_status status = TDC_OK;
    for (unsigned s = 0; s < leaf->step_count && status == TDC_OK; s++) {
        const struct tdc_step_plan *step = &leaf->steps[s];
        if (step->range != NULL)
            status = cut_leaf(&joining, step->range);
        for (unsigned k = step->digit_count; k-- > 0 && status == TDC_OK;)
            status = join_digit(&joining, &step->digits[k]);
    }
    return status == TDC_OK ? settle_size(&joining) : status;
}

tdc_status tdc_placing_runs(struct tdc_placing *placing)
{
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < placing->leaf_count && status == TDC_OK; i++)
        status = run_leaf(placing, &placing->leaves[i]);
    return status;
}
