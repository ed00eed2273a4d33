#include "host/align/place/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/source.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/mapping_guard.h"

/* Boxes that are held against each other one by one, where parts are of several sizes. */
#define MOST_HELD ((size_t)4096)
/* Parts that the text of a row names. */
#define MOST_NAMED 8
/* Token ids of one side. */
#define MOST_IDS ((uint64_t)1 << 28)

tdc_status tdc_placing_no_memory(const struct tdc_placing *placing)
{
    return tdc_fail(placing->error, TDC_ERR_MEMORY, "out of memory for '%.300s'",
                    placing->group->name);
}

tdc_status tdc_placing_fail(const struct tdc_placing *placing, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tdc_fail(placing->error, TDC_ERR_MISMATCH, "%c: %s", placing->sided->letter, text);
}

const char *tdc_side_shape_text(const struct tdc_side_record *record, char text[TDC_SHAPE_TEXT])
{
    size_t used = 1;
    text[0] = '[';
    for (unsigned i = 0; i < record->dimensions && used + 26 < TDC_SHAPE_TEXT; i++)
        used += (size_t)snprintf(text + used, TDC_SHAPE_TEXT - used, "%s%llu", i != 0 ? ", " : "",
                                 (unsigned long long)record->shape[i]);
    memcpy(text + used, "]", 2);
    return text;
}

tdc_status tdc_placing_number(const struct tdc_placing *placing, struct tdc_written written,
                              int64_t *value)
{
    char problem[TDC_EXPRESSION_TEXT];
    struct tdc_scope scope = tdc_sided_scope(placing->sided);
    if (tdc_expression_value(written.text, written.length, &scope, value, problem))
        return TDC_OK;
    return tdc_rule_fail(placing->error, placing->used->dims_place, "%s", problem);
}

/* ---- coverage -------------------------------------------------------------------------------- */

static bool is_uneven(const struct tdc_placing *placing)
{
    for (unsigned i = 0; i < placing->leaf_count; i++)
        for (size_t cell = 1; cell < placing->keys * placing->terms; cell++)
            if (placing->leaves[i].local[cell] != placing->leaves[i].local[0])
                return true;
    return false;
}

static bool meet(const struct tdc_placed *placed, const struct tdc_logical_box *one,
                 const struct tdc_logical_box *other)
{
    for (unsigned d = 0; d < placed->axes; d++)
        if (one->first[d] + one->extent[d] <= other->first[d] ||
            other->first[d] + other->extent[d] <= one->first[d])
            return false;
    return one->term == other->term;
}

