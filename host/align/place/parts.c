/* parts.c - which part stands at which place of the joins: missing ones, replicas, types. */
#include <stdlib.h>
#include <string.h>

#include "host/align/place/place.h"
#include "io/base/text.h"

#define TEXT_LIMIT ((size_t)1 << 16)

/* A part with its place. */
struct standing {
    uint64_t key, term;
    const struct tdc_side_record *record;
    const struct tdc_part *part;
    size_t order;
    bool empty;
};

/* ---- values of joins ------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    return tdc_part_value_order(left, right);
}

/* The coordinates of a mesh axis, or the distinct values among the parts. */
static tdc_status find_values(const struct tdc_placing *placing, struct tdc_join_plan *join)
{
    const struct tdc_part_group *group = placing->group;
    const struct tdc_dtensor *dtensor =
        placing->sided->side->records[group->parts[0].record].dtensor;
    bool counted = strcmp(join->name, "rank") == 0 || strcmp(join->name, "step") == 0;
    uint64_t size;
    for (size_t i = 0; i < group->parts[0].value_count; i++)
        counted |= strcmp(group->parts[0].values[i].name, join->name) == 0;
    if (!counted && tdc_sided_axis(placing->sided, join->name, strlen(join->name), &size)) {
        bool placed = placing->sided->rule->dtensor && dtensor != NULL && join->name[0] == 'm' &&
                      join->name[1] >= '0' && join->name[2] == '\0' &&
                      (unsigned)(join->name[1] - '0') < dtensor->axes;
        join->axis = true;
        join->value_count = placed ? dtensor->sizes[join->name[1] - '0'] : size;
        return TDC_OK;
    }
    join->values = tdc_arena_zeroed(placing->arena, group->count, sizeof *join->values);
    if (join->values == NULL)
        return tdc_placing_no_memory(placing);
    for (size_t i = 0; i < group->count; i++)
        join->values[i] = tdc_part_value(placing->sided, &group->parts[i], join->name);
    qsort(join->values, group->count, sizeof *join->values, by_value);
    for (size_t i = 0; i < group->count; i++)
        if (join->value_count == 0 ||
            tdc_part_value_order(&join->values[join->value_count - 1], &join->values[i]) != 0)
            join->values[join->value_count++] = join->values[i];
    return TDC_OK;
}

static uint64_t value_index(const struct tdc_placing *placing, const struct tdc_join_plan *join,
                            const struct tdc_part *part)
{
    struct tdc_part_value value = tdc_part_value(placing->sided, part, join->name);
    if (join->axis)
        return (uint64_t)value.number;
    const struct tdc_part_value *found =
        bsearch(&value, join->values, join->value_count, sizeof value, by_value);
    return (uint64_t)(found - join->values);
}

/* ` tp=1`: the value of a place as it is written. */
static void add_place(struct tdc_text *text, const struct tdc_join_plan *join, uint64_t place)
{
    uint64_t index = place * (uint64_t)join->repeat;
    const char *blank = text->length != 0 ? " " : "";
    if (join->axis)
        tdc_text_addf(text, "%s%s=%llu", blank, join->name, (unsigned long long)index);
    else if (join->values[index].text != NULL)
        tdc_text_addf(text, "%s%s=%s", blank, join->name, join->values[index].text);
    else
        tdc_text_addf(text, "%s%s=%lld", blank, join->name, (long long)join->values[index].number);
}

static void add_places(struct tdc_text *text, const struct tdc_join_plan *joins, unsigned count,
                       uint64_t key)
{
    for (unsigned i = 0; i < count; i++)
        add_place(text, &joins[i], key / joins[i].stride % joins[i].places);
}

/* Strides of the places, the rightmost fastest; *keys is their number, UINT64_MAX if it is beyond
 * counting. */
static void number_places(struct tdc_join_plan *joins, unsigned count, uint64_t *keys)
{
    *keys = 1;
    for (unsigned i = count; i-- > 0;) {
        joins[i].places = joins[i].value_count / (uint64_t)joins[i].repeat;
        joins[i].places += joins[i].places == 0;
        joins[i].stride = *keys;
        if (__builtin_mul_overflow(*keys, joins[i].places, keys))
            *keys = UINT64_MAX;
    }
}

static uint64_t key_of(const struct tdc_placing *placing, const struct tdc_join_plan *joins,
                       unsigned count, const struct tdc_part *part)
{
    uint64_t key = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t place = value_index(placing, &joins[i], part) / (uint64_t)joins[i].repeat;
        key += (place < joins[i].places ? place : joins[i].places - 1) * joins[i].stride;
    }
    return key;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const struct standing *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->term != b->term)
        return a->term < b->term ? -1 : 1;
    if (a->record->rank != b->record->rank)
        return a->record->rank < b->record->rank ? -1 : 1;
    if (a->record->step != b->record->step)
        return a->record->step < b->record->step ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool is_empty(const struct tdc_side_record *record)
{
    for (unsigned i = 0; i < record->dimensions; i++)
        if (record->shape[i] == 0)
            return true;
    return false;
}

