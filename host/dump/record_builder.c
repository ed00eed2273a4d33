/* record_builder.c - from the nested items of an entry to its records, in table order
 * (docs/msprobe.md#rows-of-a-dump). */
#include "host/dump/record_builder.h"

#include <stdlib.h>
#include <string.h>

#include "host/dump/leaf_members.h"

/* A row name longer than this is not from a collector. */
#define NAME_LIMIT ((size_t)1 << 16)
/* Longest text of one value: lists given as arguments can be large. */
#define VALUE_LIMIT ((size_t)1 << 24)

void tdc_records_begin(struct tdc_record_builder *builder, struct tdc_dump *dump)
{
    *builder = (struct tdc_record_builder){.dump = dump};
    tdc_names_init(&builder->interned);
    tdc_text_init(&builder->name, NAME_LIMIT);
    tdc_text_init(&builder->text, VALUE_LIMIT);
}

void tdc_records_end(struct tdc_record_builder *builder)
{
    tdc_names_free(&builder->interned);
    tdc_text_free(&builder->name);
    tdc_text_free(&builder->text);
}

/* ---- expansion ------------------------------------------------------------------------------- */

bool tdc_has_gradient_part(const char *name)
{
    static const char part[] = "parameters_grad";
    const size_t length = sizeof part - 1;
    for (const char *at = name;; at++) {
        if (strncmp(at, part, length) == 0 && (at[length] == '.' || at[length] == '\0'))
            return true;
        at = strchr(at, '.');
        if (at == NULL)
            return false;
    }
}

static void expand_under(struct tdc_record_builder *builder, const char *part, size_t length,
                         const struct tdc_json *item, enum tdc_state state)
{
    size_t before = builder->name.length;
    tdc_text_addc(&builder->name, '.');
    tdc_text_add(&builder->name, part, length);
    if (builder->name.failed) {
        builder->failed = true;
        return;
    }
    tdc_records_expand(builder, item, state);
    builder->name.length = before;
    builder->name.data[before] = '\0';
}

static void expand_list(struct tdc_record_builder *builder, const struct tdc_json *list,
                        enum tdc_state state)
{
    bool keep_name = tdc_has_gradient_part(tdc_text_get(&builder->name));
    size_t index = 0;
    for (const struct tdc_json *item = list->child; item != NULL && !builder->failed;
         item = item->next, index++) {
        if (keep_name) {
            tdc_records_expand(builder, item, state);
        } else {
            tdc_text_clear(&builder->text);
            tdc_text_add_number(&builder->text, index);
            builder->failed |= builder->text.failed;
            if (!builder->failed)
                expand_under(builder, builder->text.data, builder->text.length, item, state);
        }
    }
}

/* What else a point-to-point operation says: its kind, peer and tag. */
static void expand_operation(struct tdc_record_builder *builder, const struct tdc_json *operation,
                             enum tdc_state state)
{
    bool before = builder->sound_only, since_26 = builder->since_26;
    builder->sound_only = true;
    builder->since_26 = false;
    for (const struct tdc_json *member = operation->child; member != NULL && !builder->failed;
         member = member->next)
        if (strcmp(member->key, "class_type") != 0 && strcmp(member->key, "tensor") != 0)
            expand_under(builder, member->key, member->key_length, member, state);
    builder->sound_only = before;
    builder->since_26 = since_26;
}

void tdc_records_expand(struct tdc_record_builder *builder, const struct tdc_json *item,
                        enum tdc_state state)
{
    if (item->kind == TDC_JSON_NULL) {
        tdc_records_add_null(builder, state);
    } else if (item->kind == TDC_JSON_LIST) {
        builder->keyword = NULL;
        expand_list(builder, item, state);
    } else if (item->kind == TDC_JSON_OBJECT && item->children != 0) {
        struct tdc_leaf leaf;
        tdc_leaf_look(item, &leaf);
        const struct tdc_json *type = leaf.members[TDC_LEAF_TYPE];
        if (tdc_json_is_text(leaf.members[TDC_LEAF_CLASS_TYPE], "torch.distributed.P2POp")) {
            const struct tdc_json *tensor = leaf.members[TDC_LEAF_TENSOR];
            if (tensor != NULL && tensor->kind == TDC_JSON_OBJECT) {
                tdc_leaf_look(tensor, &leaf);
                tdc_records_add_leaf(builder, &leaf, state);
            } else {
                tdc_records_add_null(builder, state);
            }
            expand_operation(builder, item, state);
        } else if (type != NULL && type->kind == TDC_JSON_STRING) {
            tdc_records_add_leaf(builder, &leaf, state);
        } else {
            builder->keyword = NULL;
            for (const struct tdc_json *member = item->child; member != NULL && !builder->failed;
                 member = member->next)
                expand_under(builder, member->key, member->key_length, member, state);
        }
    } else if (item->kind != TDC_JSON_OBJECT) {
        tdc_records_add_bare(builder, item, state);
    }
}

bool tdc_ends_in_part(const char *name, const char *part)
{
    size_t length = strlen(name), tail = strlen(part);
    return length >= tail && strcmp(name + length - tail, part) == 0 &&
           (length == tail || name[length - tail - 1] == '.');
}

