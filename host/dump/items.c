#include "host/dump/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zlib.h>

#include "io/pytext.h"

/* A row name longer than this is not from a collector. */
#define NAME_LIMIT ((size_t)1 << 16)
/* Longest text of one value: lists given as arguments can be large. */
#define VALUE_LIMIT ((size_t)1 << 24)

void tdc_items_begin(struct tdc_item_builder *builder, struct tdc_dump *dump)
{
    *builder = (struct tdc_item_builder){.dump = dump};
    tdc_names_init(&builder->interned);
    tdc_text_init(&builder->name, NAME_LIMIT);
    tdc_text_init(&builder->text, VALUE_LIMIT);
}

void tdc_items_end(struct tdc_item_builder *builder)
{
    tdc_names_free(&builder->interned);
    tdc_text_free(&builder->name);
    tdc_text_free(&builder->text);
}

/* A copy in the dump's arena. */
static const char *keep(struct tdc_item_builder *builder, const char *text, size_t length)
{
    const char *copy = tdc_arena_text(&builder->dump->arena, text, length);
    if (copy == NULL) {
        builder->failed = true;
        return "";
    }
    return copy;
}

/* The same, one copy for all equal texts. */
static const char *intern(struct tdc_item_builder *builder, const char *text, size_t length)
{
    uint32_t known = tdc_names_find(&builder->interned, text, length);
    if (known != TDC_NAME_NONE)
        return builder->interned.keys[known].text;
    const char *copy = keep(builder, text, length);
    bool fresh;
    if (!builder->failed &&
        tdc_names_put(&builder->interned, copy, length, &fresh) == TDC_NAME_NONE)
        builder->failed = true;
    return copy;
}

static const char *intern_str(struct tdc_item_builder *builder, const struct tdc_json *value)
{
    tdc_text_clear(&builder->text);
    if (value == NULL)
        tdc_text_adds(&builder->text, "None");
    else
        tdc_pytext_str(&builder->text, value);
    builder->failed |= builder->text.failed;
    return intern(builder, tdc_text_get(&builder->text), builder->text.length);
}

bool tdc_json_truthy(const struct tdc_json *value)
{
    if (value == NULL)
        return false;
    switch (value->kind) {
    case TDC_JSON_NULL:
    case TDC_JSON_FALSE:
        return false;
    case TDC_JSON_TRUE:
        return true;
    case TDC_JSON_INTEGER:
    case TDC_JSON_FLOAT:
        return value->number != 0;
    case TDC_JSON_STRING:
        return value->length != 0;
    case TDC_JSON_LIST:
    case TDC_JSON_OBJECT:
        return value->children != 0;
    }
    return false;
}

