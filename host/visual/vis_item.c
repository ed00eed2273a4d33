/* vis_item.c - from the nested members of a call to its items. */
#include "host/visual/vis_item.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dump/python_value.h"
#include "io/text/pytext.h"

#define NAME_LIMIT  ((size_t)1 << 16)
#define VALUE_LIMIT ((size_t)1 << 24)

struct making {
    struct tdc_arena *arena;
    struct tdc_text name, text;
    struct tdc_name_table inputs, outputs; /* names so far */
    struct list {
        struct tdc_vis_item *items;
        size_t count, capacity;
    } input_list, output_list;
    bool failed;
};

/* ---- fields ---------------------------------------------------------------------------------- */

struct tdc_json *tdc_vis_field(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key)
{
    struct tdc_json **at = &item->fields.child;
    for (; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->key, key) == 0)
            return *at;
    struct tdc_json *field = tdc_arena_zeroed(arena, 1, sizeof *field);
    if (field == NULL)
        return NULL;
    field->kind = TDC_JSON_NULL;
    field->key = key;
    field->key_length = strlen(key);
    *at = field;
    item->fields.children++;
    return field;
}

/* The value in the place of another, which keeps its key and its neighbours. */
static void put_value(struct tdc_json *field, const struct tdc_json *value)
{
    field->kind = value->kind;
    field->text = value->text;
    field->length = value->length;
    field->number = value->number;
    field->child = value->child;
    field->children = value->children;
}

static bool set_value(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                      const struct tdc_json *value)
{
    struct tdc_json *field = tdc_vis_field(arena, item, key);
    if (field != NULL)
        put_value(field, value);
    return field != NULL;
}

bool tdc_vis_set_text(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                      const char *text)
{
    const struct tdc_json value = {.kind = TDC_JSON_STRING, .text = text, .length = strlen(text)};
    return set_value(arena, item, key, &value);
}

bool tdc_vis_set_float(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                       double number)
{
    const struct tdc_json value = {.kind = TDC_JSON_FLOAT, .text = "", .number = number};
    return set_value(arena, item, key, &value);
}

bool tdc_vis_set_integer(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                         const char *digits)
{
    const struct tdc_json value = {
        .kind = TDC_JSON_INTEGER, .text = digits, .length = strlen(digits)};
    return set_value(arena, item, key, &value);
}

