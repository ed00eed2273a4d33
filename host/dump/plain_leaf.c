#include "host/dump/plain_leaf.h"

#include <string.h>

#include "host/dump/leaf_members.h"

/* What leaves of one layout are. */
enum leaf_form {
    NOT_LOOKED_AT,
    TENSOR,   /* dtype, shape and statistics */
    VALUE,    /* a type and a value, nothing else */
    ELSEWHERE /* for the reader of all leaves */
};

static enum leaf_form form_of(const struct tdc_json_layout *layout)
{
    unsigned has = 0;
    for (unsigned i = 0; i < layout->count; i++)
        has |= 1u << layout->roles[i];
    const unsigned tensor = 1u << TDC_LEAF_TYPE | 1u << TDC_LEAF_DTYPE | 1u << TDC_LEAF_SHAPE |
                            1u << TDC_LEAF_MAX | 1u << TDC_LEAF_MIN | 1u << TDC_LEAF_MEAN |
                            1u << TDC_LEAF_NORM;
    const unsigned besides = 1u << TDC_LEAF_MD5 | 1u << TDC_LEAF_DATA_NAME |
                             1u << TDC_LEAF_REQUIRES_GRAD | 1u << TDC_LEAF_MEMBERS;
    if ((has & tensor) == tensor && (has & ~(tensor | besides)) == 0)
        return TENSOR;
    return has == (1u << TDC_LEAF_TYPE | 1u << TDC_LEAF_VALUE) ? VALUE : ELSEWHERE;
}

static void look_at(struct tdc_json_layout *layout)
{
    for (unsigned i = 0; i < layout->count; i++)
        layout->roles[i] = (unsigned char)tdc_leaf_member_of(layout->members[i].key,
                                                             layout->members[i].key_length);
    layout->form = (unsigned char)form_of(layout);
}

static bool same_text(const struct tdc_json_value *value, const struct tdc_recent_text *recent)
{
    return recent->text != NULL && recent->length == value->length &&
           memcmp(recent->text, value->text, value->length) == 0;
}

static bool is_text(const struct tdc_json_value *value)
{
    return value->kind == TDC_JSON_STRING && value->length != 0;
}

static bool accepted_text(const struct tdc_json_value *value)
{
    return is_text(value) && !tdc_runs_as_formula(value->text, value->length);
}

/* A number that a double holds, or null. */
static bool is_plain_statistic(const struct tdc_json_value *value)
{
    return value != NULL &&
           (value->kind == TDC_JSON_FLOAT || value->kind == TDC_JSON_NULL ||
            (value->kind == TDC_JSON_INTEGER && value->number < 9007199254740992.0 &&
             value->number > -9007199254740992.0));
}

/* The members that a record is made of, by their roles; false if one is not as usual. */
static bool sort_members(struct tdc_record_builder *builder, const struct tdc_json_taken *taken,
                         const struct tdc_json_value *members[TDC_LEAF_MEMBERS + 1])
{
    const struct tdc_json_layout *layout = taken->layout;
    memset(members, 0, (TDC_LEAF_MEMBERS + 1) * sizeof *members);
    for (unsigned i = 0; i < layout->count; i++) {
        const struct tdc_json_value *value = &taken->values[i];
        unsigned role = layout->roles[i];
        if (role == TDC_LEAF_MEMBERS && value->kind == TDC_JSON_STRING &&
            tdc_runs_as_formula(value->text, value->length))
            return false;
        members[role] = value;
    }
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (!is_plain_statistic(members[TDC_LEAF_MAX + i]))
            return false;
    const struct tdc_json_value *shape = members[TDC_LEAF_SHAPE];
    const struct tdc_json_value *grad = members[TDC_LEAF_REQUIRES_GRAD];
    const struct tdc_json_value *type = members[TDC_LEAF_TYPE], *dtype = members[TDC_LEAF_DTYPE];
    if (shape == NULL || type == NULL || dtype == NULL || shape->kind != TDC_JSON_LIST ||
        (grad != NULL && grad->kind != TDC_JSON_TRUE && grad->kind != TDC_JSON_FALSE) ||
        (members[TDC_LEAF_MD5] != NULL && !accepted_text(members[TDC_LEAF_MD5])) ||
        (members[TDC_LEAF_DATA_NAME] != NULL && !accepted_text(members[TDC_LEAF_DATA_NAME])))
        return false;
    /* what was accepted last was looked at then */
    if (type->kind != TDC_JSON_STRING || !same_text(type, &builder->plain_type)) {
        if (!accepted_text(type))
            return false;
        builder->plain_type = (struct tdc_recent_text){type->text, type->length};
    }
    return is_text(dtype) && (same_text(dtype, &builder->dtype) || accepted_text(dtype));
}

