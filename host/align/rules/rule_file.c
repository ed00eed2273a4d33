/* rule_file.c - the top level of a rule file, and the files it uses. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/align/rules/rules.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/storage_calls.h"

#define RULES_LIMIT ((size_t)1 << 30)
/* Files that use files. */
#define MOST_DEPTH 16

/* One file of the chain of those that use each other. */
struct using
{
    const char *name; /* a preset's, or a path */
    bool preset;
    const struct using *outer;
    unsigned depth;
};

tdc_status tdc_rule_fail(struct tdc_error *error, struct tdc_rule_place place, const char *format,
                         ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tdc_fail(error, TDC_ERR_ARGUMENT, "%s:%u: %s", place.file, place.line, text);
}

tdc_status tdc_rules_no_memory(const struct tdc_rule_reading *reading)
{
    return tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->file);
}

tdc_status tdc_rules_unknown_key(const struct tdc_rule_reading *reading,
                                 const struct tdc_yaml *node)
{
    return tdc_rule_fail(reading->error, tdc_rules_place(reading, node->key_line),
                         "'%.200s' is not known", node->key);
}

tdc_status tdc_rules_wrong_kind(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                                const char *needs)
{
    return tdc_rule_fail(reading->error, tdc_rules_place(reading, node->line), "'%.200s' needs %s",
                         node->key != NULL ? node->key : "-", needs);
}

/* ---- let ------------------------------------------------------------------------------------- */

static bool read_number(const char *text, int64_t *number)
{
    bool negative = text[0] == '-';
    if (!tdc_digits_value(text + negative, strlen(text + negative), number))
        return false;
    *number = negative ? -*number : *number;
    return true;
}

tdc_status tdc_rules_read_numbers(const struct tdc_rule_reading *reading,
                                  const struct tdc_yaml *node, const int64_t **numbers,
                                  size_t *count)
{
    bool single = node->kind == TDC_YAML_SCALAR;
    size_t room = single ? 1 : node->children;
    int64_t *kept = tdc_arena_zeroed(&reading->rules->arena, room + 1, sizeof *kept);
    if (kept == NULL)
        return tdc_rules_no_memory(reading);
    *count = 0;
    const struct tdc_yaml *item = single ? node : node->child;
    for (; item != NULL; item = single ? NULL : item->next)
        if (node->kind == TDC_YAML_MAP || !tdc_yaml_is_text(item) ||
            !read_number(item->text, &kept[(*count)++]))
            return tdc_rules_wrong_kind(reading, node, "whole numbers");
    *numbers = kept;
    return TDC_OK;
}

static tdc_status add_let(const struct tdc_rule_reading *reading, const struct tdc_yaml *node)
{
    struct tdc_align_rules *rules = reading->rules;
    if (rules->let_count == rules->let_room) {
        size_t room = rules->let_room * 2 + 16;
        struct tdc_let *lets = tdc_arena_zeroed(&rules->arena, room, sizeof *lets);
        if (lets == NULL)
            return tdc_rules_no_memory(reading);
        if (rules->let_count != 0)
            memcpy(lets, rules->lets, rules->let_count * sizeof *lets);
        rules->lets = lets;
        rules->let_room = room;
    }
    struct tdc_let *let = &rules->lets[rules->let_count];
    *let = (struct tdc_let){.name = node->key, .is_list = node->kind == TDC_YAML_LIST};
    tdc_status status = tdc_rules_read_numbers(reading, node, &let->values, &let->count);
    rules->let_count += status == TDC_OK;
    return status;
}

static tdc_status read_lets(const struct tdc_rule_reading *reading, const struct tdc_yaml *lets)
{
    tdc_status status = TDC_OK;
    if (lets->kind != TDC_YAML_MAP && !lets->is_null)
        return tdc_rules_wrong_kind(reading, lets, "names with numbers");
    for (const struct tdc_yaml *node = lets->child; node != NULL && status == TDC_OK;
         node = node->next)
        status = add_let(reading, node);
    return status;
}

const struct tdc_let *tdc_align_let(const struct tdc_align_rules *rules, const char *name,
                                    size_t length)
{
    for (size_t i = 0; i < rules->let_count; i++)
        if (strlen(rules->lets[i].name) == length && memcmp(rules->lets[i].name, name, length) == 0)
            return &rules->lets[i];
    return NULL;
}

/* ---- one file -------------------------------------------------------------------------------- */

/* What a file gives, apart from what it uses: its own comes first. */
struct own_rules {
    const struct tdc_yaml *use;
    const struct tdc_rule_tensor *first, **end;
};

static tdc_status read_rest(const struct tdc_rule_reading *reading, const struct tdc_yaml *node)
{
    static const char *const words[] = {"report", "compare", "ignore"};
    for (int i = 0; i < 3; i++)
        if (tdc_yaml_is_text(node) && strcmp(node->text, words[i]) == 0) {
            reading->rules->rest = (enum tdc_rest)i;
            reading->rules->rest_place = tdc_rules_place(reading, node->line);
            return TDC_OK;
        }
    return tdc_rules_wrong_kind(reading, node, "report, compare or ignore");
}

