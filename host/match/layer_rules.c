/* layer_rules.c - the lines of a layer mapping file. */
#include "host/match/layer_rules.h"

#include <stdlib.h>
#include <string.h>

#include "io/error.h"

static size_t levels_of(const char *key)
{
    size_t levels = 1;
    for (; *key != '\0'; key++)
        levels += *key == '.';
    return levels;
}

/* "section\0component" */
static const char *prefix_key(struct tdc_arena *arena, const char *section, const char *component,
                              size_t component_length, size_t *length)
{
    size_t section_length = strlen(section);
    *length = section_length + 1 + component_length;
    char *key = tdc_arena_take(arena, *length);
    if (key != NULL) {
        memcpy(key, section, section_length + 1);
        memcpy(key + section_length + 1, component, component_length);
    }
    return key;
}

static tdc_status check_rules(const char *path, const struct tdc_yaml *root,
                              struct tdc_error *error)
{
    if (root->kind != TDC_YAML_MAP)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "%s:%u: a layer mapping has sections 'LayerType:' with lines 'name: name'",
                        path, root->line);
    for (const struct tdc_yaml *section = root->child; section != NULL; section = section->next) {
        if (section->kind != TDC_YAML_MAP)
            return tdc_fail(error, TDC_ERR_FORMAT,
                            "%s:%u: section '%.200s' must hold lines 'name: name'", path,
                            section->line, section->key);
        for (const struct tdc_yaml *line = section->child; line != NULL; line = line->next)
            if (line->kind != TDC_YAML_SCALAR || line->is_null)
                return tdc_fail(error, TDC_ERR_FORMAT, "%s:%u: '%.200s' must be mapped to one name",
                                path, line->line, line->key);
    }
    return TDC_OK;
}

/* Rules of the same section and first component lie together; a stable order by most components. */
struct gathered {
    uint32_t prefix;
    size_t order;
    struct tdc_layer_rule rule;
};

static int by_prefix_and_levels(const void *left, const void *right)
{
    const struct gathered *a = left, *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    if (a->rule.levels != b->rule.levels)
        return a->rule.levels > b->rule.levels ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool gather(struct tdc_layer_rules *rules, struct tdc_arena *arena,
                   struct gathered *gathered)
{
    for (const struct tdc_yaml *section = rules->root->child; section != NULL;
         section = section->next) {
        /* older files call the top layer Cell */
        const char *type = strcmp(section->key, "Cell") == 0 ? "TopLayer" : section->key;
        for (const struct tdc_yaml *line = section->child; line != NULL; line = line->next) {
            size_t length;
            bool fresh;
            const char *key = prefix_key(arena, type, line->key, strcspn(line->key, "."), &length);
            struct gathered *item = &gathered[rules->count];
            if (key == NULL || (item->prefix = tdc_names_put(&rules->prefixes, key, length,
                                                             &fresh)) == TDC_NAME_NONE)
                return false;
            item->order = rules->count++;
            item->rule = (struct tdc_layer_rule){.key = line->key,
                                                 .value = line->text,
                                                 .levels = levels_of(line->key),
                                                 .value_length = strcspn(line->text, "("),
                                                 .source = line};
        }
    }
    return true;
}

static bool arrange(struct tdc_layer_rules *rules, struct tdc_arena *arena)
{
    size_t lines = 0;
    for (const struct tdc_yaml *section = rules->root->child; section != NULL;
         section = section->next)
        lines += section->children;
    struct gathered *gathered = tdc_arena_zeroed(arena, lines + 1, sizeof *gathered);
    rules->rules = tdc_arena_zeroed(arena, lines + 1, sizeof *rules->rules);
    rules->runs = tdc_arena_zeroed(arena, lines + 1, sizeof *rules->runs);
    if (gathered == NULL || rules->rules == NULL || rules->runs == NULL ||
        !gather(rules, arena, gathered))
        return false;
    if (lines > 1)
        qsort(gathered, lines, sizeof *gathered, by_prefix_and_levels);
    for (size_t i = 0; i < lines; i++) {
        struct tdc_layer_run *run = &rules->runs[gathered[i].prefix];
        if (run->count++ == 0)
            run->first = i;
        rules->rules[i] = gathered[i].rule;
    }
    return true;
}

tdc_status tdc_layer_rules_load(struct tdc_layer_rules *rules, const char *path,
                                struct tdc_arena *arena, struct tdc_error *error)
{
    *rules = (struct tdc_layer_rules){.path = path};
    tdc_names_init(&rules->prefixes);
    tdc_arena_init(&rules->scratch, (size_t)1 << 24);
    if (path == NULL)
        return TDC_OK;
    struct tdc_yaml *root;
    tdc_status status = tdc_yaml_load(path, arena, &root, error);
    if (status != TDC_OK || root == NULL || root->is_null)
        return status;
    status = check_rules(path, root, error);
    rules->root = root;
    if (status == TDC_OK && !arrange(rules, arena))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    return status;
}

void tdc_layer_rules_free(struct tdc_layer_rules *rules)
{
    tdc_names_free(&rules->prefixes);
    tdc_arena_free(&rules->scratch);
}

/* The scope that follows begins with the components of the key. */
static bool begins_with(const char *scope, const char *key)
{
    size_t length = strlen(key);
    return strncmp(scope, key, length) == 0 && (scope[length] == '.' || scope[length] == '\0');
}

struct tdc_layer_rule *tdc_layer_rule_find(struct tdc_layer_rules *rules, const char *type,
                                           const char *scope)
{
    if (rules->count == 0)
        return NULL;
    size_t length;
    tdc_arena_reset(&rules->scratch);
    const char *key = prefix_key(&rules->scratch, type, scope, strcspn(scope, "."), &length);
    uint32_t prefix = key != NULL ? tdc_names_find(&rules->prefixes, key, length) : TDC_NAME_NONE;
    if (prefix == TDC_NAME_NONE)
        return NULL;
    struct tdc_layer_run run = rules->runs[prefix];
    for (size_t i = run.first; i < run.first + run.count; i++)
        if (begins_with(scope, rules->rules[i].key))
            return &rules->rules[i];
    return NULL;
}

/* Mistakes that leave a rule without effect, and two names for one. */
void tdc_layer_rules_report(const struct tdc_layer_rules *rules, const struct tdc_layer_side *npu,
                            const struct tdc_options *options)
{
    for (const struct tdc_yaml *section = rules->root != NULL ? rules->root->child : NULL;
         section != NULL; section = section->next) {
        bool known = strcmp(section->key, "Cell") == 0 || strcmp(section->key, "TopLayer") == 0;
        for (uint32_t i = 0; i < npu->node_count && !known; i++)
            known = strcmp(npu->nodes[i].type, section->key) == 0;
        if (!known)
            tdc_map_warn(options, rules->path, section->key_line,
                         "the NPU network has no layer of type '%.200s'", section->key);
        for (const struct tdc_yaml *line = section->child; line != NULL; line = line->next)
            for (const struct tdc_yaml *later = line->next; later != NULL; later = later->next)
                if (strcmp(line->text, later->text) == 0)
                    tdc_map_warn(options, rules->path, later->key_line,
                                 "'%.200s' is used twice in '%.200s', first in line %u",
                                 later->text, section->key, line->key_line);
    }
    for (size_t i = 0; i < rules->count; i++)
        if (!rules->rules[i].used)
            tdc_map_warn(options, rules->path, rules->rules[i].source->key_line,
                         "no layer is called '%.200s' there; the line has no effect",
                         rules->rules[i].key);
}