/* Equal parts cover by the way they are joined; others may not. */
static tdc_status check_cover(const struct tdc_placing *placing, const struct tdc_placed *placed)
{
    uint64_t count = placing->terms, volume = 0;
    for (unsigned d = 0; d < placed->axes; d++)
        count *= placed->sizes[d];
    for (size_t i = 0; i < placed->box_count; i++) {
        uint64_t box = 1;
        for (unsigned d = 0; d < placed->axes; d++)
            box *= placed->boxes[i].extent[d];
        volume += box;
    }
    bool covered = volume == count;
    if (covered && is_uneven(placing) && placing->join_count > 1 && placed->box_count <= MOST_HELD)
        for (size_t i = 0; i < placed->box_count && covered; i++)
            for (size_t k = 0; k < i && covered; k++)
                covered = !meet(placed, &placed->boxes[i], &placed->boxes[k]);
    return covered ? TDC_OK : tdc_placing_fail(placing, "parts overlap or leave gaps");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Whether dims say more than the names of the axes. */
static bool says_more(const struct tdc_dims *dims)
{
    for (size_t i = 0; i < dims->axis_count; i++) {
        const struct tdc_dims_axis *axis = &dims->axes[i];
        if (axis->one || axis->before != NULL || axis->leaf_count != 1 ||
            axis->leaves[0].step_count != 0 || axis->leaves[0].fresh)
            return true;
    }
    return false;
}

static const char *describe(const struct tdc_placing *placing, bool plain)
{
    struct tdc_text text;
    size_t parts = (size_t)(placing->keys * placing->terms);
    tdc_text_init(&text, (size_t)1 << 16);
    tdc_text_addf(&text, "%zu part%s:", parts, parts != 1 ? "s" : "");
    for (size_t i = 0; i < parts && i < MOST_NAMED; i++)
        tdc_text_addf(&text, " %s", placing->cells[i].record->where);
    if (parts > MOST_NAMED)
        tdc_text_adds(&text, " ...");
    if (!plain && (parts > 1 || says_more(placing->dims)))
        tdc_text_addf(&text, "; %s", placing->dims->text);
    const char *kept = tdc_arena_text(placing->arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return kept;
}

/* Ranges and tokens leave elements out; statistics are of all. */
static bool takes_all(const struct tdc_placing *placing)
{
    for (unsigned i = 0; i < placing->axis_count; i++)
        if (placing->axes[i].axis->before != NULL)
            return false;
    for (unsigned i = 0; i < placing->leaf_count; i++)
        for (unsigned s = 0; s < placing->leaves[i].step_count; s++)
            if (placing->leaves[i].steps[s].range != NULL)
                return false;
    return placing->tokens == NULL && placing->terms == 1;
}

/* ---- ids ------------------------------------------------------------------------------------- */

struct reading {
    const struct tdc_tensor *tensor;
    int64_t *ids;
    bool whole;
};

static void read_ids(void *argument)
{
    struct reading *reading = argument;
    tdc_dtype dtype = tdc_source_dtype(reading->tensor);
    reading->whole = true;
    for (uint64_t i = 0; i < reading->tensor->count && reading->whole; i++) {
        unsigned char element[16];
        double imaginary;
        reading->whole = tdc_gather_elements(reading->tensor, i, 1, element);
        if (reading->whole && (dtype == TDC_I64 || dtype == TDC_U64))
            memcpy(&reading->ids[i], element, sizeof *reading->ids);
        else if (reading->whole)
            reading->ids[i] = (int64_t)tdc_element_value(dtype, element, &imaginary);
    }
}

static tdc_status gather_ids(const struct tdc_placing *placing, const struct tdc_placed *of,
                             const int64_t **ids)
{
    uint32_t groups[2] = {0, of->term_count};
    struct tdc_logical logical = {.dimensions = of->axes,
                                  .parts = of->parts,
                                  .part_count = of->part_count,
                                  .boxes = of->boxes,
                                  .box_count = of->box_count,
                                  .group_starts = groups,
                                  .group_count = 1,
                                  .letter = placing->sided->letter};
    memcpy(logical.shape, of->sizes, of->axes * sizeof *of->sizes);
    struct reading reading = {0};
    reading.ids = tdc_arena_zeroed(placing->arena, (size_t)of->sizes[0] + 1, sizeof(int64_t));
    if (reading.ids == NULL || !tdc_logical_settle(&logical, placing->arena))
        return tdc_placing_no_memory(placing);
    *ids = reading.ids;
    if (logical.count == 0)
        return TDC_OK;
    struct tdc_tensor tensor;
    struct tdc_assembled *assembled;
    tdc_status status = tdc_logical_open(&logical, &tensor, &assembled, placing->error);
    if (status != TDC_OK)
        return status;
    reading.tensor = &tensor;
    if (!tdc_guard_begin())
        status = tdc_fail(placing->error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    else {
        bool read = tdc_guarded_read(read_ids, &reading);
        tdc_guard_end();
        if (!read || !reading.whole)
            status = tdc_placing_fail(placing, "the ids of its tokens cannot be read");
    }
    tdc_tensor_close(&tensor);
    tdc_assembled_close(assembled);
    return status;
}

/* The ids lie in the same layout as the tokens. */
static tdc_status find_ids(const struct tdc_placing *placing, struct tdc_placed *placed)
{
    const struct tdc_rule_entry *entry = placing->tokens->ids;
    if (entry == NULL)
        return TDC_OK;
    struct tdc_tokens tokens = *placing->tokens;
    tokens.ids = NULL;
    struct tdc_used_entry used = {
        .entry = entry, .dims = entry->dims, .dims_place = entry->dims_place, .tokens = &tokens};
    struct tdc_part_groups groups;
    tdc_status status = tdc_part_groups_find(placing->sided, &used, "ids", entry->place,
                                             placing->arena, &groups, placing->error);
    if (status == TDC_OK && groups.count == 0)
        status = tdc_placing_fail(placing, "no record matches '%.500s'",
                                  tdc_pattern_text(entry->match.list[0]));
    struct tdc_placed of = {0};
    if (status == TDC_OK)
        status = tdc_place(placing->sided, &used, &groups.groups[0], NULL, placing->arena, &of,
                           placing->error);
    tdc_part_groups_free(&groups);
    if (status != TDC_OK)
        return status;
    if (of.axes != 1 || of.sizes[0] != placing->token_count || of.sizes[0] > MOST_IDS)
        return tdc_placing_fail(placing, "ids of %llu tokens, there are %llu",
                                (unsigned long long)(of.axes == 1 ? of.sizes[0] : 0),
                                (unsigned long long)placing->token_count);
    return gather_ids(placing, &of, &placed->tokens.ids);
}

/* ---- all ------------------------------------------------------------------------------------- */

static tdc_status place(struct tdc_placing *placing, struct tdc_placed *placed)
{
    tdc_status status = tdc_placing_plan(placing);
    if (status == TDC_OK)
        status = tdc_placing_parts(placing);
    if (status == TDC_OK)
        status = tdc_placing_sizes(placing);
    if (status == TDC_OK)
        status = tdc_placing_read_lengths(placing);
    if (status == TDC_OK)
        status = tdc_placing_runs(placing);
    if (status == TDC_OK)
        status = tdc_placing_tokens(placing);
    if (status == TDC_OK)
        status = tdc_placing_boxes(placing, placed);
    if (status == TDC_OK)
        status = check_cover(placing, placed);
    if (status == TDC_OK && placing->tokens != NULL)
        status = find_ids(placing, placed);
    return status;
}

tdc_status tdc_place(const struct tdc_sided *sided, const struct tdc_used_entry *used,
                     const struct tdc_part_group *group, const struct tdc_size_hints *hints,
                     struct tdc_arena *arena, struct tdc_placed *placed, struct tdc_error *error)
{
    const struct tdc_side_record *first = &sided->side->records[group->parts[0].record];
    struct tdc_placing *placing = tdc_arena_zeroed(arena, 1, sizeof *placing);
    *placed = (struct tdc_placed){0};
    if (placing == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for '%.300s'", group->name);
    *placing = (struct tdc_placing){.sided = sided,
                                    .used = used,
                                    .group = group,
                                    .hints = hints,
                                    .dims = group->dims,
                                    .arena = arena,
                                    .error = error,
                                    .tokens = used->tokens};
    bool plain = placing->dims == NULL;
    unsigned dimensions = first->dimensions;
    /* of replicas one without elements may have lost its axes */
    for (size_t i = 0; i < group->count && plain; i++) {
        const struct tdc_side_record *record = &sided->side->records[group->parts[i].record];
        bool empty = false;
        for (unsigned d = 0; d < record->dimensions; d++)
            empty |= record->shape[d] == 0;
        if (!empty) {
            dimensions = record->dimensions;
            break;
        }
    }
    if (plain)
        placing->dims = tdc_dims_plain(arena, dimensions);
    if (placing->dims == NULL)
        return tdc_placing_no_memory(placing);
    tdc_status status = place(placing, placed);
    if (status != TDC_OK)
        return status;
    placed->dtype = placing->cells[0].record->dtype;
    placed->cast = used->cast;
    placed->first = first;
    placed->plain = plain;
    placed->all_elements = takes_all(placing);
    placed->text = describe(placing, plain);
    return placed->text != NULL ? TDC_OK : tdc_placing_no_memory(placing);
}