static tdc_status read_version(const struct tdc_rule_reading *reading, const struct tdc_yaml *node)
{
    if (tdc_yaml_is_text(node) && strcmp(node->text, "1") == 0)
        return TDC_OK;
    return tdc_rule_fail(reading->error, tdc_rules_place(reading, node->line),
                         "version %.100s is not known",
                         node->kind == TDC_YAML_SCALAR ? node->text : "[...]");
}

static int side_of(const char *key)
{
    return key[0] >= 'a' && key[0] <= 'c' && key[1] == '\0' ? key[0] - 'a' : -1;
}

static tdc_status read_member(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                              struct own_rules *own, bool outermost)
{
    int side = side_of(node->key);
    if (strcmp(node->key, "version") == 0)
        return read_version(reading, node);
    if (side >= 0) {
        struct tdc_rule_side unused = {0};
        reading->rules->side_given[side] |= outermost;
        return tdc_rules_read_side(reading, node,
                                   outermost ? &reading->rules->sides[side] : &unused);
    }
    if (strcmp(node->key, "rest") == 0)
        return outermost ? read_rest(reading, node) : TDC_OK;
    if (strcmp(node->key, "tensors") == 0)
        return tdc_rules_read_tensors(reading, node, &own->end);
    if (strcmp(node->key, "use") == 0) {
        own->use = node;
        return node->kind == TDC_YAML_LIST || tdc_yaml_is_text(node) || node->is_null
                   ? TDC_OK
                   : tdc_rules_wrong_kind(reading, node, "a list of presets or files");
    }
    if (strcmp(node->key, "let") == 0)
        return read_lets(reading, node);
    return tdc_rules_unknown_key(reading, node);
}

static tdc_status read_file(const struct tdc_rule_reading *reading, const struct tdc_yaml *root,
                            const struct using *using, const struct tdc_rule_tensor ***end);

/* Files are relative to the one that uses them. */
static char *path_beside(const struct using *using, const char *name)
{
    const char *slash = using->preset ? NULL : strrchr(using->name, '/');
    size_t folder = slash != NULL && name[0] != '/' ? (size_t)(slash - using->name) + 1 : 0;
    char *path = malloc(folder + strlen(name) + 1);
    if (path != NULL) {
        memcpy(path, using->name, folder);
        strcpy(path + folder, name);
    }
    return path;
}

static tdc_status load_root(const struct tdc_rule_reading *reading, const struct using *used,
                            struct tdc_yaml **root)
{
    struct tdc_error problem = {0};
    const char *text = used->preset ? tdc_preset_text(used->name) : NULL;
    tdc_status status = text != NULL
                            ? tdc_yaml_parse(text, strlen(text), reading->file,
                                             &reading->rules->arena, root, &problem)
                            : tdc_yaml_load(used->name, &reading->rules->arena, root, &problem);
    if (status == TDC_OK)
        return TDC_OK;
    return tdc_fail(reading->error, status == TDC_ERR_MEMORY ? status : TDC_ERR_ARGUMENT, "%s",
                    problem.message);
}

