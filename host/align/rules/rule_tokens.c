/* rule_tokens.c - which stored tokens are real, and to which sequences they belong. */
#include <string.h>

#include "host/align/rules/rules.h"
#include "io/base/text.h"

/* The pattern as it was written, or the list of them. */
static const char *written(const struct tdc_rule_reading *reading, const struct tdc_yaml *node)
{
    struct tdc_text text;
    if (node->kind == TDC_YAML_SCALAR)
        return node->text;
    tdc_text_init(&text, (size_t)1 << 16);
    for (const struct tdc_yaml *item = node->child; item != NULL; item = item->next)
        tdc_text_addf(&text, "%s%s", item != node->child ? ", " : "",
                      item->text != NULL ? item->text : "");
    const char *kept = tdc_arena_text(&reading->rules->arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return kept != NULL ? kept : "";
}

static tdc_status read_pattern(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               struct tdc_lengths *lengths)
{
    lengths->written = written(reading, node);
    return tdc_rules_read_patterns(reading, node, &lengths->patterns);
}

tdc_status tdc_rules_read_lengths(const struct tdc_rule_reading *reading,
                                  const struct tdc_yaml *node, struct tdc_lengths *lengths)
{
    lengths->place = tdc_rules_place(reading, node->line);
    if (node->kind == TDC_YAML_LIST) {
        lengths->kind = TDC_LENGTHS_LIST;
        return tdc_rules_read_numbers(reading, node, &lengths->list, &lengths->count);
    }
    if (tdc_yaml_is_text(node)) {
        lengths->kind = TDC_LENGTHS_NAME;
        lengths->name = node->text;
        return TDC_OK;
    }
    lengths->kind = TDC_LENGTHS_UNKNOWN;
    for (const struct tdc_yaml *item = node->child; item != NULL; item = item->next) {
        if (strcmp(item->key, "cu") == 0)
            lengths->kind = TDC_LENGTHS_CU;
        else if (strcmp(item->key, "len") == 0)
            lengths->kind = TDC_LENGTHS_LEN;
        else if (strcmp(item->key, "mask") == 0)
            lengths->kind = TDC_LENGTHS_MASK;
        else
            return tdc_rule_fail(reading->error, tdc_rules_place(reading, item->key_line),
                                 "lengths need a list, cu, len or mask");
        tdc_status status = read_pattern(reading, item, lengths);
        if (status != TDC_OK)
            return status;
    }
    if (lengths->kind == TDC_LENGTHS_UNKNOWN)
        return tdc_rule_fail(reading->error, lengths->place,
                             "lengths need a list, cu, len or mask");
    return TDC_OK;
}

static tdc_status read_owners(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                              struct tdc_lengths *owners)
{
    if (node->kind == TDC_YAML_LIST)
        return tdc_rules_read_lengths(reading, node, owners);
    owners->place = tdc_rules_place(reading, node->line);
    owners->kind = TDC_LENGTHS_LEN;
    return read_pattern(reading, node, owners);
}

static tdc_status read_of(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                          struct tdc_tokens *tokens)
{
    const struct tdc_yaml *batch = node->child;
    if (node->kind != TDC_YAML_LIST || node->children != 2 || !tdc_yaml_is_text(batch) ||
        !tdc_yaml_is_text(batch->next))
        return tdc_rules_wrong_kind(reading, node, "two axes, [batch, position]");
    tokens->of[0] = batch->text;
    tokens->of[1] = batch->next->text;
    return TDC_OK;
}

static tdc_status read_truth(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                             bool *truth)
{
    if (!tdc_yaml_is_text(node) ||
        (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0))
        return tdc_rules_wrong_kind(reading, node, "true or false");
    *truth = node->text[0] == 't';
    return TDC_OK;
}

static tdc_status read_pad(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                           bool *left)
{
    if (!tdc_yaml_is_text(node) ||
        (strcmp(node->text, "left") != 0 && strcmp(node->text, "right") != 0))
        return tdc_rules_wrong_kind(reading, node, "right or left");
    *left = node->text[0] == 'l';
    return TDC_OK;
}

static tdc_status read_member(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                              struct tdc_tokens *tokens)
{
    if (strcmp(node->key, "axis") == 0) {
        tokens->axis = node->text;
        return tdc_yaml_is_text(node) ? TDC_OK : tdc_rules_wrong_kind(reading, node, "an axis");
    }
    if (strcmp(node->key, "of") == 0)
        return read_of(reading, node, tokens);
    if (strcmp(node->key, "lengths") == 0)
        return tdc_rules_read_lengths(reading, node, &tokens->lengths);
    if (strcmp(node->key, "stored") == 0)
        return tdc_rules_read_lengths(reading, node, &tokens->stored);
    if (strcmp(node->key, "pad") == 0)
        return read_pad(reading, node, &tokens->left);
    if (strcmp(node->key, "owners") == 0)
        return read_owners(reading, node, &tokens->owners);
    if (strcmp(node->key, "tail") == 0)
        return read_truth(reading, node, &tokens->tail);
    if (strcmp(node->key, "ids") == 0) {
        struct tdc_rule_entry *ids = NULL;
        tdc_status status = tdc_rules_read_entry(reading, node, &ids);
        tokens->ids = ids;
        return status;
    }
    return tdc_rules_unknown_key(reading, node);
}

tdc_status tdc_rules_read_tokens(const struct tdc_rule_reading *reading,
                                 const struct tdc_yaml *node, const struct tdc_tokens **tokens)
{
    struct tdc_tokens *made = tdc_arena_zeroed(&reading->rules->arena, 1, sizeof *made);
    tdc_status status = TDC_OK;
    if (made == NULL)
        return tdc_rules_no_memory(reading);
    if (node->kind != TDC_YAML_MAP)
        return tdc_rules_wrong_kind(reading, node, "a map");
    made->axis = "t";
    made->lengths.place = made->stored.place = tdc_rules_place(reading, node->line);
    made->place = tdc_rules_place(reading, node->line);
    for (const struct tdc_yaml *item = node->child; item != NULL && status == TDC_OK;
         item = item->next)
        status = read_member(reading, item, made);
    *tokens = made;
    return status;
}
