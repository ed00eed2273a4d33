/* stacks.c - call stacks from stack.json, in both layouts (docs/msprobe.md#call-stacks). */
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "host/dump/python_value.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/text/json.h"
#include "io/file/mapping_guard.h"
#include "io/text/pytext.h"

#define STACKS_LIMIT ((size_t)16 << 30)
#define MEMBER_LIMIT ((size_t)1 << 30)
#define LIST_LIMIT   ((size_t)1 << 24)

/* ---- walking --------------------------------------------------------------------------------- */

struct walking {
    const struct tdc_file_map *map;
    const char *path;
    struct tdc_arena scratch;
    bool grouped;
    tdc_stack_visit visit;
    void *context;
    struct tdc_error *error;
    tdc_status status;
};

/* {"0": [[api, ...], [line, ...]], ...}: other members are passed over. */
static tdc_status visit_group(struct walking *walking, const struct tdc_json *group)
{
    if (group->kind != TDC_JSON_LIST || group->children != 2 || group->child->kind != TDC_JSON_LIST)
        return TDC_OK;
    tdc_status status = TDC_OK;
    long position = 0;
    for (const struct tdc_json *api = group->child->child; api != NULL && status == TDC_OK;
         api = api->next)
        if (api->kind == TDC_JSON_STRING)
            status = walking->visit(walking->context, api->text, api->length, group->child->next,
                                    position++);
    return status;
}

static tdc_status visit_member(struct walking *walking, const char *key, size_t length,
                               const struct tdc_json *value)
{
    return walking->grouped ? visit_group(walking, value)
                            : walking->visit(walking->context, key, length, value, -1);
}

/* One walk over all members; with find_layout only the member "0" is looked at. */
static tdc_status walk(struct walking *walking, bool find_layout)
{
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, walking->path, walking->map->data, walking->map->size);
    tdc_status status = tdc_json_enter(&cursor, walking->error);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        tdc_arena_reset(&walking->scratch);
        status = tdc_json_member(&cursor, &first, &walking->scratch, &key, &length, walking->error);
        if (status != TDC_OK || key == NULL)
            break;
        if (find_layout && strcmp(key, "0") != 0) {
            status = tdc_json_skip(&cursor, walking->error);
            continue;
        }
        struct tdc_json *value;
        status = tdc_json_read(&cursor, &walking->scratch, &value, walking->error);
        if (status != TDC_OK)
            break;
        if (find_layout)
            walking->grouped = tdc_json_truthy(value);
        else
            status = visit_member(walking, key, length, value);
    }
    return status == TDC_OK ? tdc_json_finish(&cursor, walking->error) : status;
}

static void parse(void *argument)
{
    struct walking *walking = argument;
    walking->status = walk(walking, true);
    if (walking->status == TDC_OK)
        walking->status = walk(walking, false);
}

