#include "host/analysis/module_path.h"

#include <stdlib.h>
#include <string.h>

#include "host/dump/members.h"
#include "io/base/error.h"
#include "io/base/name_table.h"

#define PATHS_LIMIT ((size_t)8 << 30)

struct tdc_module_paths {
    struct tdc_arena arena;
    struct tdc_name_table names;
    uint32_t *parents; /* by name, TDC_NAME_NONE: none */
    size_t capacity;
};

static uint32_t intern(struct tdc_module_paths *paths, const char *text, size_t length)
{
    uint32_t number = tdc_names_find(&paths->names, text, length);
    if (number != TDC_NAME_NONE)
        return number;
    bool fresh;
    char *kept = tdc_arena_text(&paths->arena, text, length);
    number = kept != NULL ? tdc_names_put(&paths->names, kept, length, &fresh) : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE)
        return number;
    if (number >= paths->capacity) {
        size_t more = paths->capacity != 0 ? 2 * paths->capacity : 1024;
        uint32_t *grown = realloc(paths->parents, more * sizeof *grown);
        if (grown == NULL)
            return TDC_NAME_NONE;
        paths->parents = grown;
        paths->capacity = more;
    }
    paths->parents[number] = TDC_NAME_NONE;
    return number;
}

static tdc_status note_parent(void *context, const char *key, size_t length,
                              const struct tdc_json *value)
{
    struct tdc_module_paths *paths = context;
    const struct tdc_json *parent = value->kind == TDC_JSON_LIST ? value->child : value;
    uint32_t child = intern(paths, key, length), number = TDC_NAME_NONE;
    if (child == TDC_NAME_NONE)
        return TDC_ERR_MEMORY;
    if (parent != NULL && parent->kind == TDC_JSON_STRING && parent->length != 0) {
        number = intern(paths, parent->text, parent->length);
        if (number == TDC_NAME_NONE)
            return TDC_ERR_MEMORY;
    }
    paths->parents[child] = number;
    return TDC_OK;
}

tdc_status tdc_module_paths_load(const char *path, struct tdc_module_paths **paths,
                                 struct tdc_error *error)
{
    *paths = calloc(1, sizeof **paths);
    if (*paths == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    tdc_arena_init(&(*paths)->arena, PATHS_LIMIT);
    tdc_names_init(&(*paths)->names);
    const struct tdc_members members = {.visit = note_parent, .context = *paths};
    tdc_status status = tdc_members_walk(path, &members, error);
    if (status == TDC_ERR_MEMORY)
        tdc_fail(error, status, "%s: out of memory for its names", path);
    if (status != TDC_OK) {
        tdc_module_paths_free(*paths);
        *paths = NULL;
    }
    return status;
}

void tdc_module_paths_free(struct tdc_module_paths *paths)
{
    if (paths == NULL)
        return;
    tdc_names_free(&paths->names);
    tdc_arena_free(&paths->arena);
    free(paths->parents);
    free(paths);
}

size_t tdc_module_path(const struct tdc_module_paths *paths, const char *name,
                       const char *parents[TDC_MODULE_DEPTH], bool *cycle)
{
    size_t count = 0;
    uint32_t numbers[TDC_MODULE_DEPTH];
    *cycle = false;
    uint32_t at = tdc_names_find(&paths->names, name, strlen(name));
    at = at != TDC_NAME_NONE ? paths->parents[at] : at;
    for (; at != TDC_NAME_NONE && count < TDC_MODULE_DEPTH; at = paths->parents[at]) {
        for (size_t i = 0; i < count; i++)
            if (numbers[i] == at)
                *cycle = true;
        if (*cycle)
            break;
        numbers[count] = at;
        parents[count++] = paths->names.keys[at].text;
    }
    return count;
}
