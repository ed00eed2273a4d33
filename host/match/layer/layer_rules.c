/* layer_rules.c - the lines of a layer mapping file. */
#include "host/match/layer/layer_rules.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

#define REPORTED      10
#define SCRATCH_LIMIT ((size_t)1 << 24)

static size_t levels_of(const char *key)
{
    size_t levels = 1;
    for (; *key != '\0'; key++)
        levels += *key == '.';
    return levels;
}

/* "section\0name" in the arena; NULL when out of memory. */
static const char *section_key(struct tdc_arena *arena, const char *section, const char *name,
                               size_t name_length, size_t *length)
{
    size_t section_length = strlen(section);
    *length = section_length + 1 + name_length;
    char *key = tdc_arena_take(arena, *length);
    if (key != NULL) {
        memcpy(key, section, section_length + 1);
        memcpy(key + section_length + 1, name, name_length);
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

/* Older files call the top layer Cell. */
static const char *type_of(const struct tdc_yaml *section)
{
    return strcmp(section->key, "Cell") == 0 ? "TopLayer" : section->key;
}

static bool add_rule(struct tdc_layer_rules *rules, struct tdc_arena *arena,
                     const struct tdc_yaml *section, const struct tdc_yaml *line)
{
    size_t key_length, prefix_length, levels = levels_of(line->key);
    const char *type = type_of(section);
    const char *key = section_key(arena, type, line->key, strlen(line->key), &key_length);
    const char *prefix =
        section_key(arena, type, line->key, strcspn(line->key, "."), &prefix_length);
    bool fresh, fresh_prefix;
    if (key == NULL || prefix == NULL)
        return false;
    uint32_t number = tdc_names_put(&rules->names, key, key_length, &fresh);
    uint32_t group = tdc_names_put(&rules->prefixes, prefix, prefix_length, &fresh_prefix);
    if (number == TDC_NAME_NONE || group == TDC_NAME_NONE)
        return false;
    /* a file with both Cell and TopLayer: the former counts, as in msprobe */
    if (fresh || type != section->key)
        rules->rules[number] = (struct tdc_layer_rule){.key = line->key,
                                                       .value = line->text,
                                                       .value_length = strcspn(line->text, "("),
                                                       .source = line};
    if (levels > rules->levels[group])
        rules->levels[group] = levels;
    if (levels > rules->most_levels)
        rules->most_levels = levels;
    return true;
}

static bool arrange(struct tdc_layer_rules *rules, struct tdc_arena *arena)
{
    size_t lines = 0;
    for (const struct tdc_yaml *section = rules->root->child; section != NULL;
         section = section->next)
        lines += section->children;
    rules->rules = tdc_arena_zeroed(arena, lines + 1, sizeof *rules->rules);
    rules->levels = tdc_arena_zeroed(arena, lines + 1, sizeof *rules->levels);
    if (rules->rules == NULL || rules->levels == NULL)
        return false;
    for (const struct tdc_yaml *section = rules->root->child; section != NULL;
         section = section->next)
        for (const struct tdc_yaml *line = section->child; line != NULL; line = line->next)
            if (!add_rule(rules, arena, section, line))
                return false;
    return true;
}

tdc_status tdc_layer_rules_load(struct tdc_layer_rules *rules, const char *path,
                                struct tdc_arena *arena, struct tdc_error *error)
{
    *rules = (struct tdc_layer_rules){.path = path};
    tdc_names_init(&rules->names);
    tdc_names_init(&rules->prefixes);
    tdc_text_init(&rules->scratch, SCRATCH_LIMIT);
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
    tdc_names_free(&rules->names);
    tdc_names_free(&rules->prefixes);
    tdc_text_free(&rules->scratch);
}

/* Length of the first so many components; fewer if there are not so many. */
static size_t components(const char *scope, size_t levels)
{
    size_t length = strcspn(scope, ".");
    while (--levels > 0 && scope[length] == '.')
        length += 1 + strcspn(scope + length + 1, ".");
    return length;
}

struct tdc_layer_rule *tdc_layer_rule_find(struct tdc_layer_rules *rules, const char *type,
                                           const char *scope)
{
    if (rules->names.count == 0)
        return NULL;
    size_t head = strlen(type) + 1, first = components(scope, 1);
    size_t length = components(scope, rules->most_levels);
    tdc_text_clear(&rules->scratch);
    tdc_text_add(&rules->scratch, type, head);
    if (!tdc_text_add(&rules->scratch, scope, length))
        return NULL; /* longer than any key */
    const char *key = rules->scratch.data;
    uint32_t prefix = tdc_names_find(&rules->prefixes, key, head + first);
    if (prefix == TDC_NAME_NONE)
        return NULL;
    for (length = components(scope, rules->levels[prefix]);; length--) {
        uint32_t found = tdc_names_find(&rules->names, key, head + length);
        if (found != TDC_NAME_NONE)
            return &rules->rules[found];
        while (length > first && scope[length - 1] != '.')
            length--;
        if (length <= first)
            return NULL;
    }
}

/* ---- what the author of the file should know ------------------------------------------------- */

/* Sections for types that the network does not have. */
static bool report_types(const struct tdc_layer_rules *rules, const struct tdc_layer_side *npu,
                         const struct tdc_options *options)
{
    struct tdc_name_table types;
    tdc_names_init(&types);
    bool ok = true, fresh;
    for (uint32_t i = 0; ok && i < npu->node_count; i++) {
        const char *type = npu->nodes[i].type;
        ok = tdc_names_put(&types, type, strlen(type), &fresh) != TDC_NAME_NONE;
    }
    const struct tdc_yaml *section = rules->root->child;
    for (; ok && section != NULL; section = section->next) {
        const char *type = type_of(section);
        if (tdc_names_find(&types, type, strlen(type)) == TDC_NAME_NONE)
            tdc_map_warn(options, rules->path, section->key_line,
                         "the test network has no layer of type '%.200s'", section->key);
    }
    tdc_names_free(&types);
    return ok;
}

/* Two names of one layer type that become the same. */
static bool report_twins(const struct tdc_layer_rules *rules, const struct tdc_yaml *section,
                         const struct tdc_options *options)
{
    struct tdc_name_table values;
    tdc_names_init(&values);
    bool ok = true;
    const struct tdc_yaml **first = calloc(section->children + 1, sizeof(struct tdc_yaml *));
    ok = first != NULL;
    for (const struct tdc_yaml *line = section->child; ok && line != NULL; line = line->next) {
        bool fresh;
        uint32_t number = tdc_names_put(&values, line->text, strlen(line->text), &fresh);
        ok = number != TDC_NAME_NONE;
        if (ok && fresh)
            first[number] = line;
        else if (ok)
            tdc_map_warn(options, rules->path, line->key_line,
                         "'%.200s' is used twice in '%.200s', first in line %u", line->text,
                         section->key, first[number]->key_line);
    }
    free(first);
    tdc_names_free(&values);
    return ok;
}

/* Two sections for the top layer. */
static void report_cell(const struct tdc_layer_rules *rules, const struct tdc_options *options)
{
    const struct tdc_yaml *earlier = NULL, *section = rules->root->child;
    for (; section != NULL; section = section->next) {
        if (strcmp(type_of(section), "TopLayer") != 0)
            continue;
        if (earlier != NULL)
            tdc_map_warn(options, rules->path, section->key_line,
                         "'Cell' and 'TopLayer' are the same layer, first in line %u; a name in "
                         "both goes by 'Cell'",
                         earlier->key_line);
        earlier = section;
    }
}

/* Lines that translated nothing. */
static void report_unused(const struct tdc_layer_rules *rules, const struct tdc_options *options)
{
    size_t unused = 0;
    unsigned line = 0;
    for (uint32_t i = 0; i < rules->names.count; i++) {
        if (rules->rules[i].used)
            continue;
        line = rules->rules[i].source->key_line;
        if (++unused <= REPORTED)
            tdc_map_warn(options, rules->path, line,
                         "no layer is called '%.200s' there; the line has no effect",
                         rules->rules[i].key);
    }
    if (unused > REPORTED)
        tdc_map_warn(options, rules->path, line, "the last of %zu more lines without effect",
                     unused - REPORTED);
}

bool tdc_layer_rules_report(const struct tdc_layer_rules *rules, const struct tdc_layer_side *npu,
                            const struct tdc_options *options)
{
    if (rules->root == NULL)
        return true;
    if (!report_types(rules, npu, options))
        return false;
    report_cell(rules, options);
    for (const struct tdc_yaml *section = rules->root->child; section != NULL;
         section = section->next)
        if (!report_twins(rules, section, options))
            return false;
    report_unused(rules, options);
    return true;
}