static bool text_is(const struct tdc_json *value, const char *text)
{
    return value != NULL && value->kind == TDC_JSON_STRING && value->length == strlen(text) &&
           memcmp(value->text, text, value->length) == 0;
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void set_stat_text(struct tdc_record *record, int which, const char *text)
{
    record->stat_kinds[which] = TDC_STAT_TEXT;
    record->stats[which].text = strcasecmp(text, "nan") == 0 ? "Nan" : text;
}

static void set_stat(struct tdc_item_builder *builder, struct tdc_record *record, int which,
                     const struct tdc_json *value, bool boolean_as_text)
{
    union tdc_stat *stat = &record->stats[which];
    uint8_t *kind = &record->stat_kinds[which];
    if (value == NULL || value->kind == TDC_JSON_NULL) {
        set_stat_text(record, which, "None");
    } else if (value->kind == TDC_JSON_FLOAT && value->number == value->number) {
        *kind = TDC_STAT_FLOAT;
        stat->number = value->number;
    } else if (value->kind == TDC_JSON_INTEGER) {
        /* every integer below 2^53 is exact; larger ones keep their digits */
        bool exact = value->number < 9007199254740992.0 && value->number > -9007199254740992.0;
        *kind = exact ? TDC_STAT_INTEGER : TDC_STAT_BIG_INTEGER;
        if (exact)
            stat->number = value->number;
        else
            stat->text = keep(builder, value->text, value->length);
    } else if (!boolean_as_text &&
               (value->kind == TDC_JSON_TRUE || value->kind == TDC_JSON_FALSE)) {
        *kind = value->kind == TDC_JSON_TRUE ? TDC_STAT_TRUE : TDC_STAT_FALSE;
    } else {
        set_stat_text(record, which, intern_str(builder, value));
    }
}

static void set_all_stats(struct tdc_item_builder *builder, struct tdc_record *record,
                          const struct tdc_json *value, bool as_text)
{
    for (int i = 0; i < TDC_STATISTICS; i++) {
        if (as_text)
            set_stat_text(record, i, intern_str(builder, value));
        else
            set_stat(builder, record, i, value, false);
    }
}

/* ---- one leaf -------------------------------------------------------------------------------- */

/* numpy's shape of a slice's value: "(3,)". Elements of a slice are numbers or null, never lists.
 */
static const char *slice_shape(struct tdc_item_builder *builder, const struct tdc_json *value)
{
    char text[32] = "()";
    if (value != NULL && value->kind == TDC_JSON_LIST)
        snprintf(text, sizeof text, "(%zu,)", value->children);
    return intern(builder, text, strlen(text));
}

static const char *python_class(const struct tdc_json *value)
{
    if (value == NULL)
        return "<class 'NoneType'>";
    switch (value->kind) {
    case TDC_JSON_NULL:
        return "<class 'NoneType'>";
    case TDC_JSON_FALSE:
    case TDC_JSON_TRUE:
        return "<class 'bool'>";
    case TDC_JSON_INTEGER:
        return "<class 'int'>";
    case TDC_JSON_FLOAT:
        return "<class 'float'>";
    case TDC_JSON_STRING:
        return "<class 'str'>";
    case TDC_JSON_LIST:
        return "<class 'list'>";
    case TDC_JSON_OBJECT:
        return "<class 'dict'>";
    }
    return "";
}

/* The last part of the name says that the value is a rank number of a collective call. */
static bool names_a_rank(const struct tdc_text *name)
{
    const char *text = tdc_text_get(name);
    const char *dot = strrchr(text, '.');
    const char *last = dot == NULL ? text : dot + 1;
    return strcmp(last, "src") == 0 || strcmp(last, "dst") == 0 || strcmp(last, "group_src") == 0 ||
           strcmp(last, "group_dst") == 0;
}

/* Spec 3, the table of row fields for leaves without a dtype. */
static void describe_untyped(struct tdc_item_builder *builder, struct tdc_record *record,
                             const struct tdc_json *leaf)
{
    static const char *const statistic_names[] = {"Max", "Min", "Mean", "Norm"};
    const struct tdc_json *type = tdc_json_get(leaf, "type");
    const struct tdc_json *value = tdc_json_get(leaf, "value");
    record->shape = "[]";
    record->scalar = true;
    if (text_is(type, "torch.Size") || text_is(type, "slice")) {
        record->dtype = intern_str(builder, type);
        record->shape =
            text_is(type, "slice") ? slice_shape(builder, value) : intern_str(builder, value);
        for (int i = 0; i < TDC_STATISTICS; i++)
            set_stat(builder, record, i, tdc_json_get(leaf, statistic_names[i]), true);
    } else if (text_is(type, "ellipsis")) {
        record->dtype = "ellipsis";
        set_all_stats(builder, record, value, false);
    } else if (names_a_rank(&builder->name)) {
        record->dtype = intern_str(builder, type);
        set_all_stats(builder, record, value, true);
        record->digest = intern_str(builder, value);
    } else if (text_is(type, "torch.ProcessGroup")) {
        const struct tdc_json *ranks = tdc_json_get(leaf, "group_ranks");
        record->dtype = "torch.ProcessGroup";
        set_all_stats(builder, record, ranks, true);
        record->digest = intern_str(builder, ranks);
    } else {
        record->dtype = python_class(value);
        set_all_stats(builder, record, value, false);
    }
}

static const char *digest_of(struct tdc_item_builder *builder, const struct tdc_json *leaf)
{
    const struct tdc_json *digest = tdc_json_get(leaf, "md5");
    if (tdc_json_truthy(digest))
        return intern_str(builder, digest);
    tdc_text_clear(&builder->text);
    const struct tdc_json *value = tdc_json_get(leaf, "value");
    if (value != NULL)
        tdc_pytext_str(&builder->text, value);
    builder->failed |= builder->text.failed;
    uLong sum = crc32_z(0, (const Bytef *)tdc_text_get(&builder->text), builder->text.length);
    char digits[16];
    snprintf(digits, sizeof digits, "%08lx", (unsigned long)sum);
    return intern(builder, digits, strlen(digits));
}

static struct tdc_record *new_record(struct tdc_item_builder *builder, enum tdc_state state)
{
    struct tdc_dump *dump = builder->dump;
    if (dump->record_count == builder->capacity) {
        size_t capacity = builder->capacity == 0 ? 256 : builder->capacity * 2;
        size_t bytes;
        struct tdc_record *records = NULL;
        if (!__builtin_mul_overflow(capacity, sizeof *records, &bytes))
            records = realloc(dump->records, bytes);
        if (records == NULL) {
            builder->failed = true;
            return NULL;
        }
        dump->records = records;
        builder->capacity = capacity;
    }
    struct tdc_record *record = &dump->records[dump->record_count++];
    *record = (struct tdc_record){
        .dtype = "None",
        .shape = "None",
        .requires_grad = "N/A",
        .data_name = "-1",
        .state = (uint8_t)state,
        .entry = builder->entry,
    };
    return record;
}

static void add_null(struct tdc_item_builder *builder, enum tdc_state state)
{
    struct tdc_record *record = new_record(builder, state);
    if (record == NULL)
        return;
    record->name = keep(builder, tdc_text_get(&builder->name), builder->name.length);
    record->digest = "N/A";
    record->scalar = true;
    for (int i = 0; i < TDC_STATISTICS; i++)
        set_stat_text(record, i, "None");
}

static void note_framework(struct tdc_dump *dump, const struct tdc_json *type)
{
    if (dump->seen_framework != NULL || type == NULL || type->kind != TDC_JSON_STRING)
        return;
    if (strncmp(type->text, "torch", 5) == 0)
        dump->seen_framework = "pytorch";
    else if (strncmp(type->text, "mindspore", 9) == 0)
        dump->seen_framework = "mindspore";
}

static void add_leaf(struct tdc_item_builder *builder, const struct tdc_json *leaf,
                     enum tdc_state state)
{
    static const char *const statistic_names[] = {"Max", "Min", "Mean", "Norm"};
    struct tdc_record *record = new_record(builder, state);
    if (record == NULL)
        return;
    note_framework(builder->dump, tdc_json_get(leaf, "type"));
    const struct tdc_json *data_name = tdc_json_get(leaf, "data_name");
    if (tdc_json_truthy(data_name) && data_name->kind == TDC_JSON_STRING) {
        record->data_name = keep(builder, data_name->text, data_name->length);
        const char *dot = strrchr(record->data_name, '.');
        size_t length = dot == NULL ? data_name->length : (size_t)(dot - record->data_name);
        record->name = keep(builder, data_name->text, length);
    } else {
        record->name = keep(builder, tdc_text_get(&builder->name), builder->name.length);
    }
    const struct tdc_json *requires_grad = tdc_json_get(leaf, "requires_grad");
    if (requires_grad != NULL && requires_grad->kind != TDC_JSON_NULL)
        record->requires_grad = intern_str(builder, requires_grad);
    const struct tdc_json *dtype = tdc_json_get(leaf, "dtype");
    if (tdc_json_truthy(dtype)) {
        record->dtype = intern_str(builder, dtype);
        record->shape = intern_str(builder, tdc_json_get(leaf, "shape"));
        for (int i = 0; i < TDC_STATISTICS; i++)
            set_stat(builder, record, i, tdc_json_get(leaf, statistic_names[i]), true);
    } else {
        describe_untyped(builder, record, leaf);
    }
    if (record->digest == NULL)
        record->digest = digest_of(builder, leaf);
}

/* ---- expansion ------------------------------------------------------------------------------- */

/* One of the dot-separated parts of the name is "parameters_grad". */
static bool has_gradient_part(const char *name)
{
    static const char part[] = "parameters_grad";
    const size_t length = sizeof part - 1;
    for (const char *at = strstr(name, part); at != NULL; at = strstr(at + 1, part))
        if ((at == name || at[-1] == '.') && (at[length] == '.' || at[length] == '\0'))
            return true;
    return false;
}

/* Depth is bounded by the JSON reader. */
static void expand(struct tdc_item_builder *builder, const struct tdc_json *item,
                   enum tdc_state state);

static void expand_under(struct tdc_item_builder *builder, const char *part, size_t length,
                         const struct tdc_json *item, enum tdc_state state)
{
    size_t before = builder->name.length;
    tdc_text_addc(&builder->name, '.');
    tdc_text_add(&builder->name, part, length);
    if (builder->name.failed) {
        builder->failed = true;
        return;
    }
    expand(builder, item, state);
    builder->name.length = before;
    builder->name.data[before] = '\0';
}

static void expand_list(struct tdc_item_builder *builder, const struct tdc_json *list,
                        enum tdc_state state)
{
    bool keep_name = has_gradient_part(tdc_text_get(&builder->name));
    size_t index = 0;
    for (const struct tdc_json *item = list->child; item != NULL && !builder->failed;
         item = item->next, index++) {
        if (keep_name) {
            expand(builder, item, state);
        } else {
            char digits[24];
            int length = snprintf(digits, sizeof digits, "%zu", index);
            expand_under(builder, digits, (size_t)length, item, state);
        }
    }
}

static void expand(struct tdc_item_builder *builder, const struct tdc_json *item,
                   enum tdc_state state)
{
    if (item->kind == TDC_JSON_NULL) {
        add_null(builder, state);
    } else if (item->kind == TDC_JSON_LIST) {
        expand_list(builder, item, state);
    } else if (item->kind == TDC_JSON_OBJECT && item->children != 0) {
        const struct tdc_json *type = tdc_json_get(item, "type");
        if (text_is(tdc_json_get(item, "class_type"), "torch.distributed.P2POp")) {
            const struct tdc_json *tensor = tdc_json_get(item, "tensor");
            if (tensor != NULL && tensor->kind == TDC_JSON_OBJECT)
                add_leaf(builder, tensor, state);
            else
                add_null(builder, state);
        } else if (type != NULL && type->kind == TDC_JSON_STRING) {
            add_leaf(builder, item, state);
        } else {
            for (const struct tdc_json *member = item->child; member != NULL && !builder->failed;
                 member = member->next)
                expand_under(builder, member->key, member->key_length, member, state);
        }
    }
}

static bool ends_in_part(const char *name, const char *part)
{
    size_t length = strlen(name), tail = strlen(part);
    return length >= tail && strcmp(name + length - tail, part) == 0 &&
           (length == tail || name[length - tail - 1] == '.');
}

static void start_name(struct tdc_item_builder *builder, const char *entry, const char *suffix)
{
    tdc_text_clear(&builder->name);
    tdc_text_adds(&builder->name, entry);
    tdc_text_adds(&builder->name, suffix);
    builder->failed |= builder->name.failed;
}

static void expand_members(struct tdc_item_builder *builder, const char *entry,
                           const struct tdc_json *value)
{
    static const struct {
        const char *member, *suffix;
        enum tdc_state state;
    } members[] = {
        {"input_args", ".input", TDC_STATE_INPUT},
        {"input_kwargs", ".input", TDC_STATE_INPUT},
        {"input", ".input", TDC_STATE_INPUT},
        {"output", ".output", TDC_STATE_OUTPUT},
        {"parameters", ".parameters", TDC_STATE_PARAMETERS},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members && !builder->failed; i++) {
        const struct tdc_json *member = tdc_json_get(value, members[i].member);
        if (member == NULL)
            continue;
        start_name(builder, entry, members[i].suffix);
        if (!builder->failed)
            expand(builder, member, members[i].state);
    }
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

bool tdc_items_add(struct tdc_item_builder *builder, uint32_t entry, const struct tdc_json *value)
{
    struct tdc_dump *dump = builder->dump;
    const char *name = dump->entries[entry].name;
    size_t first = dump->record_count;
    builder->entry = entry;
    if (ends_in_part(name, "debug") || ends_in_part(name, "parameters_grad")) {
        start_name(builder, name, "");
        if (!builder->failed)
            expand(builder, value,
                   ends_in_part(name, "debug") ? TDC_STATE_DEBUG : TDC_STATE_PARAMETERS_GRAD);
    } else {
        expand_members(builder, name, value);
    }
    if (builder->failed)
        return false;
    dump->entries[entry].first = first;
    dump->entries[entry].count = dump->record_count - first;
    if (dump->record_count > first) {
        if (!order_by_state(dump->records + first, dump->record_count - first))
            return false;
        dump->records[first].first_of_entry = true;
    }
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

bool tdc_items_have_digest(enum tdc_dump_kind kind, const struct tdc_json *value)
{
    if (kind == TDC_DEBUG_JSON)
        return digest_at_any_depth(value);
    if (value->kind != TDC_JSON_OBJECT)
        return false;
    for (const struct tdc_json *member = value->child; member != NULL; member = member->next) {
        if (member->kind == TDC_JSON_OBJECT && tdc_json_get(member, "md5") != NULL)
            return true;
        if (member->kind != TDC_JSON_LIST)
            continue;
        for (const struct tdc_json *item = member->child; item != NULL; item = item->next)
            if (item->kind == TDC_JSON_OBJECT && tdc_json_get(item, "md5") != NULL)
                return true;
    }
    return false;
}