void tdc_records_start_name(struct tdc_record_builder *builder, const char *entry,
                            const char *suffix)
{
    tdc_text_clear(&builder->name);
    tdc_text_adds(&builder->name, entry);
    tdc_text_adds(&builder->name, suffix);
    builder->failed |= builder->name.failed;
}

const struct tdc_call_member tdc_call_members[TDC_CALL_MEMBERS] = {
    {"input_args", 10, ".input", TDC_STATE_INPUT, 0},
    {"input_kwargs", 12, ".input", TDC_STATE_INPUT, 1},
    {"input", 5, ".input", TDC_STATE_INPUT, 2},
    {"output", 6, ".output", TDC_STATE_OUTPUT, 4},
    {"parameters", 10, ".parameters", TDC_STATE_PARAMETERS, 3},
};

/* Arguments given by name; each of their records that is a whole argument is told its name. */
static void expand_keywords(struct tdc_record_builder *builder, const struct tdc_json *arguments)
{
    for (const struct tdc_json *member = arguments->child; member != NULL && !builder->failed;
         member = member->next) {
        builder->keyword = tdc_arena_text(&builder->dump->arena, member->key, member->key_length);
        builder->failed |= builder->keyword == NULL;
        if (!builder->failed)
            expand_under(builder, member->key, member->key_length, member, TDC_STATE_INPUT);
    }
    builder->keyword = NULL;
}

void tdc_records_add_member(struct tdc_record_builder *builder, const char *entry,
                            const struct tdc_call_member *part, const struct tdc_json *member)
{
    tdc_records_start_name(builder, entry, part->suffix);
    const struct tdc_json *type = tdc_json_get(member, "type");
    bool named = strcmp(part->member, "input_kwargs") == 0 && member->kind == TDC_JSON_OBJECT &&
                 !(type != NULL && type->kind == TDC_JSON_STRING) &&
                 tdc_json_get(member, "class_type") == NULL;
    if (!builder->failed && named)
        expand_keywords(builder, member);
    else if (!builder->failed)
        tdc_records_expand(builder, member, part->state);
}

static void expand_members(struct tdc_record_builder *builder, const char *entry,
                           const struct tdc_json *value)
{
    for (size_t i = 0; i < TDC_CALL_MEMBERS && !builder->failed; i++) {
        const struct tdc_json *member = tdc_json_get(value, tdc_call_members[i].member);
        if (member != NULL)
            tdc_records_add_member(builder, entry, &tdc_call_members[i], member);
    }
}

const struct tdc_call_member *tdc_call_member_of(const char *key, size_t length)
{
    for (size_t i = 0; i < TDC_CALL_MEMBERS; i++)
        if (length == tdc_call_members[i].length &&
            memcmp(key, tdc_call_members[i].member, length) == 0)
            return &tdc_call_members[i];
    return NULL;
}

/* A part of a call, or what the collector notes about it. */
static bool belongs_to_call(const struct tdc_json *member)
{
    return tdc_call_member_of(member->key, member->key_length) != NULL ||
           strcmp(member->key, TDC_CALL_NOTE) == 0;
}

/*
 * What an entry holds besides the parts of a call: the gradients of a micro batch (the name ends in
 * parameters_grad and its number), parts a later collector may add, or an item in the place of a
 * call. Nothing a dump holds is lost in silence.
 */
static void expand_rest(struct tdc_record_builder *builder, const char *entry,
                        const struct tdc_json *value)
{
    enum tdc_state state =
        tdc_has_gradient_part(entry) ? TDC_STATE_PARAMETERS_GRAD : TDC_STATE_DEBUG;
    const struct tdc_json *type = tdc_json_get(value, "type");
    tdc_records_start_name(builder, entry, "");
    if (builder->failed)
        return;
    builder->sound_only = true;
    if (value->kind != TDC_JSON_OBJECT || (type != NULL && type->kind == TDC_JSON_STRING)) {
        tdc_records_expand(builder, value, state);
    } else {
        for (const struct tdc_json *member = value->child; member != NULL && !builder->failed;
             member = member->next)
            if (!belongs_to_call(member))
                expand_under(builder, member->key, member->key_length, member, state);
    }
    builder->sound_only = false;
}

/* The last part of the name but one. */
static bool ends_before_last_part(const char *name, const char *part)
{
    const char *dot = strrchr(name, '.');
    size_t length = strlen(part), head = dot != NULL ? (size_t)(dot - name) : 0;
    return head >= length && strncmp(name + head - length, part, length) == 0 &&
           (head == length || name[head - length - 1] == '.');
}

/* Gradients of the parameters by call, as collectors of 2026 write them: `parameters_grad.0`. */
static void expand_gradients_of_call(struct tdc_record_builder *builder, const char *entry,
                                     const struct tdc_json *value)
{
    tdc_records_start_name(builder, entry, "");
    builder->sound_only = builder->since_26 = true;
    if (!builder->failed)
        tdc_records_expand(builder, value, TDC_STATE_PARAMETERS_GRAD);
    builder->sound_only = builder->since_26 = false;
}

