/* rule_tensor.c - the tensors of a rule file and the entries of their sides. */
#include <stdlib.h>
#include <string.h>

#include "host/align/rules/rules.h"

/* ---- entries --------------------------------------------------------------------------------- */

static tdc_status add_pattern(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                              struct tdc_patterns *patterns)
{
    struct tdc_align_rules *rules = reading->rules;
    const char *problem;
    if (!tdc_yaml_is_text(node))
        return tdc_rules_wrong_kind(reading, node, "a pattern or a list of patterns");
    if (rules->pattern_count == rules->pattern_room) {
        size_t room = rules->pattern_room * 2 + 64;
        struct tdc_pattern **grown =
            realloc(rules->patterns, room * sizeof *grown); /* NOLINT: pointers are kept */
        if (grown == NULL)
            return tdc_rules_no_memory(reading);
        rules->patterns = grown;
        rules->pattern_room = room;
    }
    struct tdc_pattern *pattern = tdc_pattern_new(&rules->arena, node->text, &problem);
    if (pattern == NULL && problem == NULL)
        return tdc_rules_no_memory(reading);
    if (pattern == NULL)
        return tdc_rule_fail(reading->error, tdc_rules_place(reading, node->line), "%s '%.300s'",
                             problem, node->text);
    rules->patterns[rules->pattern_count++] = pattern;
    patterns->list[patterns->count++] = pattern;
    return TDC_OK;
}

tdc_status tdc_rules_read_patterns(const struct tdc_rule_reading *reading,
                                   const struct tdc_yaml *node, struct tdc_patterns *patterns)
{
    bool list = node->kind == TDC_YAML_LIST;
    tdc_status status = TDC_OK;
    patterns->list =
        tdc_arena_zeroed(&reading->rules->arena, node->children + 1, sizeof(struct tdc_pattern *));
    if (patterns->list == NULL)
        return tdc_rules_no_memory(reading);
    for (const struct tdc_yaml *item = list ? node->child : node; item != NULL && status == TDC_OK;
         item = list ? item->next : NULL)
        status = add_pattern(reading, item, patterns);
    if (status == TDC_OK && patterns->count == 0)
        status = tdc_rules_wrong_kind(reading, node, "a pattern or a list of patterns");
    return status;
}

tdc_status tdc_rules_read_dims(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               const struct tdc_dims **dims)
{
    char problem[TDC_DIMS_TEXT];
    if (!tdc_yaml_is_text(node))
        return tdc_rules_wrong_kind(reading, node, "a text");
    *dims = tdc_dims_parse(&reading->rules->arena, node->text, problem);
    if (*dims != NULL)
        return TDC_OK;
    if (problem[0] == '\0')
        return tdc_rules_no_memory(reading);
    return tdc_rule_fail(reading->error, tdc_rules_place(reading, node->line), "%s", problem);
}

tdc_status tdc_rules_read_cast(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               enum tdc_cast *cast)
{
    static const char *const words[] = {"f32", "f16", "bf16", "narrow"};
    for (int i = 0; i < 4; i++)
        if (tdc_yaml_is_text(node) && strcmp(node->text, words[i]) == 0) {
            *cast = (enum tdc_cast)(i + 1);
            return TDC_OK;
        }
    return tdc_rules_wrong_kind(reading, node, "f32, f16, bf16 or narrow");
}

static tdc_status read_set(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                           struct tdc_rule_entry *entry)
{
    if (node->kind != TDC_YAML_MAP)
        return tdc_rules_wrong_kind(reading, node, "names with expressions");
    entry->set = tdc_arena_zeroed(&reading->rules->arena, node->children + 1, sizeof *entry->set);
    if (entry->set == NULL)
        return tdc_rules_no_memory(reading);
    for (const struct tdc_yaml *item = node->child; item != NULL; item = item->next) {
        char problem[TDC_EXPRESSION_TEXT];
        int64_t value;
        struct tdc_rule_place place = tdc_rules_place(reading, item->line);
        if (!tdc_yaml_is_text(item))
            return tdc_rules_wrong_kind(reading, item, "an expression");
        if (entry->set_count == TDC_MOST_CAPTURES)
            return tdc_rules_wrong_kind(reading, node, "no more than 16 names");
        if (!tdc_expression_value(item->text, strlen(item->text), NULL, &value, problem))
            return tdc_rule_fail(reading->error, place, "%s", problem);
        entry->set[entry->set_count++] =
            (struct tdc_rule_set){item->key, {item->text, strlen(item->text)}, place};
    }
    return TDC_OK;
}