/* Whether a preset or file is the one that is being read; files are one by whatever path. */
static bool is_same(const struct using *using, const char *name, bool file)
{
    struct stat one, other;
    if (using->preset == file)
        return false;
    if (strcmp(using->name, name) == 0)
        return true;
    return file && tdc_storage_stat(using->name, &one) == 0 &&
           tdc_storage_stat(name, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static tdc_status read_used(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                            const struct using *outer, const struct tdc_rule_tensor ***end)
{
    struct tdc_rule_place place = tdc_rules_place(reading, node->line);
    if (!tdc_yaml_is_text(node))
        return tdc_rule_fail(reading->error, place, "'use' needs names of presets or files");
    bool file = strchr(node->text, '/') != NULL || tdc_ends_in(node->text, ".yaml");
    if (!file && tdc_preset_text(node->text) == NULL)
        return tdc_rule_fail(reading->error, place, "preset '%.200s' is not known", node->text);
    char *path = file ? path_beside(outer, node->text) : strdup(node->text);
    if (path == NULL)
        return tdc_rules_no_memory(reading);
    const char *name = tdc_arena_text(&reading->rules->arena, path, strlen(path));
    free(path);
    struct tdc_text shown;
    tdc_text_init(&shown, (size_t)1 << 16);
    tdc_text_addf(&shown, "%s%s", file ? "" : "preset ", name != NULL ? name : "");
    const char *kept = tdc_arena_text(&reading->rules->arena, tdc_text_get(&shown), shown.length);
    tdc_text_free(&shown);
    if (name == NULL || kept == NULL)
        return tdc_rules_no_memory(reading);
    for (const struct using *at = outer; at != NULL; at = at->outer)
        if (is_same(at, name, file) || at->depth == MOST_DEPTH)
            return tdc_rule_fail(reading->error, place, "preset '%.200s' uses itself", node->text);
    struct using used = {name, !file, outer, outer != NULL ? outer->depth + 1 : 1};
    struct tdc_rule_reading inner = {reading->rules, kept, reading->error};
    struct tdc_yaml *root = NULL;
    tdc_status status = load_root(&inner, &used, &root);
    return status == TDC_OK ? read_file(&inner, root, &used, end) : status;
}

/* Of two used files the later one's lets win: they are read last to first. Tensors keep the order
 * of the list, so each file's are put in front of those that were read before. */
static tdc_status read_all_used(const struct tdc_rule_reading *reading, const struct tdc_yaml *use,
                                const struct using *using, const struct tdc_rule_tensor ***end)
{
    const struct tdc_yaml *items[64];
    size_t count = 0;
    if (use == NULL || use->is_null)
        return TDC_OK;
    if (use->kind == TDC_YAML_SCALAR)
        items[count++] = use;
    for (const struct tdc_yaml *node = use->child; node != NULL; node = node->next) {
        if (count == sizeof items / sizeof *items)
            return tdc_rule_fail(reading->error, tdc_rules_place(reading, node->line),
                                 "more than 64 files are used");
        items[count++] = node;
    }
    const struct tdc_rule_tensor *behind = NULL;
    const struct tdc_rule_tensor **last = *end;
    tdc_status status = TDC_OK;
    for (size_t i = count; i-- > 0 && status == TDC_OK;) {
        const struct tdc_rule_tensor *first = NULL, **first_end = &first;
        status = read_used(reading, items[i], using, &first_end);
        if (behind == NULL && first != NULL)
            last = first_end;
        *first_end = behind;
        behind = first;
    }
    **end = behind;
    if (behind != NULL)
        *end = last;
    return status;
}

static tdc_status read_file(const struct tdc_rule_reading *reading, const struct tdc_yaml *root,
                            const struct using *using, const struct tdc_rule_tensor ***end)
{
    struct own_rules own = {0};
    own.end = &own.first;
    tdc_status status = TDC_OK;
    if (root != NULL && root->kind != TDC_YAML_MAP && !root->is_null)
        return tdc_rule_fail(reading->error, tdc_rules_place(reading, root->line),
                             "a rule file is a map");
    for (const struct tdc_yaml *node = root != NULL ? root->child : NULL;
         node != NULL && status == TDC_OK; node = node->next)
        status = read_member(reading, node, &own, using->outer == NULL);
    **end = own.first;
    if (own.first != NULL)
        *end = own.end;
    if (status == TDC_OK)
        status = read_all_used(reading, own.use, using, end);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

void tdc_align_rules_init(struct tdc_align_rules *rules)
{
    *rules = (struct tdc_align_rules){0};
    tdc_arena_init(&rules->arena, RULES_LIMIT);
}

void tdc_align_rules_free(struct tdc_align_rules *rules)
{
    for (size_t i = 0; i < rules->pattern_count; i++)
        tdc_pattern_free(rules->patterns[i]);
    free(rules->patterns);
    tdc_arena_free(&rules->arena);
    rules->patterns = NULL;
    rules->pattern_count = 0;
}

tdc_status tdc_align_rules_load(const char *path, struct tdc_align_rules *rules,
                                struct tdc_error *error)
{
    tdc_align_rules_init(rules);
    bool preset = tdc_preset_text(path) != NULL;
    struct tdc_rule_reading reading = {rules, path, error};
    struct using using = {path, preset, NULL, 0};
    struct tdc_text shown;
    tdc_text_init(&shown, (size_t)1 << 16);
    tdc_text_addf(&shown, "%s%s", preset ? "preset " : "", path);
    reading.file = tdc_arena_text(&rules->arena, tdc_text_get(&shown), shown.length);
    tdc_text_free(&shown);
    if (reading.file == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    struct tdc_yaml *root = NULL;
    const struct tdc_rule_tensor **end = &rules->tensors;
    tdc_status status = load_root(&reading, &using, &root);
    return status == TDC_OK ? read_file(&reading, root, &using, &end) : status;
}

tdc_status tdc_align_rules_parse(const char *bytes, size_t size, const char *name,
                                 struct tdc_align_rules *rules, struct tdc_error *error)
{
    tdc_align_rules_init(rules);
    struct tdc_rule_reading reading = {rules, name, error};
    struct using using = {name, false, NULL, MOST_DEPTH};
    struct tdc_yaml *root = NULL;
    const struct tdc_rule_tensor **end = &rules->tensors;
    tdc_status status = tdc_yaml_parse(bytes, size, name, &rules->arena, &root, error);
    return status == TDC_OK ? read_file(&reading, root, &using, &end) : status;
}
