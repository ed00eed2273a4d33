/* rule_side.c - a side of a rule file: its mesh, its ranks, what its names lose. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/align/rules/rules.h"
#include "io/text/pytext.h"

#define MOST_RANKS ((size_t)1 << 20)

/* ---- mesh ------------------------------------------------------------------------------------ */

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) != 0 || text[length] == '_')
        length++;
    return length;
}

/* `tp=2` or `sp=tp`. */
static bool read_axis(struct tdc_arena *arena, const char *token, size_t length,
                      struct tdc_mesh_axis *axis)
{
    size_t name = word_length(token);
    if (name == 0 || name + 1 >= length || token[name] != '=' ||
        name + 1 + word_length(token + name + 1) != length)
        return false;
    const char *value = token + name + 1;
    int64_t size = 0;
    axis->name = tdc_arena_text(arena, token, name);
    if (tdc_digits_value(value, length - name - 1, &size))
        axis->size = (uint64_t)size;
    else if (isdigit((unsigned char)value[0]) != 0)
        return false;
    else
        axis->same_as = tdc_arena_text(arena, value, length - name - 1);
    return size > 0 || axis->same_as != NULL;
}

static tdc_status read_line(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                            struct tdc_mesh_line *line)
{
    struct tdc_arena *arena = &reading->rules->arena;
    if (!tdc_yaml_is_text(node))
        return tdc_rules_wrong_kind(reading, node, "a text, a list of texts, or dtensor");
    line->place = tdc_rules_place(reading, node->line);
    line->axes = tdc_arena_zeroed(arena, strlen(node->text) / 2 + 1, sizeof *line->axes);
    if (line->axes == NULL)
        return tdc_rules_no_memory(reading);
    for (const char *at = node->text; *at != '\0';) {
        size_t length = strcspn(at, " \t\n");
        if (length == 0) {
            at++;
            continue;
        }
        struct tdc_mesh_axis *axis = &line->axes[line->count];
        axis->place = line->place;
        bool read = read_axis(arena, at, length, axis);
        for (size_t i = 0; read && axis->name != NULL && i < line->count; i++)
            read = strcmp(line->axes[i].name, axis->name) != 0;
        if (!read)
            return tdc_rule_fail(reading->error, line->place, "mesh '%.200s': cannot read '%.*s'",
                                 node->text, (int)(length < 200 ? length : 200), at);
        if (axis->name == NULL)
            return tdc_rules_no_memory(reading);
        line->count++;
        at += length;
    }
    return TDC_OK;
}

static bool is_known_axis(const struct tdc_rule_side *side, const char *name)
{
    for (size_t i = 0; i < side->mesh_count; i++)
        for (size_t k = 0; k < side->mesh[i].count; k++)
            if (side->mesh[i].axes[k].same_as == NULL &&
                strcmp(side->mesh[i].axes[k].name, name) == 0)
                return true;
    return false;
}

static tdc_status read_mesh(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                            struct tdc_rule_side *side)
{
    bool list = node->kind == TDC_YAML_LIST;
    side->dtensor = tdc_yaml_is_text(node) && strcmp(node->text, "dtensor") == 0;
    if (side->dtensor)
        return TDC_OK;
    side->mesh = tdc_arena_zeroed(&reading->rules->arena, node->children + 1, sizeof *side->mesh);
    if (side->mesh == NULL)
        return tdc_rules_no_memory(reading);
    tdc_status status = TDC_OK;
    for (const struct tdc_yaml *item = list ? node->child : node; item != NULL && status == TDC_OK;
         item = list ? item->next : NULL)
        status = read_line(reading, item, &side->mesh[side->mesh_count++]);
    for (size_t i = 0; i < side->mesh_count && status == TDC_OK; i++)
        for (size_t k = 0; k < side->mesh[i].count && status == TDC_OK; k++) {
            const struct tdc_mesh_axis *axis = &side->mesh[i].axes[k];
            if (axis->same_as != NULL && !is_known_axis(side, axis->same_as))
                status = tdc_rule_fail(reading->error, axis->place,
                                       "mesh axis '%.100s' is said to be '%.100s', which is not "
                                       "known",
                                       axis->name, axis->same_as);
        }
    if (status != TDC_OK)
        side->mesh_count = 0; /* half a mesh makes no sense to anyone */
    return status;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* `8-11` or `3`. */
static bool add_ranks(struct tdc_rule_side *side, size_t room, const char *token, size_t length)
{
    const char *dash = memchr(token, '-', length);
    size_t first_length = dash != NULL ? (size_t)(dash - token) : length;
    int64_t first, last;
    if (!tdc_digits_value(token, first_length, &first))
        return false;
    last = first;
    if (dash != NULL && !tdc_digits_value(dash + 1, length - first_length - 1, &last))
        return false;
    for (; first <= last; first++) {
        if (side->rank_count == room)
            return false;
        side->ranks[side->rank_count++] = first;
    }
    return true;
}

/* How many ranks the text names, at most; 0 when it cannot be read. */
static size_t count_ranks(const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at != '\0';) {
        char *end;
        if (isdigit((unsigned char)*at) == 0) {
            at++;
            continue;
        }
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (*end == '-' && isdigit((unsigned char)end[1]) != 0)
            last = strtoul(end + 1, &end, 10);
        if (last < first || last - first >= MOST_RANKS)
            return 0;
        count += last - first + 1;
        at = end;
    }
    return count <= MOST_RANKS ? count : 0;
}

