/* leaf.c - one record from one leaf of a dump entry (docs/msprobe.md#fields-of-a-row). */
#include "host/dump/record_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/dump/leaf_members.h"
#include "host/dump/python_value.h"
#include "io/text/pytext.h"

const char *tdc_records_keep(struct tdc_record_builder *builder, const char *text, size_t length)
{
    const char *copy = tdc_arena_text(&builder->dump->arena, text, length);
    if (copy == NULL) {
        builder->failed = true;
        return "";
    }
    return copy;
}

const char *tdc_records_intern(struct tdc_record_builder *builder, const char *text, size_t length)
{
    uint32_t known = tdc_names_find(&builder->interned, text, length);
    if (known != TDC_NAME_NONE)
        return builder->interned.keys[known].text;
    const char *copy = tdc_records_keep(builder, text, length);
    bool fresh;
    if (!builder->failed &&
        tdc_names_put(&builder->interned, copy, length, &fresh) == TDC_NAME_NONE)
        builder->failed = true;
    return copy;
}

static const char *intern_str(struct tdc_record_builder *builder, const struct tdc_json *value)
{
    tdc_text_clear(&builder->text);
    if (value == NULL)
        tdc_text_adds(&builder->text, "None");
    else
        tdc_pytext_str(&builder->text, value);
    builder->failed |= builder->text.failed;
    return tdc_records_intern(builder, tdc_text_get(&builder->text), builder->text.length);
}

/* The same for a member that often repeats what the one of the leaf before was. */
static const char *intern_recent(struct tdc_record_builder *builder, const struct tdc_json *value,
                                 struct tdc_recent_text *recent)
{
    const char *text = value != NULL ? value->text : NULL;
    size_t length = value != NULL ? value->length : 0;
    if (value == NULL || value->kind != TDC_JSON_STRING) {
        tdc_text_clear(&builder->text);
        if (value == NULL)
            tdc_text_adds(&builder->text, "None");
        else
            tdc_pytext_str(&builder->text, value);
        builder->failed |= builder->text.failed;
        text = tdc_text_get(&builder->text);
        length = builder->text.length;
    }
    if (recent->text == NULL || recent->length != length || memcmp(recent->text, text, length) != 0)
        *recent = (struct tdc_recent_text){tdc_records_intern(builder, text, length), length};
    return recent->text;
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void set_stat_text(struct tdc_record *record, int which, const char *text)
{
    record->stat_kinds[which] = TDC_STAT_TEXT;
    record->stats[which].text = strcasecmp(text, "nan") == 0 ? "Nan" : text;
}

static void set_stat(struct tdc_record_builder *builder, struct tdc_record *record, int which,
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
            stat->text = tdc_records_keep(builder, value->text, value->length);
    } else if (!boolean_as_text &&
               (value->kind == TDC_JSON_TRUE || value->kind == TDC_JSON_FALSE)) {
        *kind = value->kind == TDC_JSON_TRUE ? TDC_STAT_TRUE : TDC_STAT_FALSE;
    } else {
        set_stat_text(record, which, intern_str(builder, value));
    }
}

static void set_all_stats(struct tdc_record_builder *builder, struct tdc_record *record,
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
static const char *slice_shape(struct tdc_record_builder *builder, const struct tdc_json *value)
{
    char text[32] = "()";
    if (value != NULL && value->kind == TDC_JSON_LIST)
        snprintf(text, sizeof text, "(%zu,)", value->children);
    return tdc_records_intern(builder, text, strlen(text));
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

/* The lines of docs/msprobe.md#fields-of-a-row for leaves without a dtype. */
static void describe_untyped(struct tdc_record_builder *builder, struct tdc_record *record,
                             const struct tdc_leaf *leaf)
{
    const struct tdc_json *type = leaf->members[TDC_LEAF_TYPE];
    const struct tdc_json *value = leaf->members[TDC_LEAF_VALUE];
    record->shape = "[]";
    record->scalar = true;
    if (tdc_json_is_text(type, "torch.Size") || tdc_json_is_text(type, "slice")) {
        record->dtype = intern_str(builder, type);
        record->shape = tdc_json_is_text(type, "slice") ? slice_shape(builder, value)
                                                        : intern_str(builder, value);
        for (int i = 0; i < TDC_STATISTICS; i++)
            set_stat(builder, record, i, leaf->members[TDC_LEAF_MAX + i], true);
    } else if (tdc_json_is_text(type, "ellipsis")) {
        record->dtype = "ellipsis";
        set_all_stats(builder, record, value, false);
    } else if (names_a_rank(&builder->name)) {
        record->dtype = intern_str(builder, type);
        set_all_stats(builder, record, value, true);
        record->digest = intern_str(builder, value);
    } else if (tdc_json_is_text(type, "torch.ProcessGroup")) {
        const struct tdc_json *ranks = leaf->members[TDC_LEAF_GROUP_RANKS];
        record->dtype = "torch.ProcessGroup";
        set_all_stats(builder, record, ranks, true);
        record->digest = intern_str(builder, ranks);
    } else {
        record->dtype = tdc_python_class(value);
        set_all_stats(builder, record, value, false);
    }
}

static const char *digest_of_value(struct tdc_record_builder *builder, const struct tdc_json *value)
{
    char digits[TDC_VALUE_DIGEST];
    if (value == NULL)
        return "00000000"; /* of the empty text: what nearly all tensors have */
    builder->failed |= !tdc_value_digest(&builder->text, value, digits);
    return tdc_records_intern(builder, digits, strlen(digits));
}

static const char *digest_of(struct tdc_record_builder *builder, const struct tdc_leaf *leaf)
{
    const struct tdc_json *digest = leaf->members[TDC_LEAF_MD5];
    if (tdc_json_truthy(digest)) {
        builder->dump->digest_records = true;
        return intern_str(builder, digest);
    }
    return digest_of_value(builder, leaf->members[TDC_LEAF_VALUE]);
}

struct tdc_record *tdc_records_new(struct tdc_record_builder *builder, enum tdc_state state)
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
        .sound_only = builder->sound_only,
        .since_26 = builder->since_26,
        .keyword = builder->keyword,
    };
    return record;
}

