/* cell_map.c - MindSpore Cells as PyTorch Modules (docs/msprobe.md#cell-mapping). */
#include <string.h>

#include "host/match/map/flat_map.h"
#include "io/base/error.h"

/* Where the name of the cell ends: at ".forward.", ".backward." or ".parameters_grad.". */
static const char *cell_end(const char *name)
{
    static const char *const marks[] = {".forward.", ".backward.", ".parameters_grad."};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(name, marks[i]);
        if (at != NULL && (first == NULL || at < first))
            first = at;
    }
    return first;
}

static bool has_part(const char *name, const char *part)
{
    size_t length = strlen(part);
    for (const char *at = strstr(name, part); at != NULL; at = strstr(at + 1, part))
        if ((at == name || at[-1] == '.') && (at[length] == '.' || at[length] == '\0'))
            return true;
    return false;
}

/* A cell's name with each key of the map that occurs in it replaced once, in the order of the file;
 * NULL when out of memory. */
static const char *replace_parts(struct tdc_match *match, struct tdc_flat_map *map,
                                 const char *cell)
{
    for (uint32_t i = 0; i < map->names.count && cell != NULL; i++) {
        const struct tdc_yaml *rule = map->entries[i];
        if (strstr(cell, rule->key) == NULL)
            continue;
        map->used[i] = true;
        cell = tdc_text_replaced(&match->arena, cell, rule->key, rule->text, true);
    }
    return cell;
}

/* NULL when out of memory. */
static const char *translate(struct tdc_match *match, struct tdc_flat_map *map, const char *name)
{
    bool gradient = has_part(name, "parameters_grad");
    if (!gradient && strstr(name, ".forward.") == NULL && strstr(name, ".backward.") == NULL)
        return "N/A";
    const char *module = tdc_text_replaced(&match->arena, name, "Cell", "Module", true);
    if (module == NULL || map->names.count == 0)
        return module;
    const char *dot = strchr(module, '.');
    const char *start = dot != NULL ? dot + 1 : module;
    const char *end = cell_end(start);
    size_t length = end != NULL ? (size_t)(end - start) : strlen(start);
    const struct tdc_yaml *target = tdc_flat_map_use(map, start, length);
    if (target == NULL && match->rules->cells_by_part) {
        const char *cell = tdc_arena_text(&match->arena, start, length);
        const char *other = cell != NULL ? replace_parts(match, map, cell) : NULL;
        return other == NULL   ? NULL
               : other == cell ? module
                               : tdc_text_replaced(&match->arena, module, cell, other, true);
    }
    if (target == NULL)
        return module;
    return tdc_text_replaced(&match->arena, module, target->key, target->text, true);
}

tdc_status tdc_map_cells(struct tdc_match *match, const char *path, bool leave_others,
                         const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_flat_map map;
    tdc_status status =
        tdc_flat_map_load(&map, path, "cell.Class: module.Class", &match->arena, error);
    for (size_t i = 0; i < match->npu->record_count && status == TDC_OK; i++) {
        const char *name = match->npu->records[i].name;
        if (leave_others && strncmp(name, "Cell.", 5) != 0)
            continue;
        match->keys[i] = translate(match, &map, name);
        match->key_rules[i] = match->keys[i] == name ? TDC_KEY_NAME : TDC_KEY_CELL;
        if (match->keys[i] == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping cells");
    }
    if (status == TDC_OK)
        tdc_flat_map_report(&map, "cell of the test dump", options);
    tdc_flat_map_free(&map);
    return status;
}
