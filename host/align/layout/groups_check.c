/* groups_check.c - whether the names of an entry mean something, once it has found a record. */
#include <ctype.h>
#include <string.h>

#include "host/align/layout/groups.h"

struct checking {
    const struct tdc_sided *sided;
    const struct tdc_used_entry *used;
    const struct tdc_found *found;
    const char *name;
    struct tdc_error *error;
    tdc_status status;
    const char *capture; /* being looked for in joins */
    bool joined;
};

/* Whether a word stands in a text, not as a part of another. */
static bool has_word(const char *text, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++) {
        bool before = i != 0 && (isalnum((unsigned char)text[i - 1]) != 0 || text[i - 1] == '_');
        bool after = i + size < length &&
                     (isalnum((unsigned char)text[i + size]) != 0 || text[i + size] == '_');
        if (!before && !after && memcmp(text + i, word, size) == 0)
            return true;
    }
    return false;
}

static bool in_name(const char *name, const char *word)
{
    for (const char *open = strchr(name, '{'); open != NULL; open = strchr(open + 1, '{'))
        if (has_word(open + 1, strcspn(open + 1, "}"), word))
            return true;
    return false;
}

static bool note_join(void *context, const struct tdc_join_part *part)
{
    struct checking *checking = context;
    checking->joined |= strcmp(part->name, checking->capture) == 0;
    return true;
}

static bool is_used(struct checking *checking, const char *capture)
{
    const struct tdc_rule_entry *entry = checking->used->entry;
    const struct tdc_dims *dims = checking->found->dims;
    if (checking->name == NULL || in_name(checking->name, capture))
        return true;
    for (size_t i = 0; i < entry->set_count; i++)
        if (strcmp(entry->set[i].name, capture) == 0 ||
            has_word(entry->set[i].expression.text, entry->set[i].expression.length, capture))
            return true;
    if (dims == NULL)
        return false;
    checking->capture = capture;
    checking->joined = false;
    tdc_dims_each_join(dims, note_join, checking);
    for (size_t i = 0; i < dims->declaration_count; i++)
        checking->joined |= strcmp(dims->declarations[i].name, capture) == 0;
    return checking->joined;
}

static tdc_status check_captures(struct checking *checking, const struct tdc_pattern *pattern)
{
    const struct tdc_rule_entry *entry = checking->used->entry;
    const char *capture;
    uint64_t size;
    for (size_t i = 0; i < entry->match.count; i++)
        for (size_t k = 0; (capture = tdc_pattern_capture(entry->match.list[i], k)) != NULL; k++)
            if (tdc_sided_axis(checking->sided, capture, strlen(capture), &size))
                return tdc_rule_fail(checking->error, entry->match_place,
                                     "capture '%.100s' has the name of a mesh axis", capture);
    for (size_t k = 0; (capture = tdc_pattern_capture(pattern, k)) != NULL; k++)
        if (!is_used(checking, capture))
            return tdc_rule_fail(checking->error, entry->match_place,
                                 "capture '%.100s' is used neither in the name nor in dims",
                                 capture);
    return TDC_OK;
}

static bool is_known(const struct checking *checking, const char *name)
{
    const struct tdc_part *part = &checking->found->part;
    uint64_t size;
    for (size_t i = 0; i < part->value_count; i++)
        if (strcmp(part->values[i].name, name) == 0)
            return true;
    return tdc_sided_axis(checking->sided, name, strlen(name), &size);
}

static bool fail_unknown(struct checking *checking, const char *name)
{
    checking->status = tdc_rule_fail(checking->error, checking->used->dims_place,
                                     "'%.100s' in dims '%.400s' is neither a mesh axis nor a "
                                     "capture",
                                     name, checking->found->dims->text);
    return false;
}

static bool check_expression(struct checking *checking, struct tdc_written written)
{
    char problem[TDC_EXPRESSION_TEXT];
    int64_t value;
    struct tdc_scope scope = tdc_sided_scope(checking->sided);
    if (written.length == 0 ||
        tdc_expression_value(written.text, written.length, &scope, &value, problem))
        return true;
    checking->status = tdc_rule_fail(checking->error, checking->used->dims_place, "%s", problem);
    return false;
}

static bool check_join(void *context, const struct tdc_join_part *part)
{
    struct checking *checking = context;
    if (!is_known(checking, part->name))
        return fail_unknown(checking, part->name);
    return check_expression(checking, part->repeat);
}

static bool check_range(struct checking *checking, const struct tdc_range *range)
{
    for (size_t i = 0; range != NULL && i < range->count; i++)
        if (!check_expression(checking, range->items[i].from) ||
            !check_expression(checking, range->items[i].to))
            return false;
    return true;
}

static bool check_sizes(struct checking *checking, const struct tdc_dims *dims)
{
    for (size_t i = 0; i < dims->axis_count; i++) {
        const struct tdc_dims_axis *axis = &dims->axes[i];
        if (!check_range(checking, axis->before))
            return false;
        for (size_t k = 0; k < axis->leaf_count; k++) {
            const struct tdc_leaf *leaf = &axis->leaves[k];
            if (!check_expression(checking, leaf->size))
                return false;
            for (size_t s = 0; s < leaf->step_count; s++)
                if (!check_range(checking, leaf->steps[s].range))
                    return false;
        }
    }
    return true;
}

tdc_status tdc_part_groups_check(const struct tdc_sided *sided, const struct tdc_used_entry *used,
                                 const struct tdc_found *found, const struct tdc_pattern *pattern,
                                 const char *name, struct tdc_error *error)
{
    struct checking checking = {.sided = sided,
                                .used = used,
                                .found = found,
                                .name = name,
                                .error = error,
                                .status = TDC_OK};
    const struct tdc_dims *dims = found->dims;
    tdc_status status = check_captures(&checking, pattern);
    if (status != TDC_OK || dims == NULL)
        return status;
    if (!tdc_dims_each_join(dims, check_join, &checking))
        return checking.status;
    for (size_t i = 0; i < dims->declaration_count; i++)
        if (!is_known(&checking, dims->declarations[i].name)) {
            fail_unknown(&checking, dims->declarations[i].name);
            return checking.status;
        }
    check_sizes(&checking, dims);
    return checking.status;
}

struct tdc_used_entry tdc_entry_used(const struct tdc_sided *sided,
                                     const struct tdc_rule_tensor *tensor,
                                     const struct tdc_rule_entry *entry)
{
    struct tdc_used_entry used = {
        .entry = entry,
        .dims = entry->dims,
        .dims_place = entry->dims_place,
        .tokens = entry->tokens,
        .cast = entry->cast != TDC_CAST_NONE ? entry->cast : sided->rule->cast,
    };
    if (used.dims == NULL && tensor != NULL && tensor->dims != NULL) {
        used.dims = tensor->dims;
        used.dims_place = tensor->dims_place;
    }
    if (used.tokens == NULL && tensor != NULL)
        used.tokens = tensor->tokens;
    const struct tdc_tokens *common = sided->rule->tokens;
    if (used.tokens == NULL && common != NULL && used.dims != NULL &&
        (common->of[0] != NULL ? tdc_dims_has_leaf(used.dims, common->of[0]) &&
                                     tdc_dims_has_leaf(used.dims, common->of[1])
                               : tdc_dims_has_leaf(used.dims, common->axis)))
        used.tokens = common;
    return used;
}