void tdc_records_add_null(struct tdc_record_builder *builder, enum tdc_state state)
{
    struct tdc_record *record = tdc_records_new(builder, state);
    if (record == NULL)
        return;
    record->name = tdc_records_keep(builder, tdc_text_get(&builder->name), builder->name.length);
    record->digest = "N/A";
    record->scalar = record->no_dtype = record->no_shape = true;
    for (int i = 0; i < TDC_STATISTICS; i++)
        set_stat_text(record, i, "None");
}

void tdc_records_add_bare(struct tdc_record_builder *builder, const struct tdc_json *value,
                          enum tdc_state state)
{
    struct tdc_record *record = tdc_records_new(builder, state);
    if (record == NULL)
        return;
    record->name = tdc_records_keep(builder, tdc_text_get(&builder->name), builder->name.length);
    record->dtype = tdc_python_class(value);
    record->shape = "[]";
    record->scalar = record->sound_only = true;
    record->since_26 = false;
    record->digest = digest_of_value(builder, value);
    set_all_stats(builder, record, value, false);
}

void tdc_note_framework(struct tdc_dump *dump, const char *type, size_t length)
{
    if (dump->seen_framework != NULL)
        return;
    if (length >= 5 && memcmp(type, "torch", 5) == 0)
        dump->seen_framework = "pytorch";
    else if (length >= 9 && memcmp(type, "mindspore", 9) == 0)
        dump->seen_framework = "mindspore";
}

void tdc_record_name_by_file(struct tdc_record_builder *builder, struct tdc_record *record,
                             const char *file, size_t length)
{
    record->data_name = tdc_records_keep(builder, file, length);
    const char *dot = strrchr(record->data_name, '.');
    record->name =
        tdc_records_keep(builder, file, dot == NULL ? length : (size_t)(dot - record->data_name));
}

void tdc_records_add_leaf(struct tdc_record_builder *builder, const struct tdc_leaf *leaf,
                          enum tdc_state state)
{
    struct tdc_record *record = tdc_records_new(builder, state);
    if (record == NULL)
        return;
    const struct tdc_json *type = leaf->members[TDC_LEAF_TYPE];
    if (type != NULL && type->kind == TDC_JSON_STRING)
        tdc_note_framework(builder->dump, type->text, type->length);
    const struct tdc_json *data_name = leaf->members[TDC_LEAF_DATA_NAME];
    if (tdc_json_truthy(data_name) && data_name->kind == TDC_JSON_STRING) {
        tdc_record_name_by_file(builder, record, data_name->text, data_name->length);
    } else {
        record->name =
            tdc_records_keep(builder, tdc_text_get(&builder->name), builder->name.length);
    }
    if (leaf->members[TDC_LEAF_DEVICE_MESH] != NULL)
        record->dtensor = tdc_dtensor_read(&builder->dump->arena, leaf->object, &builder->failed);
    const struct tdc_json *requires_grad = leaf->members[TDC_LEAF_REQUIRES_GRAD];
    if (requires_grad != NULL && requires_grad->kind == TDC_JSON_TRUE)
        record->requires_grad = "True";
    else if (requires_grad != NULL && requires_grad->kind == TDC_JSON_FALSE)
        record->requires_grad = "False";
    else if (requires_grad != NULL && requires_grad->kind != TDC_JSON_NULL)
        record->requires_grad = intern_str(builder, requires_grad);
    const struct tdc_json *dtype = leaf->members[TDC_LEAF_DTYPE];
    if (tdc_json_truthy(dtype)) {
        record->dtype = intern_recent(builder, dtype, &builder->dtype);
        const struct tdc_json *shape = leaf->members[TDC_LEAF_SHAPE];
        record->shape = intern_recent(builder, shape, &builder->shape);
        record->no_shape = shape == NULL || shape->kind == TDC_JSON_NULL;
        for (int i = 0; i < TDC_STATISTICS; i++)
            set_stat(builder, record, i, leaf->members[TDC_LEAF_MAX + i], true);
    } else {
        describe_untyped(builder, record, leaf);
    }
    const struct tdc_json *digest = leaf->members[TDC_LEAF_MD5];
    record->digest_given = tdc_json_truthy(digest);
    record->digest_number = record->digest_given && record->digest == NULL &&
                            (digest->kind == TDC_JSON_FLOAT || digest->kind == TDC_JSON_INTEGER);
    if (record->digest == NULL)
        record->digest = digest_of(builder, leaf);
}
