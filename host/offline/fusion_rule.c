#include "host/offline/fusion_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/text/json.h"

#define KEY_LIMIT ((size_t)1 << 20)

struct parsing {
    struct tdc_arena *arena;
    struct tdc_fusion_rule *rule;
    const char *path;
    struct tdc_name_table keys; /* of groups */
    struct tdc_text key;
    struct tdc_error *error;
};

static tdc_status malformed(const struct parsing *parsing, const char *what)
{
    return tdc_fail(parsing->error, TDC_ERR_FORMAT, "%s: no fusion rule: %s", parsing->path, what);
}

static tdc_status out_of_memory(const struct parsing *parsing)
{
    return tdc_fail(parsing->error, TDC_ERR_MEMORY, "%s: out of memory", parsing->path);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* The value of an attribute; NULL: there is none. */
static const struct tdc_json *attribute(const struct tdc_json *owner, const char *key)
{
    const struct tdc_json *list = tdc_json_get(owner, "attr");
    if (list == NULL || list->kind != TDC_JSON_LIST)
        return NULL;
    for (const struct tdc_json *item = list->child; item != NULL; item = item->next)
        if (tdc_json_is_text(tdc_json_get(item, "key"), key))
            return tdc_json_get(item, "value");
    return NULL;
}

/* "" without a text. */
static const char *text_of(const struct tdc_json *value)
{
    return value != NULL && value->kind == TDC_JSON_STRING ? value->text : "";
}

static const char *text_attribute(const struct tdc_json *owner, const char *key)
{
    return text_of(tdc_json_get(attribute(owner, key), "s"));
}

/* -1 without a number. */
static int64_t number_attribute(const struct tdc_json *owner, const char *key)
{
    const struct tdc_json *number = tdc_json_get(attribute(owner, key), "i");
    bool good = number != NULL && number->kind == TDC_JSON_INTEGER && number->number >= 0 &&
                number->number < 1e9;
    return good ? (int64_t)number->number : -1;
}

static size_t children_of(const struct tdc_json *list)
{
    return list != NULL && list->kind == TDC_JSON_LIST ? list->children : 0;
}

/* ---- an operator ----------------------------------------------------------------------------- */

static bool take_inputs(struct parsing *parsing, const struct tdc_json *from,
                        struct tdc_rule_op *op)
{
    const struct tdc_json *list = tdc_json_get(from, "input");
    size_t count = children_of(list);
    op->inputs = tdc_arena_zeroed(parsing->arena, count + 1, sizeof *op->inputs);
    if (op->inputs == NULL)
        return false;
    const struct tdc_json *item = list != NULL && count != 0 ? list->child : NULL;
    for (; item != NULL; item = item->next)
        if (text_of(item)[0] != '\0' && !tdc_ends_in(text_of(item), ":-1"))
            op->inputs[op->input_count++] = text_of(item);
    return true;
}

static bool take_outputs(struct parsing *parsing, const struct tdc_json *from,
                         struct tdc_rule_op *op)
{
    const struct tdc_json *list = tdc_json_get(from, "output_desc");
    size_t count = children_of(list);
    int64_t place = 0;
    op->outputs = tdc_arena_zeroed(parsing->arena, count + 1, sizeof *op->outputs);
    if (op->outputs == NULL)
        return false;
    const struct tdc_json *item = list != NULL && count != 0 ? list->child : NULL;
    for (; item != NULL; item = item->next, place++) {
        if (tdc_json_get(item, "attr") == NULL)
            continue;
        struct tdc_rule_output *output = &op->outputs[op->output_count++];
        output->name = text_attribute(item, "_datadump_origin_name");
        output->index = number_attribute(item, "_datadump_origin_output_index");
        if (output->index < 0)
            output->index = place;
        output->format = text_attribute(item, "_datadump_origin_format");
        if (output->format[0] == '\0')
            output->format = text_attribute(item, "origin_format");
    }
    return true;
}

/* Outputs without an origin are those of this operator. */
static void name_outputs(struct tdc_rule_op *op, const char *name)
{
    if (op->output_count == 0) /* there is room for one */
        op->outputs[op->output_count++] = (struct tdc_rule_output){name, -1, ""};
    for (size_t i = 0; i < op->output_count; i++)
        if (op->outputs[i].name[0] == '\0')
            op->outputs[i].name = name;
}

static bool take_originals(struct parsing *parsing, const struct tdc_json *from,
                           struct tdc_rule_op *op)
{
    const struct tdc_json *value = attribute(from, "_datadump_original_op_names");
    const struct tdc_json *list = tdc_json_get(tdc_json_get(value, "list"), "s");
    size_t count = children_of(list);
    op->originals = tdc_arena_zeroed(parsing->arena, count + 1, sizeof *op->originals);
    if (op->originals == NULL)
        return false;
    if (value == NULL)
        name_outputs(op, op->name);
    if (value == NULL || list == NULL)
        op->originals[op->original_count++] = value == NULL ? op->name : "";
    const struct tdc_json *item = list != NULL && count != 0 ? list->child : NULL;
    for (; item != NULL; item = item->next)
        op->originals[op->original_count++] = text_of(item);
    return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* What operators that belong together have in common. */
static const char *group_key(struct parsing *parsing, const struct tdc_rule_op *op)
{
    struct tdc_text *key = &parsing->key;
    bool own = op->original_count == 0 || (op->original_count == 1 && op->originals[0][0] == '\0');
    tdc_text_clear(key);
    if (op->sub_graph[0] != '\0' || own)
        tdc_text_adds(key, op->sub_graph[0] != '\0' ? op->sub_graph : op->name);
    else
        for (size_t i = 0; i < op->original_count; i++)
            tdc_text_addf(key, "%s%s", i != 0 ? "\n" : "", op->originals[i]);
    return key->failed ? NULL : tdc_arena_text(parsing->arena, tdc_text_get(key), key->length);
}

static bool join_group(struct parsing *parsing, struct tdc_rule_op *op)
{
    struct tdc_fusion_rule *rule = parsing->rule;
    const char *key = group_key(parsing, op);
    bool fresh;
    uint32_t group =
        key != NULL ? tdc_names_put(&parsing->keys, key, strlen(key), &fresh) : TDC_NAME_NONE;
    if (group == TDC_NAME_NONE)
        return false;
    op->group = group;
    if (!fresh) {
        rule->last_of[group]->next = op;
        rule->last_of[group] = op;
        return true;
    }
    size_t room = rule->group_room;
    if (!tdc_arena_grow(parsing->arena, (void **)&rule->groups, rule->group_count,
                        sizeof(struct tdc_rule_op *), &rule->group_room) ||
        !tdc_arena_grow(parsing->arena, (void **)&rule->last_of, rule->group_count,
                        sizeof(struct tdc_rule_op *), &room))
        return false;
    rule->groups[group] = rule->last_of[group] = op;
    rule->group_count++;
    return true;
}

static bool make_groups(struct parsing *parsing)
{
    struct tdc_fusion_rule *rule = parsing->rule;
    rule->groups = rule->last_of = NULL;
    rule->group_count = rule->group_room = 0;
    tdc_names_init(&parsing->keys);
    tdc_text_init(&parsing->key, KEY_LIMIT);
    bool made = true;
    for (size_t i = 0; i < rule->count && made; i++) {
        rule->ops[i].next = NULL;
        made = join_group(parsing, &rule->ops[i]);
    }
    tdc_text_free(&parsing->key);
    tdc_names_free(&parsing->keys);
    return made;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static tdc_status take_op(struct parsing *parsing, const struct tdc_json *from)
{
    struct tdc_fusion_rule *rule = parsing->rule;
    const struct tdc_json *name = tdc_json_get(from, "name"), *type = tdc_json_get(from, "type");
    const struct tdc_json *multiple = tdc_json_get(attribute(from, "_datadump_is_multiop"), "b");
    bool fresh;
    if (name == NULL || name->kind != TDC_JSON_STRING || type == NULL ||
        type->kind != TDC_JSON_STRING)
        return malformed(parsing, "an operator without name or type");
    uint32_t number = tdc_names_put(&rule->names, name->text, name->length, &fresh);
    if (number == TDC_NAME_NONE)
        return out_of_memory(parsing);
    if (!fresh)
        return TDC_OK; /* the first of the name counts */
    if (!tdc_arena_grow(parsing->arena, (void **)&rule->ops, rule->count, sizeof *rule->ops,
                        &rule->room))
        return out_of_memory(parsing);
    struct tdc_rule_op *op = &rule->ops[rule->count++];
    *op = (struct tdc_rule_op){.name = name->text, .type = type->text};
    op->sub_graph = text_attribute(from, "_L1_fusion_sub_graph_no");
    op->multiple = multiple != NULL && multiple->kind == TDC_JSON_TRUE;
    return take_inputs(parsing, from, op) && take_outputs(parsing, from, op) &&
                   take_originals(parsing, from, op)
               ? TDC_OK
               : out_of_memory(parsing);
}

static tdc_status take_graphs(struct parsing *parsing, const struct tdc_json *root)
{
    const struct tdc_json *graphs = tdc_json_get(root, "graph");
    tdc_status status = TDC_OK;
    if (graphs == NULL || graphs->kind != TDC_JSON_LIST)
        return malformed(parsing, "it has no list \"graph\"");
    for (const struct tdc_json *graph = graphs->child; graph != NULL; graph = graph->next) {
        const struct tdc_json *ops = tdc_json_get(graph, "op");
        if (ops == NULL || ops->kind != TDC_JSON_LIST)
            return malformed(parsing, "a graph has no list \"op\"");
        for (const struct tdc_json *op = ops->child; op != NULL && status == TDC_OK; op = op->next)
            status = take_op(parsing, op);
    }
    return status;
}

/* An operator that alone stands for one original operator has that one's outputs. */
static void adjust_renamed(struct tdc_fusion_rule *rule)
{
    for (size_t i = 0; i < rule->group_count; i++) {
        struct tdc_rule_op *op = rule->groups[i];
        if (op->next == NULL && op->original_count == 1 && op->originals[0][0] != '\0' &&
            op->sub_graph[0] == '\0')
            name_outputs(op, op->originals[0]);
    }
}

tdc_status tdc_fusion_rule_read(struct tdc_arena *arena, const char *path,
                                struct tdc_fusion_rule *rule, struct tdc_error *error)
{
    struct parsing parsing = {.arena = arena, .rule = rule, .path = path, .error = error};
    struct tdc_json *root;
    *rule = (struct tdc_fusion_rule){0};
    tdc_names_init(&rule->names);
    tdc_status status = tdc_json_read_file(path, arena, &root, error);
    if (status == TDC_OK)
        status = take_graphs(&parsing, root);
    if (status == TDC_OK && !make_groups(&parsing))
        status = out_of_memory(&parsing);
    if (status == TDC_OK)
        adjust_renamed(rule);
    return status;
}

void tdc_fusion_rule_free(struct tdc_fusion_rule *rule)
{
    tdc_names_free(&rule->names);
}

const struct tdc_rule_op *tdc_fusion_rule_find(const struct tdc_fusion_rule *rule, const char *name,
                                               size_t length)
{
    uint32_t number = tdc_names_find(&rule->names, name, length);
    return number != TDC_NAME_NONE ? &rule->ops[number] : NULL;
}

/* ---- two rules ------------------------------------------------------------------------------- */

static void add_once(const char **names, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return;
    names[(*count)++] = name;
}

/* Originals of an operator by what these are made of; unchanged where nothing is known of them. */
static bool replace_originals(struct tdc_arena *arena, const struct tdc_fusion_rule *before,
                              struct tdc_rule_op *op)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < op->original_count; i++) {
        const struct tdc_rule_op *source =
            tdc_fusion_rule_find(before, op->originals[i], strlen(op->originals[i]));
        room += source != NULL ? source->original_count : 0;
    }
    const char **names = tdc_arena_zeroed(arena, room + 1, sizeof *names);
    if (names == NULL)
        return false;
    for (size_t i = 0; i < op->original_count; i++) {
        const struct tdc_rule_op *source =
            tdc_fusion_rule_find(before, op->originals[i], strlen(op->originals[i]));
        for (size_t k = 0; source != NULL && k < source->original_count; k++)
            add_once(names, &count, source->originals[k]);
    }
    if (count != 0) {
        op->originals = names;
        op->original_count = count;
    }
    return true;
}

static void replace_outputs(const struct tdc_fusion_rule *before, struct tdc_rule_op *op)
{
    for (size_t i = 0; i < op->output_count; i++) {
        struct tdc_rule_output *output = &op->outputs[i];
        const struct tdc_rule_op *source =
            tdc_fusion_rule_find(before, output->name, strlen(output->name));
        size_t place = output->index >= 0 ? (size_t)output->index : i;
        if (source == NULL || place >= source->output_count)
            continue;
        const char *format = output->format;
        *output = source->outputs[place];
        if (format[0] != '\0')
            output->format = format;
    }
}

static bool group_again(struct tdc_arena *arena, struct tdc_fusion_rule *rule)
{
    struct parsing parsing = {.arena = arena, .rule = rule};
    return make_groups(&parsing);
}

bool tdc_fusion_rule_through(struct tdc_arena *arena, struct tdc_fusion_rule *rule,
                             const struct tdc_fusion_rule *quantised)
{
    for (size_t i = 0; i < rule->count; i++) {
        if (!replace_originals(arena, quantised, &rule->ops[i]))
            return false;
        replace_outputs(quantised, &rule->ops[i]);
    }
    return group_again(arena, rule);
}

/* The operator without fusion that an original one became; NULL: none. */
static const struct tdc_rule_op *became(const struct tdc_fusion_rule *unfused,
                                        const struct tdc_name_table *originals,
                                        const uint32_t *makers, const char *name)
{
    uint32_t number = tdc_names_find(originals, name, strlen(name));
    return number != TDC_NAME_NONE ? &unfused->ops[makers[number]] : NULL;
}

static bool face_unfused(struct tdc_arena *arena, const struct tdc_fusion_rule *unfused,
                         const struct tdc_name_table *originals, const uint32_t *makers,
                         struct tdc_rule_op *op)
{
    const char **names = tdc_arena_zeroed(arena, op->original_count + 1, sizeof *names);
    size_t count = 0;
    if (names == NULL)
        return false;
    for (size_t i = 0; i < op->original_count; i++) {
        const struct tdc_rule_op *maker = became(unfused, originals, makers, op->originals[i]);
        if (maker != NULL && op->originals[i][0] != '\0')
            add_once(names, &count, maker->name);
    }
    for (size_t i = 0; i < op->output_count; i++) {
        struct tdc_rule_output *output = &op->outputs[i];
        const struct tdc_rule_op *maker =
            output->name[0] != '\0' ? became(unfused, originals, makers, output->name) : NULL;
        if (maker == NULL)
            continue;
        for (size_t k = 0; k < maker->output_count; k++)
            if (strcmp(maker->outputs[k].name, output->name) == 0 &&
                maker->outputs[k].index == output->index) {
                output->index = (int64_t)k;
                break;
            }
        output->name = maker->name;
    }
    op->originals = names;
    op->original_count = count;
    return true;
}

bool tdc_fusion_rule_against(struct tdc_arena *arena, struct tdc_fusion_rule *rule,
                             const struct tdc_fusion_rule *unfused)
{
    struct tdc_name_table originals;
    size_t room = 1;
    for (size_t i = 0; i < unfused->count; i++)
        room += unfused->ops[i].original_count;
    uint32_t *makers = tdc_arena_zeroed(arena, room, sizeof *makers);
    bool good = makers != NULL;
    tdc_names_init(&originals);
    for (size_t i = 0; i < unfused->count && good; i++)
        for (size_t k = 0; k < unfused->ops[i].original_count && good; k++) {
            const char *name = unfused->ops[i].originals[k];
            bool fresh;
            uint32_t number = tdc_names_put(&originals, name, strlen(name), &fresh);
            good = number != TDC_NAME_NONE;
            if (good)
                makers[number] = (uint32_t)i;
        }
    for (size_t i = 0; i < rule->count && good; i++)
        good = face_unfused(arena, unfused, &originals, makers, &rule->ops[i]);
    tdc_names_free(&originals);
    return good;
}
