/* rules_file.c - reading tolerance.yaml; mistakes are told with their line. */
#include <stdlib.h>
#include <string.h>

#include "host/judge/user_rules/rules_read.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/text/yaml_map.h"

#define FILE_LIMIT ((size_t)256 << 20)

const char *const tdc_row_kind_names[TDC_ROW_KINDS] = {"input", "output", "parameter", "gradient",
                                                       "other"};
const char *const tdc_row_type_names[TDC_ROW_TYPES] = {"f64", "f32", "f16", "bf16", "f8",
                                                       "i8",  "i16", "i32", "i64",  "u8",
                                                       "u16", "u32", "u64", "bool", "complex"};
const char *const tdc_tolerance_list_names[TDC_TOLERANCE_LISTS] = {"ignore", "may_fail",
                                                                   "may_miss"};

struct reading {
    const char *name; /* of the file */
    struct tdc_user_rules *tolerance;
    struct tdc_error *error;
};

static tdc_status mistake(const struct reading *reading, unsigned line, const char *format,
                          const char *text)
{
    struct tdc_error why = {0};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    tdc_fail(&why, TDC_ERR_ARGUMENT, format, text);
#pragma GCC diagnostic pop
    return tdc_fail(reading->error, TDC_ERR_ARGUMENT, "%.300s:%u: %.700s", reading->name, line,
                    why.message);
}

static tdc_status no_memory(const struct reading *reading)
{
    return tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->name);
}

/* The scalars of a text or of a list of texts, one after the other. */
static const struct tdc_yaml *first_text(const struct tdc_yaml *value)
{
    return value->kind == TDC_YAML_LIST ? value->child : value;
}

static const struct tdc_yaml *next_text(const struct tdc_yaml *value, const struct tdc_yaml *at)
{
    return value->kind == TDC_YAML_LIST ? at->next : NULL;
}

static tdc_status read_patterns(const struct reading *reading, const struct tdc_yaml *value,
                                bool counted, struct tdc_patterns *patterns)
{
    struct tdc_arena *arena = &reading->tolerance->arena;
    size_t count = value->kind == TDC_YAML_LIST ? value->children : 1;
    patterns->list = tdc_arena_zeroed(arena, count + 1, sizeof(struct tdc_pattern *));
    patterns->used = counted ? tdc_arena_zeroed(arena, count + 1, sizeof *patterns->used) : NULL;
    if (patterns->list == NULL || (counted && patterns->used == NULL))
        return no_memory(reading);
    for (const struct tdc_yaml *at = first_text(value); at != NULL; at = next_text(value, at)) {
        if (at->kind != TDC_YAML_SCALAR || at->is_null)
            return mistake(reading, at->line, "%s", "a pattern is expected");
        const char *problem = NULL;
        struct tdc_pattern *pattern = tdc_pattern_new(arena, at->text, &problem);
        if (pattern == NULL)
            return problem != NULL ? mistake(reading, at->line, "%s", problem) : no_memory(reading);
        patterns->list[patterns->count++] = pattern;
    }
    return TDC_OK;
}

/* Bits of the names in a text or list. */
static tdc_status read_names(const struct reading *reading, const struct tdc_yaml *value,
                             const char *const *names, int count, unsigned *bits)
{
    for (const struct tdc_yaml *at = first_text(value); at != NULL; at = next_text(value, at)) {
        int found = 0;
        while (found < count &&
               (at->kind != TDC_YAML_SCALAR || at->is_null || strcmp(names[found], at->text) != 0))
            found++;
        if (found == count)
            return mistake(reading, at->line, "'%s' is not known",
                           at->kind == TDC_YAML_SCALAR ? at->text : "a list");
        *bits |= 1u << found;
    }
    return TDC_OK;
}

static tdc_status read_pass(const struct reading *reading, const struct tdc_yaml *value,
                            struct tdc_user_rule *rule)
{
    struct tdc_error why = {0};
    if (value->kind != TDC_YAML_SCALAR || value->is_null)
        return mistake(reading, value->line, "cannot read the predicate '%s'", "");
    struct tdc_arena *arena = &reading->tolerance->arena;
    rule->text = tdc_arena_text(arena, value->text, strlen(value->text));
    rule->pass = rule->text != NULL ? tdc_predicate_read(rule->text, arena, &why) : NULL;
    if (rule->pass != NULL)
        return TDC_OK;
    return why.status == TDC_ERR_ARGUMENT ? mistake(reading, value->line, "%s", why.message)
                                          : no_memory(reading);
}