static tdc_status read_entry_member(const struct tdc_rule_reading *reading,
                                    const struct tdc_yaml *node, struct tdc_rule_entry *entry)
{
    if (strcmp(node->key, "match") == 0) {
        entry->match_place = tdc_rules_place(reading, node->line);
        return tdc_rules_read_patterns(reading, node, &entry->match);
    }
    if (strcmp(node->key, "dims") == 0) {
        entry->dims_place = tdc_rules_place(reading, node->line);
        return tdc_rules_read_dims(reading, node, &entry->dims);
    }
    if (strcmp(node->key, "set") == 0)
        return read_set(reading, node, entry);
    if (strcmp(node->key, "tokens") == 0)
        return tdc_rules_read_tokens(reading, node, &entry->tokens);
    if (strcmp(node->key, "cast") == 0)
        return tdc_rules_read_cast(reading, node, &entry->cast);
    return tdc_rules_unknown_key(reading, node);
}

tdc_status tdc_rules_read_entry(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                                struct tdc_rule_entry **entry)
{
    struct tdc_rule_entry *made = tdc_arena_zeroed(&reading->rules->arena, 1, sizeof *made);
    tdc_status status = TDC_OK;
    if (made == NULL)
        return tdc_rules_no_memory(reading);
    *entry = made;
    made->place = made->match_place = made->dims_place = tdc_rules_place(reading, node->line);
    if (tdc_yaml_is_text(node))
        return tdc_rules_read_patterns(reading, node, &made->match);
    if (node->kind != TDC_YAML_MAP)
        return tdc_rules_wrong_kind(reading, node, "an entry");
    for (const struct tdc_yaml *item = node->child; item != NULL && status == TDC_OK;
         item = item->next)
        status = read_entry_member(reading, item, made);
    if (status == TDC_OK && made->match.count == 0)
        status = tdc_rule_fail(reading->error, made->place, "this entry needs 'match'");
    return status;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static tdc_status read_entries(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               struct tdc_rule_tensor *tensor)
{
    bool list = node->kind == TDC_YAML_LIST;
    struct tdc_rule_entries *entries = &tensor->entries[tensor->entry_count++];
    tdc_status status = TDC_OK;
    entries->key = node->key;
    entries->list = tdc_arena_zeroed(&reading->rules->arena, node->children + 1,
                                     sizeof(struct tdc_rule_entry *));
    if (entries->list == NULL)
        return tdc_rules_no_memory(reading);
    for (const struct tdc_yaml *item = list ? node->child : node; item != NULL && status == TDC_OK;
         item = list ? item->next : NULL)
        status = tdc_rules_read_entry(reading, item, &entries->list[entries->count++]);
    return status;
}

static tdc_status read_series(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                              struct tdc_rule_tensor *tensor)
{
    bool list = node->kind == TDC_YAML_LIST;
    tensor->series =
        tdc_arena_zeroed(&reading->rules->arena, node->children + 1, sizeof *tensor->series);
    if (tensor->series == NULL)
        return tdc_rules_no_memory(reading);
    for (const struct tdc_yaml *item = list ? node->child : node; item != NULL;
         item = list ? item->next : NULL) {
        if (!tdc_yaml_is_text(item))
            return tdc_rules_wrong_kind(reading, node, "an axis or a list of axes");
        tensor->series[tensor->series_count++] = item->text;
    }
    return TDC_OK;
}

static tdc_status take_text(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                            const char **text)
{
    *text = node->text;
    return tdc_yaml_is_text(node) ? TDC_OK : tdc_rules_wrong_kind(reading, node, "a text");
}

static tdc_status read_tensor_member(const struct tdc_rule_reading *reading,
                                     const struct tdc_yaml *node, struct tdc_rule_tensor *tensor)
{
    if (strcmp(node->key, "name") == 0) {
        tensor->name_place = tdc_rules_place(reading, node->line);
        return take_text(reading, node, &tensor->name);
    }
    if (strcmp(node->key, "dims") == 0) {
        tensor->dims_place = tdc_rules_place(reading, node->line);
        return tdc_rules_read_dims(reading, node, &tensor->dims);
    }
    if (strcmp(node->key, "tokens") == 0)
        return tdc_rules_read_tokens(reading, node, &tensor->tokens);
    if (strcmp(node->key, "axes") == 0) {
        tensor->axes_place = tdc_rules_place(reading, node->line);
        return take_text(reading, node, &tensor->axes);
    }
    if (strcmp(node->key, "series") == 0)
        return read_series(reading, node, tensor);
    if (strcmp(node->key, "cat") == 0)
        return take_text(reading, node, &tensor->cat);
    return read_entries(reading, node, tensor);
}

/* The expressions in the braces of a name. */
static tdc_status check_name(const struct tdc_rule_reading *reading,
                             const struct tdc_rule_tensor *tensor)
{
    char problem[TDC_EXPRESSION_TEXT];
    for (const char *open = strchr(tensor->name, '{'); open != NULL; open = strchr(open + 1, '{')) {
        size_t length = strcspn(open + 1, "}");
        int64_t value;
        if (open[length + 1] == '}' &&
            !tdc_expression_value(open + 1, length, NULL, &value, problem))
            return tdc_rule_fail(reading->error, tensor->name_place, "%s", problem);
    }
    return TDC_OK;
}

static tdc_status check_tensor(const struct tdc_rule_reading *reading,
                               const struct tdc_rule_tensor *tensor)
{
    if (tensor->name == NULL)
        return tdc_rule_fail(reading->error, tensor->place, "this tensor needs 'name'");
    for (size_t i = 0; i < tensor->entry_count; i++)
        if (tensor->entries[i].count > 1 && tensor->cat == NULL)
            return tdc_rule_fail(reading->error, tensor->entries[i].list[0]->place,
                                 "a list of entries needs 'cat'");
    return check_name(reading, tensor);
}

tdc_status tdc_rules_read_tensors(const struct tdc_rule_reading *reading,
                                  const struct tdc_yaml *node, const struct tdc_rule_tensor ***end)
{
    struct tdc_arena *arena = &reading->rules->arena;
    if (node->is_null)
        return TDC_OK;
    if (node->kind != TDC_YAML_LIST)
        return tdc_rules_wrong_kind(reading, node, "a list");
    tdc_status status = TDC_OK;
    for (const struct tdc_yaml *item = node->child; item != NULL && status == TDC_OK;
         item = item->next) {
        struct tdc_rule_tensor *tensor = tdc_arena_zeroed(arena, 1, sizeof *tensor);
        if (tensor == NULL)
            return tdc_rules_no_memory(reading);
        tensor->place = tdc_rules_place(reading, item->line);
        tensor->entries = tdc_arena_zeroed(arena, item->children + 1, sizeof *tensor->entries);
        if (tensor->entries == NULL)
            return tdc_rules_no_memory(reading);
        if (item->kind != TDC_YAML_MAP)
            return tdc_rule_fail(reading->error, tensor->place, "this tensor needs 'name'");
        for (const struct tdc_yaml *member = item->child; member != NULL && status == TDC_OK;
             member = member->next)
            status = read_tensor_member(reading, member, tensor);
        if (status == TDC_OK)
            status = check_tensor(reading, tensor);
        if (status == TDC_OK) {
            **end = tensor;
            *end = &tensor->next;
        }
    }
    return status;
}