static tdc_status read_ranks(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                             struct tdc_rule_side *side)
{
    size_t room = tdc_yaml_is_text(node) ? count_ranks(node->text) : 0;
    side->ranks_given = true;
    side->ranks = tdc_arena_zeroed(&reading->rules->arena, room + 1, sizeof *side->ranks);
    if (side->ranks == NULL)
        return tdc_rules_no_memory(reading);
    bool ok = room != 0;
    for (const char *at = room != 0 ? node->text : ""; *at != '\0' && ok;) {
        size_t length = strcspn(at, ",");
        const char *start = at, *end = at + length;
        while (start < end && *start == ' ')
            start++;
        while (end > start && end[-1] == ' ')
            end--;
        ok = add_ranks(side, room, start, (size_t)(end - start));
        at += length + (at[length] == ',');
    }
    return ok ? TDC_OK : tdc_rules_wrong_kind(reading, node, "ranks as \"8-11\" or \"0,2,4-7\"");
}

static tdc_status read_strip(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                             struct tdc_rule_side *side)
{
    bool list = node->kind == TDC_YAML_LIST;
    side->strip = tdc_arena_zeroed(&reading->rules->arena, node->children + 1, sizeof *side->strip);
    if (side->strip == NULL)
        return tdc_rules_no_memory(reading);
    for (const struct tdc_yaml *item = list ? node->child : node; item != NULL;
         item = list ? item->next : NULL) {
        if (!tdc_yaml_is_text(item) || item->text[0] == '\0')
            return tdc_rules_wrong_kind(reading, node, "texts to be removed");
        side->strip[side->strip_count++] = item->text;
    }
    return TDC_OK;
}

static tdc_status read_named_lengths(const struct tdc_rule_reading *reading,
                                     const struct tdc_yaml *node, struct tdc_rule_side *side)
{
    if (node->kind != TDC_YAML_MAP)
        return tdc_rules_wrong_kind(reading, node, "names with lengths");
    side->lengths =
        tdc_arena_zeroed(&reading->rules->arena, node->children + 1, sizeof *side->lengths);
    if (side->lengths == NULL)
        return tdc_rules_no_memory(reading);
    tdc_status status = TDC_OK;
    for (const struct tdc_yaml *item = node->child; item != NULL && status == TDC_OK;
         item = item->next) {
        struct tdc_lengths *lengths = &side->lengths[side->length_count++];
        status = tdc_rules_read_lengths(reading, item, lengths);
        lengths->name = item->key;
    }
    return status;
}

static tdc_status read_agree(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                             struct tdc_rule_side *side)
{
    if (!tdc_yaml_is_text(node) ||
        !tdc_python_float(node->text, strlen(node->text), &side->agree) || !(side->agree >= 0))
        return tdc_rules_wrong_kind(reading, node, "a number");
    return TDC_OK;
}

static tdc_status read_member(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                              struct tdc_rule_side *side)
{
    if (strcmp(node->key, "form") == 0) {
        side->form = node->text;
        return tdc_yaml_is_text(node) ? TDC_OK
                                      : tdc_rules_wrong_kind(reading, node, "the name of a form");
    }
    if (strcmp(node->key, "mesh") == 0)
        return read_mesh(reading, node, side);
    if (strcmp(node->key, "ranks") == 0)
        return read_ranks(reading, node, side);
    if (strcmp(node->key, "strip") == 0)
        return read_strip(reading, node, side);
    if (strcmp(node->key, "lengths") == 0)
        return read_named_lengths(reading, node, side);
    if (strcmp(node->key, "tokens") == 0)
        return tdc_rules_read_tokens(reading, node, &side->tokens);
    if (strcmp(node->key, "cast") == 0)
        return tdc_rules_read_cast(reading, node, &side->cast);
    if (strcmp(node->key, "agree") == 0)
        return read_agree(reading, node, side);
    return tdc_rules_unknown_key(reading, node);
}

/* A declared mesh and the list of ranks are of one number. */
static tdc_status check_ranks(const struct tdc_rule_reading *reading,
                              const struct tdc_rule_side *side)
{
    for (size_t i = 0; i < side->mesh_count && side->ranks_given; i++) {
        uint64_t product = 1;
        for (size_t k = 0; k < side->mesh[i].count; k++)
            if (side->mesh[i].axes[k].same_as == NULL &&
                __builtin_mul_overflow(product, side->mesh[i].axes[k].size, &product))
                product = UINT64_MAX;
        if (product != side->rank_count)
            return tdc_rule_fail(reading->error, side->mesh[i].place,
                                 "mesh of %llu ranks, but 'ranks' has %zu",
                                 (unsigned long long)product, side->rank_count);
    }
    return TDC_OK;
}

tdc_status tdc_rules_read_side(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               struct tdc_rule_side *side)
{
    tdc_status status = TDC_OK;
    side->place = tdc_rules_place(reading, node->line);
    if (node->kind != TDC_YAML_MAP && !node->is_null)
        return tdc_rules_wrong_kind(reading, node, "a map");
    for (const struct tdc_yaml *item = node->child; item != NULL && status == TDC_OK;
         item = item->next)
        status = read_member(reading, item, side);
    return status == TDC_OK ? check_ranks(reading, side) : status;
}
