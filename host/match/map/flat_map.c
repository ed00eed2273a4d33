#include "host/match/map/flat_map.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

#define REPORTED 10

static tdc_status collect(struct tdc_flat_map *map, const struct tdc_yaml *root,
                          struct tdc_arena *arena, struct tdc_error *error)
{
    map->entries = tdc_arena_zeroed(arena, root->children + 1, sizeof *map->entries);
    map->used = tdc_arena_zeroed(arena, root->children + 1, sizeof *map->used);
    if (map->entries == NULL || map->used == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", map->path);
    for (const struct tdc_yaml *entry = root->child; entry != NULL; entry = entry->next) {
        bool fresh;
        if (entry->kind != TDC_YAML_SCALAR || entry->is_null)
            return tdc_fail(error, TDC_ERR_FORMAT, "%s:%u: '%.200s' must be mapped to one name",
                            map->path, entry->line, entry->key);
        uint32_t number = tdc_names_put(&map->names, entry->key, strlen(entry->key), &fresh);
        if (number == TDC_NAME_NONE)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", map->path);
        map->entries[number] = entry;
    }
    return TDC_OK;
}

static tdc_status take(struct tdc_flat_map *map, const struct tdc_yaml *root, const char *form,
                       struct tdc_arena *arena, struct tdc_error *error)
{
    if (root == NULL || root->is_null)
        return TDC_OK;
    if (root->kind != TDC_YAML_MAP)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s:%u: expected lines '%s'", map->path, root->line,
                        form);
    return collect(map, root, arena, error);
}

static void start(struct tdc_flat_map *map, const char *path)
{
    *map = (struct tdc_flat_map){.path = path};
    tdc_names_init(&map->names);
}

tdc_status tdc_flat_map_load(struct tdc_flat_map *map, const char *path, const char *form,
                             struct tdc_arena *arena, struct tdc_error *error)
{
    start(map, path);
    if (path == NULL)
        return TDC_OK;
    struct tdc_yaml *root;
    tdc_status status = tdc_yaml_load(path, arena, &root, error);
    return status == TDC_OK ? take(map, root, form, arena, error) : status;
}

tdc_status tdc_flat_map_parse(struct tdc_flat_map *map, const char *text, const char *name,
                              const char *form, struct tdc_arena *arena, struct tdc_error *error)
{
    start(map, name);
    struct tdc_yaml *root;
    tdc_status status = tdc_yaml_parse(text, strlen(text), name, arena, &root, error);
    return status == TDC_OK ? take(map, root, form, arena, error) : status;
}

void tdc_flat_map_free(struct tdc_flat_map *map)
{
    tdc_names_free(&map->names);
}

const struct tdc_yaml *tdc_flat_map_use(struct tdc_flat_map *map, const char *name, size_t length)
{
    uint32_t number = tdc_names_find(&map->names, name, length);
    if (number == TDC_NAME_NONE)
        return NULL;
    map->used[number] = true;
    return map->entries[number];
}

/* Names that several lines lead to. "N/A" stands for no partner and may repeat. */
static void report_twins(const struct tdc_flat_map *map, const struct tdc_options *options)
{
    struct tdc_name_table values;
    tdc_names_init(&values);
    size_t twins = 0;
    unsigned line = 0;
    unsigned *lines = calloc((size_t)map->names.count + 1, sizeof *lines);
    for (uint32_t i = 0; lines != NULL && i < map->names.count; i++) {
        const struct tdc_yaml *entry = map->entries[i];
        bool fresh;
        if (strcmp(entry->text, "N/A") == 0)
            continue;
        uint32_t number = tdc_names_put(&values, entry->text, strlen(entry->text), &fresh);
        if (number == TDC_NAME_NONE)
            break;
        if (fresh) {
            lines[number] = entry->key_line;
            continue;
        }
        line = entry->key_line;
        if (++twins <= REPORTED)
            tdc_map_warn(options, map->path, line, "'%.512s' is used twice, first in line %u",
                         entry->text, lines[number]);
    }
    if (twins > REPORTED)
        tdc_map_warn(options, map->path, line, "the last of %zu more names used twice",
                     twins - REPORTED);
    free(lines);
    tdc_names_free(&values);
}

void tdc_flat_map_report(const struct tdc_flat_map *map, const char *what,
                         const struct tdc_options *options)
{
    size_t unknown = 0;
    unsigned line = 0;
    for (uint32_t i = 0; i < map->names.count; i++) {
        if (map->used[i])
            continue;
        line = map->entries[i]->key_line;
        if (++unknown <= REPORTED)
            tdc_map_warn(options, map->path, line, "no %s is called '%.512s'", what,
                         map->entries[i]->key);
    }
    if (unknown > REPORTED)
        tdc_map_warn(options, map->path, line, "the last of %zu more names that fit no %s",
                     unknown - REPORTED, what);
    report_twins(map, options);
}