static tdc_status read_rule(const struct reading *reading, const struct tdc_yaml *value,
                            struct tdc_user_rule *rule)
{
    if (value->kind != TDC_YAML_MAP)
        return mistake(reading, value->line, "%s", "this rule needs 'pass'");
    tdc_status status = TDC_OK;
    for (const struct tdc_yaml *at = value->child; at != NULL && status == TDC_OK; at = at->next) {
        if (strcmp(at->key, "name") == 0)
            status = read_patterns(reading, at, false, &rule->names);
        else if (strcmp(at->key, "kind") == 0)
            status = read_names(reading, at, tdc_row_kind_names, TDC_ROW_KINDS, &rule->kinds);
        else if (strcmp(at->key, "dtype") == 0)
            status = read_names(reading, at, tdc_row_type_names, TDC_ROW_TYPES, &rule->types);
        else if (strcmp(at->key, "pass") == 0)
            status = read_pass(reading, at, rule);
        else
            status = mistake(reading, at->key_line, "'%s' is not known", at->key);
    }
    if (status == TDC_OK && rule->pass == NULL)
        status = mistake(reading, value->line, "%s", "this rule needs 'pass'");
    return status;
}

static tdc_status read_rules(const struct reading *reading, const struct tdc_yaml *value)
{
    struct tdc_user_rules *tolerance = reading->tolerance;
    if (value->kind == TDC_YAML_SCALAR && value->is_null)
        return TDC_OK;
    if (value->kind != TDC_YAML_LIST)
        return mistake(reading, value->line, "%s", "'rules' must be a list");
    tolerance->rules =
        tdc_arena_zeroed(&tolerance->arena, value->children + 1, sizeof *tolerance->rules);
    if (tolerance->rules == NULL)
        return no_memory(reading);
    tdc_status status = TDC_OK;
    for (const struct tdc_yaml *at = value->child; at != NULL && status == TDC_OK; at = at->next)
        status = read_rule(reading, at, &tolerance->rules[tolerance->count++]);
    return status;
}

static tdc_status read_file(const struct reading *reading, const struct tdc_yaml *root)
{
    if (root == NULL)
        return TDC_OK;
    if (root->kind != TDC_YAML_MAP)
        return mistake(reading, root->line, "%s", "a map with 'rules' is expected");
    tdc_status status = TDC_OK;
    for (const struct tdc_yaml *at = root->child; at != NULL && status == TDC_OK; at = at->next) {
        int list = 0;
        while (list < TDC_TOLERANCE_LISTS && strcmp(at->key, tdc_tolerance_list_names[list]) != 0)
            list++;
        if (list < TDC_TOLERANCE_LISTS)
            status = read_patterns(reading, at, true, &reading->tolerance->lists[list]);
        else if (strcmp(at->key, "rules") == 0)
            status = read_rules(reading, at);
        else if (strcmp(at->key, "version") != 0)
            status = mistake(reading, at->key_line, "'%s' is not known", at->key);
        else if (at->kind != TDC_YAML_SCALAR || strcmp(at->text, "1") != 0)
            status = mistake(reading, at->line, "version %s is not known",
                             at->kind == TDC_YAML_SCALAR ? at->text : "");
    }
    return status;
}

/* From a file, or from bytes that are not NULL. */
static tdc_status load(const char *name, const char *bytes, size_t size,
                       struct tdc_user_rules **tolerance, struct tdc_error *error)
{
    *tolerance = NULL;
    struct tdc_user_rules *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_arena_init(&made->arena, FILE_LIMIT);
    struct reading reading = {name, made, error};
    struct tdc_yaml *root = NULL;
    tdc_status status = bytes != NULL
                            ? tdc_yaml_parse(bytes, size, name, &made->arena, &root, error)
                            : tdc_yaml_load(name, &made->arena, &root, error);
    if (status == TDC_OK)
        status = read_file(&reading, root);
    if (status == TDC_OK)
        *tolerance = made;
    else
        tdc_user_rules_free(made);
    return status;
}

tdc_status tdc_user_rules_load(const char *path, struct tdc_user_rules **tolerance,
                               struct tdc_error *error)
{
    return load(path, NULL, 0, tolerance, error);
}

tdc_status tdc_user_rules_parse(const char *bytes, size_t size, const char *name,
                                struct tdc_user_rules **tolerance, struct tdc_error *error)
{
    return load(name, bytes != NULL ? bytes : "", size, tolerance, error);
}

static void free_patterns(struct tdc_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        tdc_pattern_free(patterns->list[i]);
}

void tdc_user_rules_free(struct tdc_user_rules *tolerance)
{
    if (tolerance == NULL)
        return;
    for (size_t i = 0; i < tolerance->count; i++)
        free_patterns(&tolerance->rules[i].names);
    for (int i = 0; i < TDC_TOLERANCE_LISTS; i++)
        free_patterns(&tolerance->lists[i]);
    tdc_arena_free(&tolerance->arena);
    free(tolerance);
}