/* A part without elements gives way to one that has some at the same place. */
static size_t drop_empty(struct standing *parts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        bool some = false;
        for (; end < count && parts[end].key == parts[i].key && parts[end].term == parts[i].term;
             end++)
            some |= !parts[end].empty;
        for (; i < end; i++)
            if (!some || !parts[i].empty)
                parts[kept++] = parts[i];
    }
    return kept;
}

static struct standing *list_parts(struct tdc_placing *placing, size_t *count)
{
    const struct tdc_part_group *group = placing->group;
    struct standing *parts = tdc_arena_zeroed(placing->arena, group->count + 1, sizeof *parts);
    for (size_t i = 0; i < group->count && parts != NULL; i++) {
        const struct tdc_part *part = &group->parts[i];
        const struct tdc_side_record *record = &placing->sided->side->records[part->record];
        parts[i] = (struct standing){
            .key = key_of(placing, placing->joins, placing->join_count, part),
            .term = key_of(placing, placing->sums, placing->sum_count, part),
            .record = record,
            .part = part,
            .order = i,
            .empty = is_empty(record),
        };
    }
    if (parts == NULL)
        return NULL;
    qsort(parts, group->count, sizeof *parts, by_place);
    *count = drop_empty(parts, group->count);
    return parts;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* In the order of the records. */
static const struct standing *first_part(const struct standing *parts, size_t count,
                                         bool (*wrong)(const struct tdc_placing *,
                                                       const struct standing *),
                                         const struct tdc_placing *placing)
{
    const struct standing *first = NULL;
    for (size_t i = 0; i < count; i++)
        if (wrong(placing, &parts[i]) && (first == NULL || parts[i].order < first->order))
            first = &parts[i];
    return first;
}

static bool any_part(const struct tdc_placing *placing, const struct standing *part)
{
    (void)placing;
    (void)part;
    return true;
}

static bool has_other_axes(const struct tdc_placing *placing, const struct standing *part)
{
    return part->record->dimensions != placing->stored_count;
}

static tdc_status check_axes(const struct tdc_placing *placing, const struct standing *parts,
                             size_t count)
{
    char shape[TDC_SHAPE_TEXT];
    const struct standing *wrong = first_part(parts, count, has_other_axes, placing);
    if (wrong == NULL)
        return TDC_OK;
    return tdc_placing_fail(placing, "dims '%.400s' has %u axes, %s has shape %s",
                            placing->dims->text, placing->stored_count, wrong->record->where,
                            tdc_side_shape_text(wrong->record, shape));
}

static tdc_status check_types(const struct tdc_placing *placing, const struct standing *parts,
                              size_t count)
{
    const struct standing *first = first_part(parts, count, any_part, placing), *other = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(parts[i].record->dtype, first->record->dtype) != 0 &&
            (other == NULL || parts[i].order < other->order))
            other = &parts[i];
    if (other == NULL)
        return TDC_OK;
    return tdc_placing_fail(placing, "parts differ in dtype: %s %.100s, %s %.100s",
                            first->record->where, first->record->dtype, other->record->where,
                            other->record->dtype);
}

static tdc_status check_repeats(const struct tdc_placing *placing)
{
    for (unsigned i = 0; i < placing->join_count; i++) {
        const struct tdc_join_plan *join = &placing->joins[i];
        if (join->value_count % (uint64_t)join->repeat != 0)
            return tdc_placing_fail(placing, "%llu parts of '%s' are no multiple of repeat=%lld",
                                    (unsigned long long)join->value_count, join->name,
                                    (long long)join->repeat);
    }
    return TDC_OK;
}

static tdc_status check_keys(const struct tdc_placing *placing, const struct standing *parts,
                             size_t count)
{
    uint64_t next = 0, missing = UINT64_MAX, found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && parts[i].key == parts[i - 1].key)
            continue;
        if (missing == UINT64_MAX && parts[i].key != next)
            missing = next;
        next = parts[i].key + 1;
        found++;
    }
    if (found == placing->keys)
        return TDC_OK;
    if (missing == UINT64_MAX)
        missing = next;
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    add_places(&text, placing->joins, placing->join_count, missing);
    tdc_status status =
        tdc_placing_fail(placing, "no part for %.600s (%llu of %llu found)", tdc_text_get(&text),
                         (unsigned long long)found, (unsigned long long)placing->keys);
    tdc_text_free(&text);
    return status;
}

static tdc_status check_terms(const struct tdc_placing *placing, const struct standing *parts,
                              size_t count)
{
    uint64_t key = 0, term = 0;
    bool missing = false;
    for (size_t i = 0; i < count && !missing; i++) {
        if (i != 0 && parts[i].key == parts[i - 1].key && parts[i].term == parts[i - 1].term)
            continue;
        missing = parts[i].key != key || parts[i].term != term;
        if (!missing && ++term == placing->terms) {
            term = 0;
            key++;
        }
    }
    if (!missing && key == placing->keys)
        return TDC_OK;
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    add_places(&text, placing->joins, placing->join_count, key);
    add_places(&text, placing->sums, placing->sum_count, term);
    tdc_status status = tdc_placing_fail(placing, "no part for %.600s to sum", tdc_text_get(&text));
    tdc_text_free(&text);
    return status;
}

