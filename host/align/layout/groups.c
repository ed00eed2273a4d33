#include "host/align/layout/groups.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"

#define NAME_LIMIT ((size_t)1 << 20)

struct grouping {
    const struct tdc_sided *sided;
    const struct tdc_used_entry *used;
    const char *name; /* NULL: the record's own */
    struct tdc_rule_place place;
    struct tdc_arena *arena;
    struct tdc_part_groups *groups;
    struct tdc_error *error;
    struct tdc_found *found;
    size_t count;
    struct tdc_text text;
};

static tdc_status no_memory(const struct grouping *grouping)
{
    return tdc_fail(grouping->error, TDC_ERR_MEMORY, "out of memory for logical tensors");
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *named_text(const struct tdc_part *part, const char *name, size_t length)
{
    for (size_t i = part->value_count; i-- > 0;)
        if (strlen(part->values[i].name) == length &&
            memcmp(part->values[i].name, name, length) == 0)
            return part->values[i].text;
    return NULL;
}

struct tdc_part_value tdc_part_value(const struct tdc_sided *sided, const struct tdc_part *part,
                                     const char *name)
{
    struct tdc_part_value value = {.text = named_text(part, name, strlen(name))};
    if (value.text != NULL)
        value.is_number = tdc_digits_value(value.text, strlen(value.text), &value.number);
    else {
        value.number = tdc_sided_coordinate(sided, part->record, name, strlen(name));
        value.is_number = true;
    }
    return value;
}

int tdc_part_value_order(const struct tdc_part_value *left, const struct tdc_part_value *right)
{
    if (left->is_number != right->is_number)
        return left->is_number ? -1 : 1;
    if (left->is_number && left->number != right->number)
        return left->number < right->number ? -1 : 1;
    if (left->text == NULL || right->text == NULL)
        return (left->text != NULL) - (right->text != NULL);
    return strcmp(left->text, right->text);
}

/* ---- names in expressions -------------------------------------------------------------------- */

struct name_scope {
    const struct tdc_sided *sided;
    const struct tdc_part *part;
};

static bool find_name(const void *context, const char *name, size_t length,
                      struct tdc_scope_value *value)
{
    const struct name_scope *scope = context;
    const char *text = named_text(scope->part, name, length);
    uint64_t size;
    if (text != NULL) {
        *value = (struct tdc_scope_value){.kind = TDC_VALUE_TEXT, .text = text};
        return true;
    }
    struct tdc_scope outer = tdc_sided_scope(scope->sided);
    bool axis = tdc_sided_axis(scope->sided, name, length, &size);
    bool let = outer.find(outer.context, name, length, value);
    if (!axis || (let && size == 1)) /* an axis of one place gives way to a number of that name */
        return let;
    *value = (struct tdc_scope_value){
        .kind = TDC_VALUE_NUMBER,
        .number = tdc_sided_coordinate(scope->sided, scope->part->record, name, length)};
    return true;
}

/* ---- a record -------------------------------------------------------------------------------- */

/* Captures, then what `set` makes of them, one after the other. */
static tdc_status take_values(struct grouping *grouping, const struct tdc_captured *captured,
                              struct tdc_part *part)
{
    const struct tdc_rule_entry *entry = grouping->used->entry;
    struct tdc_named_text *values =
        tdc_arena_zeroed(grouping->arena, captured->count + entry->set_count + 1, sizeof *values);
    if (values == NULL)
        return no_memory(grouping);
    part->values = values;
    for (size_t i = 0; i < captured->count; i++) {
        const struct tdc_capture *capture = &captured->captures[i];
        values[part->value_count].name = capture->name;
        values[part->value_count].text = tdc_arena_text(
            grouping->arena, capture->text != NULL ? capture->text : "", capture->length);
        if (values[part->value_count++].text == NULL)
            return no_memory(grouping);
    }
    struct name_scope names = {grouping->sided, part};
    struct tdc_scope scope = {find_name, &names};
    for (size_t i = 0; i < entry->set_count; i++) {
        const struct tdc_rule_set *set = &entry->set[i];
        char problem[TDC_EXPRESSION_TEXT];
        int64_t value;
        if (!tdc_expression_value(set->expression.text, set->expression.length, &scope, &value,
                                  problem))
            return tdc_rule_fail(grouping->error, set->place, "%s", problem);
        tdc_text_clear(&grouping->text);
        tdc_text_addf(&grouping->text, "%lld", (long long)value);
        values[part->value_count].name = set->name;
        values[part->value_count].text =
            tdc_arena_text(grouping->arena, tdc_text_get(&grouping->text), grouping->text.length);
        if (values[part->value_count++].text == NULL)
            return no_memory(grouping);
    }
    return TDC_OK;
}

/* Dims that the record brings itself, if the entry has none. */
static tdc_status take_dims(const struct grouping *grouping, struct tdc_found *found)
{
    const struct tdc_side_record *record = &grouping->sided->side->records[found->part.record];
    char problem[TDC_DIMS_TEXT];
    found->dims = grouping->used->dims;
    if (found->dims != NULL || record->dims == NULL)
        return TDC_OK;
    found->dims = tdc_dims_parse(grouping->arena, record->dims, problem);
    if (found->dims != NULL)
        return TDC_OK;
    if (problem[0] == '\0')
        return no_memory(grouping);
    return tdc_fail(grouping->error, TDC_ERR_ARGUMENT, "%.300s of %s: %s", record->name,
                    record->where, problem);
}

static tdc_status find_records(struct grouping *grouping)
{
    const struct tdc_sided *sided = grouping->sided;
    const struct tdc_patterns *patterns = &grouping->used->entry->match;
    size_t room = 0;
    for (size_t i = 0; i < sided->side->count; i++) {
        struct tdc_captured captured = {0};
        size_t k = 0;
        if (sided->excluded[i])
            continue;
        while (k < patterns->count &&
               !tdc_pattern_fits(patterns->list[k], sided->names[i], &captured))
            k++;
        if (k == patterns->count && patterns->count != 0)
            continue;
        if (grouping->count == room) {
            room = room * 2 + 64;
            struct tdc_found *grown = realloc(grouping->found, room * sizeof *grown);
            if (grown == NULL)
                return no_memory(grouping);
            grouping->found = grown;
        }
        struct tdc_found *found = &grouping->found[grouping->count];
        *found = (struct tdc_found){.part.record = i};
        sided->used[i] = true;
        tdc_status status = take_values(grouping, &captured, &found->part);
        if (status == TDC_OK)
            status = take_dims(grouping, found);
        if (status == TDC_OK && grouping->count == 0 && patterns->count != 0)
            status = tdc_part_groups_check(sided, grouping->used, found, patterns->list[k],
                                           grouping->name, grouping->error);
        if (status != TDC_OK)
            return status;
        grouping->count++;
    }
    return TDC_OK;
}

/* ---- the logical name ------------------------------------------------------------------------ */

static tdc_status write_name(struct grouping *grouping, const struct tdc_part *part)
{
    struct name_scope names = {grouping->sided, part};
    struct tdc_scope scope = {find_name, &names};
    tdc_text_clear(&grouping->text);
    if (grouping->name == NULL) {
        tdc_text_adds(&grouping->text, grouping->sided->names[part->record]);
        return TDC_OK;
    }
    for (const char *at = grouping->name; *at != '\0';) {
        size_t length = strcspn(at, "{");
        tdc_text_add(&grouping->text, at, length);
        at += length;
        if (*at == '\0')
            break;
        size_t inside = strcspn(at + 1, "}");
        if (at[inside + 1] == '\0') {
            tdc_text_adds(&grouping->text, at);
            break;
        }
        const char *start = at + 1, *end = at + 1 + inside;
        while (start < end && *start == ' ')
            start++;
        while (end > start && end[-1] == ' ')
            end--;
        const char *text = named_text(part, start, (size_t)(end - start));
        char problem[TDC_EXPRESSION_TEXT];
        int64_t value;
        if (text != NULL)
            tdc_text_adds(&grouping->text, text);
        else if (!tdc_expression_value(at + 1, inside, &scope, &value, problem))
            return tdc_rule_fail(grouping->error, grouping->place, "%s", problem);
        else
            tdc_text_addf(&grouping->text, "%lld", (long long)value);
        at += inside + 2;
    }
    return TDC_OK;
}

/* Whether the records found have more than one value of a name. */
static bool differs(const struct grouping *grouping, const char *name)
{
    for (size_t i = 1; i < grouping->count; i++) {
        struct tdc_part_value first =
            tdc_part_value(grouping->sided, &grouping->found[0].part, name);
        struct tdc_part_value other =
            tdc_part_value(grouping->sided, &grouping->found[i].part, name);
        if (tdc_part_value_order(&first, &other) != 0)
            return true;
    }
    return false;
}

struct name_search {
    const char *name;
    bool found;
};

static bool is_joined(void *context, const struct tdc_join_part *part)
{
    struct name_search *search = context;
    search->found |= strcmp(part->name, search->name) == 0;
    return true;
}

static bool names_step(const struct tdc_dims *dims)
{
    struct name_search search = {.name = "step"};
    if (dims == NULL)
        return false;
    tdc_dims_each_join(dims, is_joined, &search);
    for (size_t i = 0; i < dims->declaration_count; i++)
        search.found |= strcmp(dims->declarations[i].name, "step") == 0;
    return search.found;
}

static void add_value(struct grouping *grouping, const struct tdc_part *part, const char *name)
{
    struct tdc_part_value value = tdc_part_value(grouping->sided, part, name);
    if (value.text != NULL)
        tdc_text_addf(&grouping->text, " @%s=%s", name, value.text);
    else
        tdc_text_addf(&grouping->text, " @%s=%lld", name, (long long)value.number);
}

/* ` @dp=1` for each axis that is compared place by place. */
static void add_places(struct grouping *grouping, const struct tdc_found *found, bool steps)
{
    const struct tdc_dims *dims = found->dims;
    bool step = steps && !names_step(dims);
    for (size_t i = 0; dims != NULL && i < dims->declaration_count; i++) {
        const struct tdc_declaration *declaration = &dims->declarations[i];
        uint64_t size = 1;
        if (declaration->how != TDC_DECLARED_EACH)
            continue;
        tdc_sided_axis(grouping->sided, declaration->name, strlen(declaration->name), &size);
        if (strcmp(declaration->name, "step") == 0)
            step = steps;
        else if (size > 1 || differs(grouping, declaration->name))
            add_value(grouping, &found->part, declaration->name);
    }
    if (grouping->used->each_rank && differs(grouping, "rank"))
        add_value(grouping, &found->part, "rank");
    if (step)
        add_value(grouping, &found->part, "step");
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct tdc_part_group *group_named(struct grouping *grouping)
{
    struct tdc_part_groups *groups = grouping->groups;
    bool fresh;
    const char *name =
        tdc_arena_text(grouping->arena, tdc_text_get(&grouping->text), grouping->text.length);
    if (name == NULL || grouping->text.failed)
        return NULL;
    uint32_t number = tdc_names_put(&groups->names, name, grouping->text.length, &fresh);
    if (number == TDC_NAME_NONE)
        return NULL;
    if (!fresh)
        return &groups->groups[number];
    if (groups->count == groups->room) {
        size_t room = groups->room * 2 + 64;
        struct tdc_part_group *grown = realloc(groups->groups, room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        groups->groups = grown;
        groups->room = room;
    }
    groups->groups[groups->count] = (struct tdc_part_group){.name = name};
    return &groups->groups[groups->count++];
}

static bool add_part(struct tdc_part_group *group, const struct tdc_part *part)
{
    if (group->count == group->room) {
        size_t room = group->room * 2 + 4;
        struct tdc_part *grown = realloc(group->parts, room * sizeof *grown);
        if (grown == NULL)
            return false;
        group->parts = grown;
        group->room = room;
    }
    group->parts[group->count++] = *part;
    return true;
}

static tdc_status make_groups(struct grouping *grouping)
{
    bool steps = differs(grouping, "step");
    for (size_t i = 0; i < grouping->count; i++) {
        const struct tdc_found *found = &grouping->found[i];
        tdc_status status = write_name(grouping, &found->part);
        if (status != TDC_OK)
            return status;
        add_places(grouping, found, steps);
        struct tdc_part_group *group = group_named(grouping);
        if (group == NULL || !add_part(group, &found->part))
            return no_memory(grouping);
        if (group->count == 1)
            group->dims = found->dims;
    }
    return TDC_OK;
}

tdc_status tdc_part_groups_find(const struct tdc_sided *sided, const struct tdc_used_entry *used,
                                const char *name, struct tdc_rule_place place,
                                struct tdc_arena *arena, struct tdc_part_groups *groups,
                                struct tdc_error *error)
{
    struct grouping grouping = {.sided = sided,
                                .used = used,
                                .name = name,
                                .place = place,
                                .arena = arena,
                                .groups = groups,
                                .error = error};
    *groups = (struct tdc_part_groups){0};
    tdc_names_init(&groups->names);
    tdc_text_init(&grouping.text, NAME_LIMIT);
    tdc_status status = find_records(&grouping);
    if (status == TDC_OK)
        status = make_groups(&grouping);
    tdc_text_free(&grouping.text);
    free(grouping.found);
    return status;
}

void tdc_part_groups_free(struct tdc_part_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free(groups->groups[i].parts);
    free(groups->groups);
    tdc_names_free(&groups->names);
    *groups = (struct tdc_part_groups){0};
}