/* As Python writes the list; false if it has other elements than whole numbers. */
static bool keep_shape(struct tdc_record_builder *builder, const struct tdc_json_taken *taken,
                       const struct tdc_json_value *shape)
{
    if (same_text(shape, &builder->plain_shape))
        return true;
    tdc_text_clear(&builder->text);
    tdc_text_addc(&builder->text, '[');
    for (unsigned i = 0; i < shape->count; i++) {
        const struct tdc_json_value *size = &taken->elements[shape->first + i];
        if (size->kind != TDC_JSON_INTEGER)
            return false;
        if (i != 0)
            tdc_text_add(&builder->text, ", ", 2);
        tdc_text_add(&builder->text, size->text, size->length);
    }
    tdc_text_addc(&builder->text, ']');
    builder->failed |= builder->text.failed;
    builder->plain_shape_text =
        tdc_records_intern(builder, tdc_text_get(&builder->text), builder->text.length);
    builder->plain_shape = (struct tdc_recent_text){shape->text, shape->length};
    return true;
}

static void set_statistics(struct tdc_record *record, const struct tdc_json_value *const *values)
{
    for (int i = 0; i < TDC_STATISTICS; i++) {
        if (values[i]->kind == TDC_JSON_NULL) {
            record->stat_kinds[i] = TDC_STAT_TEXT;
            record->stats[i].text = "None";
        } else {
            record->stat_kinds[i] =
                values[i]->kind == TDC_JSON_FLOAT ? TDC_STAT_FLOAT : TDC_STAT_INTEGER;
            record->stats[i].number = values[i]->number;
        }
    }
}

static bool add_tensor(struct tdc_record_builder *builder, const struct tdc_json_taken *taken,
                       enum tdc_state state)
{
    const struct tdc_json_value *members[TDC_LEAF_MEMBERS + 1];
    struct tdc_dump *dump = builder->dump;
    if (!sort_members(builder, taken, members) ||
        !keep_shape(builder, taken, members[TDC_LEAF_SHAPE]))
        return false;
    struct tdc_record *record = tdc_records_new(builder, state);
    if (record == NULL)
        return true;
    const struct tdc_json_value *type = members[TDC_LEAF_TYPE], *dtype = members[TDC_LEAF_DTYPE];
    tdc_note_framework(dump, type->text, type->length);
    const struct tdc_json_value *file = members[TDC_LEAF_DATA_NAME];
    if (file != NULL)
        tdc_record_name_by_file(builder, record, file->text, file->length);
    else
        record->name =
            tdc_records_keep(builder, tdc_text_get(&builder->name), builder->name.length);
    const struct tdc_json_value *grad = members[TDC_LEAF_REQUIRES_GRAD];
    if (grad != NULL)
        record->requires_grad = grad->kind == TDC_JSON_TRUE ? "True" : "False";
    if (!same_text(dtype, &builder->dtype))
        builder->dtype = (struct tdc_recent_text){
            tdc_records_intern(builder, dtype->text, dtype->length), dtype->length};
    record->dtype = builder->dtype.text;
    record->shape = builder->plain_shape_text;
    set_statistics(record, &members[TDC_LEAF_MAX]);
    const struct tdc_json_value *digest = members[TDC_LEAF_MD5];
    record->digest_given = digest != NULL;
    record->digest =
        digest != NULL ? tdc_records_intern(builder, digest->text, digest->length) : "00000000";
    dump->digests |= digest != NULL;
    dump->digest_records |= digest != NULL;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

#define MOST_TEXT 128 /* of a value: longer ones are for the other reader */

static bool make_node(const struct tdc_json_value *value, struct tdc_json *node,
                      char text[MOST_TEXT])
{
    bool has_text = value->kind == TDC_JSON_STRING || value->kind == TDC_JSON_INTEGER ||
                    value->kind == TDC_JSON_FLOAT;
    if (value->kind == TDC_JSON_LIST || (has_text && value->length >= MOST_TEXT))
        return false;
    *node = (struct tdc_json){.kind = value->kind};
    if (!has_text)
        return true;
    memcpy(text, value->text, value->length);
    text[value->length] = '\0';
    node->text = text;
    node->length = value->length;
    if (value->kind != TDC_JSON_STRING)
        node->number = value->number;
    return value->kind != TDC_JSON_STRING || !tdc_runs_as_formula(text, value->length);
}

static bool add_value(struct tdc_record_builder *builder, const struct tdc_json_taken *taken,
                      enum tdc_state state)
{
    struct tdc_json object = {.kind = TDC_JSON_OBJECT}, nodes[2];
    struct tdc_leaf leaf = {.object = &object};
    char texts[2][MOST_TEXT];
    for (unsigned i = 0; i < 2; i++) {
        if (!make_node(&taken->values[i], &nodes[i], texts[i]))
            return false;
        leaf.members[taken->layout->roles[i]] = &nodes[i];
    }
    if (leaf.members[TDC_LEAF_TYPE]->kind != TDC_JSON_STRING)
        return false;
    tdc_records_add_leaf(builder, &leaf, state);
    return true;
}

bool tdc_plain_leaf_add(struct tdc_record_builder *builder, const struct tdc_json_taken *taken,
                        enum tdc_state state)
{
    if (taken->layout->form == NOT_LOOKED_AT)
        look_at(taken->layout);
    switch ((enum leaf_form)taken->layout->form) {
    case TENSOR:
        return add_tensor(builder, taken, state);
    case VALUE:
        return add_value(builder, taken, state);
    case NOT_LOOKED_AT:
    case ELSEWHERE:
        break;
    }
    return false;
}