/* Whether msprobe 26 takes the entry for a call: one of the last two parts of its name is a
 * direction, and something stands before. */
static bool is_directed(const char *entry)
{
    static const char *const directions[] = {"parameters_grad", "forward", "backward"};
    const char *dot = strrchr(entry, '.');
    bool two_parts = dot != NULL && memchr(entry, '.', (size_t)(dot - entry)) == NULL;
    for (size_t i = 0; i < 3; i++) {
        if (tdc_ends_in_part(entry, directions[i]) || ends_before_last_part(entry, directions[i]))
            return i == 0 ? dot != NULL : dot != NULL && !two_parts;
    }
    return false;
}

/* Inputs, parameters, outputs, gradients; stable. False when out of memory. */
static bool order_by_state(struct tdc_record *records, size_t count)
{
    static const uint8_t rank[] = {[TDC_STATE_INPUT] = 0,
                                   [TDC_STATE_DEBUG] = 0,
                                   [TDC_STATE_PARAMETERS] = 1,
                                   [TDC_STATE_OUTPUT] = 2,
                                   [TDC_STATE_PARAMETERS_GRAD] = 3};
    /* Only parameters come out of order, after the outputs: rotate them in front. */
    size_t outputs = 0;
    while (outputs < count && rank[records[outputs].state] < 2)
        outputs++;
    size_t parameters = outputs;
    while (parameters < count && rank[records[parameters].state] >= 2)
        parameters++;
    size_t moved = count - parameters, kept = parameters - outputs;
    if (moved == 0 || kept == 0)
        return true;
    struct tdc_record *copy = malloc(kept * sizeof *copy);
    if (copy == NULL)
        return false;
    memcpy(copy, records + outputs, kept * sizeof *copy);
    memmove(records + outputs, records + parameters, moved * sizeof *copy);
    memcpy(records + outputs + moved, copy, kept * sizeof *copy);
    free(copy);
    return true;
}

/* The first row of the entry, and the first of those that msprobe has. */
static void mark_first(struct tdc_dump *dump, size_t first)
{
    for (size_t i = first; i < dump->record_count; i++) {
        dump->records[i].first_of_entry = i == first || !dump->records[i].sound_only;
        if (!dump->records[i].sound_only)
            return;
    }
}

void tdc_records_end_entry(struct tdc_dump *dump, uint32_t entry, size_t first)
{
    dump->entries[entry].first = first;
    dump->entries[entry].count = dump->record_count - first;
    bool undirected = dump->kind == TDC_DUMP_JSON && !is_directed(dump->entries[entry].name);
    for (size_t i = first; i < dump->record_count; i++)
        dump->records[i].undirected = undirected;
    mark_first(dump, first);
}

bool tdc_records_add_entry(struct tdc_record_builder *builder, uint32_t entry,
                           const struct tdc_json *value)
{
    struct tdc_dump *dump = builder->dump;
    const char *name = dump->entries[entry].name;
    size_t first = dump->record_count;
    builder->entry = entry;
    if (tdc_ends_in_part(name, "debug") || tdc_ends_in_part(name, "parameters_grad")) {
        tdc_records_start_name(builder, name, "");
        if (!builder->failed)
            tdc_records_expand(builder, value,
                               tdc_ends_in_part(name, "debug") ? TDC_STATE_DEBUG
                                                               : TDC_STATE_PARAMETERS_GRAD);
    } else if (ends_before_last_part(name, "parameters_grad")) {
        expand_gradients_of_call(builder, name, value);
    } else {
        expand_members(builder, name, value);
        if (!builder->failed && dump->record_count > first &&
            !order_by_state(dump->records + first, dump->record_count - first))
            return false;
        if (!builder->failed)
            expand_rest(builder, name, value);
    }
    if (builder->failed)
        return false;
    tdc_records_end_entry(dump, entry, first);
    return true;
}

/* ---- digests --------------------------------------------------------------------------------- */

static bool digest_at_any_depth(const struct tdc_json *value)
{
    if (value->kind == TDC_JSON_OBJECT && tdc_json_get(value, "md5") != NULL)
        return true;
    for (const struct tdc_json *child = value->child; child != NULL; child = child->next)
        if (digest_at_any_depth(child))
            return true;
    return false;
}

bool tdc_member_has_digest(const struct tdc_json *member)
{
    if (member->kind == TDC_JSON_OBJECT)
        return tdc_json_get(member, "md5") != NULL;
    if (member->kind != TDC_JSON_LIST)
        return false;
    for (const struct tdc_json *item = member->child; item != NULL; item = item->next)
        if (tdc_json_get(item, "md5") != NULL)
            return true;
    return false;
}

bool tdc_entry_has_digest(enum tdc_dump_kind kind, const struct tdc_json *value)
{
    if (kind == TDC_DEBUG_JSON)
        return digest_at_any_depth(value);
    if (value->kind != TDC_JSON_OBJECT)
        return false;
    for (const struct tdc_json *member = value->child; member != NULL; member = member->next)
        if (tdc_member_has_digest(member))
            return true;
    return false;
}