bool tdc_vis_equal(const struct tdc_json *one, const struct tdc_json *other)
{
    static const struct tdc_json none = {.kind = TDC_JSON_NULL};
    one = one != NULL ? one : &none;
    other = other != NULL ? other : &none;
    bool numbers = (one->kind == TDC_JSON_INTEGER || one->kind == TDC_JSON_FLOAT) &&
                   (other->kind == TDC_JSON_INTEGER || other->kind == TDC_JSON_FLOAT);
    if (numbers)
        return one->number == other->number;
    if (one->kind != other->kind || one->children != other->children)
        return false;
    if (one->kind == TDC_JSON_STRING)
        return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
    const struct tdc_json *left = one->child, *right = other->child;
    for (; left != NULL && right != NULL; left = left->next, right = right->next) {
        const struct tdc_json *facing =
            one->kind == TDC_JSON_OBJECT ? tdc_json_get(other, left->key) : right;
        if (facing == NULL || !tdc_vis_equal(left, facing))
            return false;
    }
    return true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Depth is bounded by the JSON reader. */
static bool copy_value(struct tdc_arena *arena, const struct tdc_json *value, struct tdc_json *copy)
{
    *copy =
        (struct tdc_json){.kind = value->kind, .number = value->number, .length = value->length};
    if (value->text != NULL) {
        copy->text = tdc_arena_text(arena, value->text, value->length);
        if (copy->text == NULL)
            return false;
    }
    struct tdc_json **at = &copy->child;
    for (const struct tdc_json *child = value->child; child != NULL; child = child->next) {
        struct tdc_json *made = tdc_arena_take(arena, sizeof *made);
        if (made == NULL || !copy_value(arena, child, made))
            return false;
        if (child->key != NULL) {
            made->key = tdc_arena_text(arena, child->key, child->key_length);
            made->key_length = child->key_length;
            if (made->key == NULL)
                return false;
        }
        *at = made;
        at = &made->next;
        copy->children++;
    }
    return true;
}

/* The members of a leaf; truth values become texts. */
static bool copy_members(struct tdc_arena *arena, const struct tdc_json *leaf,
                         struct tdc_vis_item *item)
{
    if (!copy_value(arena, leaf, &item->fields))
        return false;
    for (struct tdc_json *field = item->fields.child; field != NULL; field = field->next) {
        if (field->kind != TDC_JSON_TRUE && field->kind != TDC_JSON_FALSE)
            continue;
        field->text = field->kind == TDC_JSON_TRUE ? "True" : "False";
        field->length = strlen(field->text);
        field->kind = TDC_JSON_STRING;
    }
    return true;
}

/* ---- one leaf -------------------------------------------------------------------------------- */

static const char *const statistic_names[] = {"Max", "Min", "Mean", "Norm"};

/* str of a value, in the arena; None for a missing one. */
static const char *text_of(struct making *making, const struct tdc_json *value)
{
    tdc_text_clear(&making->text);
    if (value == NULL)
        tdc_text_adds(&making->text, "None");
    else
        tdc_pytext_str(&making->text, value);
    const char *copy =
        making->text.failed
            ? NULL
            : tdc_arena_text(making->arena, tdc_text_get(&making->text), making->text.length);
    making->failed |= copy == NULL;
    return copy != NULL ? copy : "";
}

static void set_text(struct making *making, struct tdc_vis_item *item, const char *key,
                     const char *text)
{
    making->failed |= !tdc_vis_set_text(making->arena, item, key, text);
}

/* The value itself, or its text, for all four. */
static void set_statistics(struct making *making, struct tdc_vis_item *item,
                           const struct tdc_json *value, bool as_text)
{
    static const struct tdc_json none = {.kind = TDC_JSON_NULL};
    struct tdc_json copy = none;
    if (as_text)
        copy = (struct tdc_json){.kind = TDC_JSON_STRING, .text = text_of(making, value)};
    else if (value != NULL)
        making->failed |= !copy_value(making->arena, value, &copy);
    copy.length = copy.text != NULL ? strlen(copy.text) : 0;
    for (int i = 0; i < TDC_STATISTICS; i++)
        making->failed |= !set_value(making->arena, item, statistic_names[i], &copy);
}

/* The last part of the name says that the value is a rank of a collective call. */
static bool names_a_rank(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *last = dot == NULL ? name : dot + 1;
    return strcmp(last, "src") == 0 || strcmp(last, "dst") == 0 || strcmp(last, "group_src") == 0 ||
           strcmp(last, "group_dst") == 0;
}

/* numpy's shape of a slice's value: "(3,)". */
static const char *slice_shape(struct making *making, const struct tdc_json *value)
{
    char text[32] = "()";
    if (value != NULL && value->kind == TDC_JSON_LIST)
        snprintf(text, sizeof text, "(%zu,)", value->children);
    const char *shape = tdc_arena_text(making->arena, text, strlen(text));
    making->failed |= shape == NULL;
    return shape != NULL ? shape : "";
}

/* Leaves without a dtype (docs/msprobe.md#fields-of-a-row). */
static void describe_untyped(struct making *making, struct tdc_vis_item *item,
                             const struct tdc_json *leaf)
{
    const struct tdc_json *type = tdc_json_get(leaf, "type");
    const struct tdc_json *value = tdc_json_get(leaf, "value");
    bool size = tdc_json_is_text(type, "torch.Size"), slice = tdc_json_is_text(type, "slice");
    bool ellipsis = tdc_json_is_text(type, "ellipsis");
    bool rank = names_a_rank(tdc_text_get(&making->name));
    bool group = tdc_json_is_text(type, "torch.ProcessGroup");
    bool known = size || slice || ellipsis || rank || group;
    set_text(making, item, "dtype", known ? text_of(making, type) : tdc_python_class(value));
    set_text(making, item, "shape",
             size    ? text_of(making, value)
             : slice ? slice_shape(making, value)
                     : "[]");
    if (size || slice)
        return;
    if (ellipsis || !known) {
        set_statistics(making, item, value, false);
        return;
    }
    const struct tdc_json *shown = rank ? value : tdc_json_get(leaf, "group_ranks");
    set_statistics(making, item, shown, true);
    set_text(making, item, "md5", text_of(making, shown));
}

static void describe_leaf(struct making *making, struct tdc_vis_item *item,
                          const struct tdc_json *leaf)
{
    making->failed |= !copy_members(making->arena, leaf, item);
    const struct tdc_json *file = tdc_json_get(leaf, "data_name");
    const char *name = tdc_text_get(&making->name);
    size_t length = making->name.length;
    if (tdc_json_truthy(file) && file->kind == TDC_JSON_STRING && strcmp(file->text, "-1") != 0) {
        const char *dot = strrchr(file->text, '.');
        name = file->text;
        length = dot == NULL ? file->length : (size_t)(dot - file->text);
    } else {
        set_text(making, item, "data_name", "-1");
    }
    item->name = tdc_arena_text(making->arena, name, length);
    making->failed |= item->name == NULL;
    if (!making->failed)
        making->failed |= tdc_vis_field(making->arena, item, "requires_grad") == NULL;
    for (int i = 0; i < TDC_STATISTICS; i++)
        making->failed |= tdc_vis_field(making->arena, item, statistic_names[i]) == NULL;
    if (!tdc_json_truthy(tdc_json_get(leaf, "dtype")))
        describe_untyped(making, item, leaf);
    if (!tdc_json_truthy(tdc_json_get(&item->fields, "md5"))) {
        char digits[TDC_VALUE_DIGEST];
        making->failed |= !tdc_value_digest(&making->text, tdc_json_get(leaf, "value"), digits);
        const char *kept = tdc_arena_text(making->arena, digits, strlen(digits));
        making->failed |= kept == NULL;
        if (kept != NULL)
            set_text(making, item, "md5", kept);
    }
}

/* A null item; what the comparison asks of it is missing, which is null. */
static void describe_null(struct making *making, struct tdc_vis_item *item)
{
    item->fields.kind = TDC_JSON_OBJECT;
    item->name = tdc_arena_text(making->arena, tdc_text_get(&making->name), making->name.length);
    making->failed |= item->name == NULL || tdc_vis_field(making->arena, item, "Max") == NULL;
}

/* What a point-to-point operation says beside its tensor. */
static void describe_operation(struct making *making, struct tdc_vis_item *item,
                               const struct tdc_json *operation)
{
    static const char *const keys[] = {"class_type", "op", "peer", "tag", "group_id"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct tdc_json *value = tdc_json_get(operation, keys[i]);
        struct tdc_json *field = tdc_vis_field(making->arena, item, keys[i]), copy;
        making->failed |= field == NULL;
        if (field == NULL || value == NULL)
            continue;
        making->failed |= !copy_value(making->arena, value, &copy);
        if (!making->failed)
            put_value(field, &copy);
    }
}

/* ---- lists of items -------------------------------------------------------------------------- */

static void add_item(struct making *making, const struct tdc_vis_item *item)
{
    if (making->failed)
        return;
    bool output = strstr(item->name, ".output.") != NULL && strstr(item->name, ".input.") == NULL;
    struct list *list = output ? &making->output_list : &making->input_list;
    bool fresh;
    uint32_t number = tdc_names_put(output ? &making->outputs : &making->inputs, item->name,
                                    strlen(item->name), &fresh);
    making->failed |= number == TDC_NAME_NONE;
    if (!making->failed && number == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct tdc_vis_item *grown = realloc(list->items, capacity * sizeof *grown);
        making->failed |= grown == NULL;
        if (grown == NULL)
            return;
        list->items = grown;
        list->capacity = capacity;
    }
    if (making->failed)
        return;
    list->items[number] = *item;
    list->count = fresh ? number + 1 : list->count;
}

static void expand(struct making *making, const struct tdc_json *value, enum tdc_state state);

static void expand_under(struct making *making, const char *part, size_t length,
                         const struct tdc_json *value, enum tdc_state state)
{
    size_t before = making->name.length;
    tdc_text_addc(&making->name, '.');
    tdc_text_add(&making->name, part, length);
    making->failed |= making->name.failed;
    if (making->failed)
        return;
    expand(making, value, state);
    making->name.length = before;
    making->name.data[before] = '\0';
}

/* One of the parts of the name is "parameters_grad": then elements of a list all have its name. */
static bool of_gradients(const char *name)
{
    static const char part[] = "parameters_grad";
    const size_t length = sizeof part - 1;
    for (const char *at = strstr(name, part); at != NULL; at = strstr(at + 1, part))
        if ((at == name || at[-1] == '.') && (at[length] == '.' || at[length] == '\0'))
            return true;
    return false;
}

static void expand_list(struct making *making, const struct tdc_json *list, enum tdc_state state)
{
    bool keep = of_gradients(tdc_text_get(&making->name));
    size_t index = 0;
    for (const struct tdc_json *at = list->child; at != NULL && !making->failed; at = at->next) {
        char digits[24];
        int length = snprintf(digits, sizeof digits, "%zu", index++);
        if (keep)
            expand(making, at, state);
        else
            expand_under(making, digits, (size_t)length, at, state);
    }
}

static void expand(struct making *making, const struct tdc_json *value, enum tdc_state state)
{
    struct tdc_vis_item item = {.state = state};
    bool object = value->kind == TDC_JSON_OBJECT && value->children != 0;
    const struct tdc_json *type = tdc_json_get(value, "type");
    const struct tdc_json *tensor = tdc_json_get(value, "tensor");
    if (value->kind == TDC_JSON_NULL) {
        describe_null(making, &item);
        add_item(making, &item);
    } else if (value->kind == TDC_JSON_LIST) {
        expand_list(making, value, state);
    } else if (object &&
               tdc_json_is_text(tdc_json_get(value, "class_type"), "torch.distributed.P2POp")) {
        if (tensor != NULL && tensor->kind == TDC_JSON_OBJECT)
            describe_leaf(making, &item, tensor);
        else
            describe_null(making, &item);
        describe_operation(making, &item, value);
        add_item(making, &item);
    } else if (object && type != NULL && type->kind == TDC_JSON_STRING) {
        describe_leaf(making, &item, value);
        add_item(making, &item);
    } else if (object) {
        for (const struct tdc_json *at = value->child; at != NULL && !making->failed; at = at->next)
            expand_under(making, at->key, at->key_length, at, state);
    }
}

static void start_name(struct making *making, const char *entry, const char *suffix)
{
    tdc_text_clear(&making->name);
    tdc_text_adds(&making->name, entry);
    tdc_text_adds(&making->name, suffix);
    making->failed |= making->name.failed;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* Whether the last part of the name, or the one before it, is this. */
static bool ends_with_part(const char *name, const char *part, bool or_before)
{
    const char *dot = strrchr(name, '.');
    if (strcmp(dot == NULL ? name : dot + 1, part) == 0)
        return true;
    size_t length = strlen(part), head = dot != NULL ? (size_t)(dot - name) : 0;
    return or_before && head >= length && strncmp(name + head - length, part, length) == 0 &&
           (head == length || name[head - length - 1] == '.');
}

static void expand_members(struct making *making, const char *entry, const struct tdc_json *value)
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
    for (size_t i = 0; i < sizeof members / sizeof *members && !making->failed; i++) {
        const struct tdc_json *member = tdc_json_get(value, members[i].member);
        start_name(making, entry, members[i].suffix);
        if (member != NULL && !making->failed)
            expand(making, member, members[i].state);
    }
}

static bool keep_list(struct tdc_arena *arena, const struct list *list, struct tdc_vis_items *items)
{
    items->items = tdc_arena_zeroed(arena, list->count, sizeof *items->items);
    items->count = list->count;
    if (items->items == NULL)
        return false;
    if (list->count != 0)
        memcpy(items->items, list->items, list->count * sizeof *items->items);
    return true;
}

/* With whom a batch of operations exchanges: the list that is its first output. */
static bool keep_operations(struct tdc_arena *arena, const struct tdc_json *value,
                            struct tdc_vis_call *call)
{
    const struct tdc_json *output = tdc_json_get(value, "output");
    const struct tdc_json *first =
        output != NULL && output->kind == TDC_JSON_LIST ? output->child : NULL;
    if (first == NULL || first->kind != TDC_JSON_LIST)
        return true;
    struct tdc_json *copy = tdc_arena_take(arena, sizeof *copy);
    call->operations = copy;
    return copy != NULL && copy_value(arena, first, copy);
}

bool tdc_vis_items_make(struct tdc_arena *arena, const char *entry, const struct tdc_json *value,
                        struct tdc_vis_call *call)
{
    struct making making = {.arena = arena};
    tdc_text_init(&making.name, NAME_LIMIT);
    tdc_text_init(&making.text, VALUE_LIMIT);
    tdc_names_init(&making.inputs);
    tdc_names_init(&making.outputs);
    *call = (struct tdc_vis_call){0};
    bool debug = ends_with_part(entry, "debug", false);
    if (debug || ends_with_part(entry, "parameters_grad", true)) {
        start_name(&making, entry, "");
        if (!making.failed)
            expand(&making, value, debug ? TDC_STATE_DEBUG : TDC_STATE_PARAMETERS_GRAD);
    } else {
        expand_members(&making, entry, value);
    }
    making.failed |= !keep_list(arena, &making.input_list, &call->inputs) ||
                     !keep_list(arena, &making.output_list, &call->outputs);
    if (!making.failed && strstr(entry, "batch_isend_irecv") != NULL)
        making.failed |= !keep_operations(arena, value, call);
    call->overflow = tdc_vis_overflow_level(entry, value);
    free(making.input_list.items);
    free(making.output_list.items);
    tdc_names_free(&making.inputs);
    tdc_names_free(&making.outputs);
    tdc_text_free(&making.name);
    tdc_text_free(&making.text);
    return !making.failed;
}