/* Replicas along an axis that is declared so are taken on trust. */
static bool is_trusted(const struct tdc_placing *placing, const struct standing *one,
                       const struct standing *other)
{
    for (size_t i = 0; i < placing->dims->declaration_count; i++) {
        const struct tdc_declaration *declaration = &placing->dims->declarations[i];
        if (declaration->how != TDC_DECLARED_FIRST)
            continue;
        struct tdc_part_value a = tdc_part_value(placing->sided, one->part, declaration->name);
        struct tdc_part_value b = tdc_part_value(placing->sided, other->part, declaration->name);
        if (tdc_part_value_order(&a, &b) != 0)
            return true;
    }
    return false;
}

static bool same_place(const struct standing *one, const struct standing *other)
{
    return one->key == other->key && one->term == other->term;
}

static tdc_status check_pairs(const struct tdc_placing *placing, const struct standing *parts,
                              size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct standing *one = &parts[i - 1], *other = &parts[i];
        if (!same_place(one, other) || one->record->rank != other->record->rank ||
            one->record->step != other->record->step || is_trusted(placing, one, other))
            continue;
        struct tdc_text text;
        tdc_text_init(&text, TEXT_LIMIT);
        add_places(&text, placing->joins, placing->join_count, one->key);
        tdc_status status =
            tdc_placing_fail(placing, "two parts for %.300s: '%.250s' and '%.250s' of %s",
                             text.length != 0 ? tdc_text_get(&text) : "one place",
                             placing->sided->names[one->part->record],
                             placing->sided->names[other->part->record], one->record->where);
        tdc_text_free(&text);
        return status;
    }
    return TDC_OK;
}

static bool same_shape(const struct tdc_side_record *one, const struct tdc_side_record *other)
{
    return memcmp(one->shape, other->shape, one->dimensions * sizeof *one->shape) == 0;
}

/* The lowest rank of each place counts; the others are its replicas. */
static tdc_status take_cells(struct tdc_placing *placing, const struct standing *parts,
                             size_t count)
{
    size_t cell = 0;
    const struct standing *lowest = NULL;
    placing->cells = tdc_arena_zeroed(placing->arena, count + 1, sizeof *placing->cells);
    placing->twins = tdc_arena_zeroed(placing->arena, count + 1, sizeof *placing->twins);
    if (placing->cells == NULL || placing->twins == NULL)
        return tdc_placing_no_memory(placing);
    for (size_t i = 0; i < count; i++) {
        if (lowest == NULL || !same_place(lowest, &parts[i])) {
            lowest = &parts[i];
            placing->cells[cell++] = (struct tdc_part_cell){lowest->record, lowest->part->record};
            continue;
        }
        if (is_trusted(placing, lowest, &parts[i]))
            continue;
        if (!same_shape(lowest->record, parts[i].record)) {
            char shape[TDC_SHAPE_TEXT], other[TDC_SHAPE_TEXT];
            return tdc_placing_fail(
                placing, "%s has shape %s, its replica %s %s", lowest->record->where,
                tdc_side_shape_text(lowest->record, shape), parts[i].record->where,
                tdc_side_shape_text(parts[i].record, other));
        }
        placing->twins[placing->twin_count++] = (struct tdc_twin_pair){cell - 1, parts[i].record};
    }
    return TDC_OK;
}

tdc_status tdc_placing_parts(struct tdc_placing *placing)
{
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < placing->join_count && status == TDC_OK; i++)
        status = find_values(placing, &placing->joins[i]);
    for (unsigned i = 0; i < placing->sum_count && status == TDC_OK; i++)
        status = find_values(placing, &placing->sums[i]);
    if (status != TDC_OK)
        return status;
    number_places(placing->joins, placing->join_count, &placing->keys);
    number_places(placing->sums, placing->sum_count, &placing->terms);
    size_t count = 0;
    struct standing *parts = list_parts(placing, &count);
    if (parts == NULL)
        return tdc_placing_no_memory(placing);
    status = check_axes(placing, parts, count);
    if (status == TDC_OK)
        status = check_types(placing, parts, count);
    if (status == TDC_OK)
        status = tdc_placing_split(placing, parts[0].record);
    if (status == TDC_OK)
        status = check_repeats(placing);
    if (status == TDC_OK)
        status = check_keys(placing, parts, count);
    if (status == TDC_OK)
        status = check_terms(placing, parts, count);
    if (status == TDC_OK)
        status = check_pairs(placing, parts, count);
    return status == TDC_OK ? take_cells(placing, parts, count) : status;
}