tdc_status tdc_stacks_walk_bytes(const char *path, const struct tdc_file_map *bytes,
                                 tdc_stack_visit visit, void *context, struct tdc_error *error)
{
    struct tdc_file_map map = {0};
    tdc_status status = TDC_OK;
    if (bytes != NULL)
        map = *bytes;
    else
        status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    struct walking walking = {
        .map = &map, .path = path, .visit = visit, .context = context, .error = error};
    tdc_arena_init(&walking.scratch, MEMBER_LIMIT);
    if (!tdc_guard_begin()) {
        walking.status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else {
        if (!tdc_guarded_read(parse, &walking))
            walking.status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
        tdc_guard_end();
    }
    tdc_arena_free(&walking.scratch);
    if (bytes == NULL)
        tdc_file_map_close(&map);
    return walking.status;
}

tdc_status tdc_stacks_walk(const char *path, tdc_stack_visit visit, void *context,
                           struct tdc_error *error)
{
    return tdc_stacks_walk_bytes(path, NULL, visit, context, error);
}

/* ---- loading --------------------------------------------------------------------------------- */

struct loading {
    const char *path;
    struct tdc_stacks *stacks;
    struct tdc_text text;
    struct tdc_stack shared; /* of the group being visited */
    struct tdc_error *error;
};

static tdc_status out_of_memory(const struct loading *loading)
{
    return tdc_fail(loading->error, TDC_ERR_MEMORY, "%s: out of memory or too large",
                    loading->path);
}

static tdc_status describe(struct loading *loading, const struct tdc_json *lines,
                           struct tdc_stack *stack)
{
    *stack = (struct tdc_stack){0};
    if (lines->kind == TDC_JSON_NULL)
        return TDC_OK;
    stack->not_a_list = lines->kind != TDC_JSON_LIST;
    for (const struct tdc_json *line = lines->child; line != NULL; line = line->next)
        if (line->kind == TDC_JSON_STRING && tdc_runs_as_formula(line->text, line->length))
            stack->special = true;
    tdc_text_clear(&loading->text);
    tdc_pytext_str(&loading->text, lines);
    if (!loading->text.failed)
        stack->list = tdc_arena_text(&loading->stacks->arena, tdc_text_get(&loading->text),
                                     loading->text.length);
    return stack->list == NULL ? out_of_memory(loading) : TDC_OK;
}

static tdc_status add(struct loading *loading, const char *name, size_t length,
                      const struct tdc_stack *stack)
{
    struct tdc_stacks *stacks = loading->stacks;
    const char *copy = tdc_arena_text(&stacks->arena, name, length);
    bool fresh;
    uint32_t number =
        copy == NULL ? TDC_NAME_NONE : tdc_names_put(&stacks->names, copy, length, &fresh);
    if (number == TDC_NAME_NONE)
        return out_of_memory(loading);
    if (number >= stacks->capacity) {
        size_t capacity = stacks->capacity == 0 ? 256 : stacks->capacity * 2;
        struct tdc_stack *grown = realloc(stacks->stacks, capacity * sizeof *grown);
        if (grown == NULL)
            return out_of_memory(loading);
        stacks->stacks = grown;
        stacks->capacity = capacity;
    }
    stacks->stacks[number] = *stack;
    return TDC_OK;
}

static tdc_status load_entry(void *context, const char *entry, size_t length,
                             const struct tdc_json *lines, long position)
{
    struct loading *loading = context;
    tdc_status status = TDC_OK;
    if (position <= 0)
        status = describe(loading, lines, &loading->shared);
    return status == TDC_OK ? add(loading, entry, length, &loading->shared) : status;
}

tdc_status tdc_stacks_load_bytes(const char *path, const struct tdc_file_map *bytes,
                                 struct tdc_stacks **stacks, struct tdc_error *error)
{
    *stacks = NULL;
    struct loading loading = {.path = path, .error = error};
    loading.stacks = calloc(1, sizeof *loading.stacks);
    if (loading.stacks == NULL)
        return out_of_memory(&loading);
    tdc_arena_init(&loading.stacks->arena, STACKS_LIMIT);
    tdc_names_init(&loading.stacks->names);
    tdc_text_init(&loading.text, LIST_LIMIT);
    tdc_status status = tdc_stacks_walk_bytes(path, bytes, load_entry, &loading, error);
    tdc_text_free(&loading.text);
    if (status != TDC_OK) {
        tdc_stacks_free(loading.stacks);
        return status;
    }
    *stacks = loading.stacks;
    return TDC_OK;
}

tdc_status tdc_stacks_load(const char *path, struct tdc_stacks **stacks, struct tdc_error *error)
{
    return tdc_stacks_load_bytes(path, NULL, stacks, error);
}

void tdc_stacks_free(struct tdc_stacks *stacks)
{
    if (stacks == NULL)
        return;
    free(stacks->stacks);
    tdc_names_free(&stacks->names);
    tdc_arena_free(&stacks->arena);
    free(stacks);
}

const struct tdc_stack *tdc_stacks_find(const struct tdc_stacks *stacks, const char *entry)
{
    uint32_t number = tdc_names_find(&stacks->names, entry, strlen(entry));
    return number == TDC_NAME_NONE ? NULL : &stacks->stacks[number];
}
