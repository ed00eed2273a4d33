/* stacks.c - call stacks from stack.json, in both layouts (spec 2.5). */
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "host/dump/items.h"
#include "io/error.h"
#include "io/file_map.h"
#include "io/json.h"
#include "io/mapping_guard.h"
#include "io/pytext.h"

#define STACKS_LIMIT ((size_t)16 << 30)
#define MEMBER_LIMIT ((size_t)1 << 30)
#define LIST_LIMIT   ((size_t)1 << 24)

struct loading {
    const struct tdc_file_map *map;
    const char *path;
    struct tdc_stacks *stacks;
    struct tdc_arena scratch;
    struct tdc_text text;
    bool grouped;
    struct tdc_error *error;
    tdc_status status;
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

/* {"0": [[api, ...], [line, ...]], ...}: other members are passed over. */
static tdc_status add_group(struct loading *loading, const struct tdc_json *group)
{
    if (group->kind != TDC_JSON_LIST || group->children != 2 || group->child->kind != TDC_JSON_LIST)
        return TDC_OK;
    struct tdc_stack stack;
    tdc_status status = describe(loading, group->child->next, &stack);
    for (const struct tdc_json *api = group->child->child; api != NULL && status == TDC_OK;
         api = api->next)
        if (api->kind == TDC_JSON_STRING)
            status = add(loading, api->text, api->length, &stack);
    return status;
}

static tdc_status add_member(struct loading *loading, const char *key, size_t length,
                             const struct tdc_json *value)
{
    if (loading->grouped)
        return add_group(loading, value);
    struct tdc_stack stack;
    tdc_status status = describe(loading, value, &stack);
    return status == TDC_OK ? add(loading, key, length, &stack) : status;
}

/* One walk over all members; with find_layout only the member "0" is looked at. */
static tdc_status walk(struct loading *loading, bool find_layout)
{
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, loading->path, loading->map->data, loading->map->size);
    tdc_status status = tdc_json_enter(&cursor, loading->error);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        tdc_arena_reset(&loading->scratch);
        status = tdc_json_member(&cursor, &first, &loading->scratch, &key, &length, loading->error);
        if (status != TDC_OK || key == NULL)
            break;
        if (find_layout && strcmp(key, "0") != 0) {
            status = tdc_json_skip(&cursor, loading->error);
            continue;
        }
        struct tdc_json *value;
        status = tdc_json_read(&cursor, &loading->scratch, &value, loading->error);
        if (status != TDC_OK)
            break;
        if (find_layout)
            loading->grouped = tdc_json_truthy(value);
        else
            status = add_member(loading, key, length, value);
    }
    return status == TDC_OK ? tdc_json_finish(&cursor, loading->error) : status;
}

static void parse(void *argument)
{
    struct loading *loading = argument;
    loading->status = walk(loading, true);
    if (loading->status == TDC_OK)
        loading->status = walk(loading, false);
}

tdc_status tdc_stacks_load(const char *path, struct tdc_stacks **stacks, struct tdc_error *error)
{
    *stacks = NULL;
    struct tdc_file_map map;
    tdc_status status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    struct loading loading = {.map = &map, .path = path, .error = error};
    loading.stacks = calloc(1, sizeof *loading.stacks);
    tdc_arena_init(&loading.scratch, MEMBER_LIMIT);
    tdc_text_init(&loading.text, LIST_LIMIT);
    if (loading.stacks == NULL) {
        loading.status = out_of_memory(&loading);
    } else {
        tdc_arena_init(&loading.stacks->arena, STACKS_LIMIT);
        tdc_names_init(&loading.stacks->names);
        if (!tdc_guard_begin()) {
            loading.status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
        } else {
            if (!tdc_guarded_read(parse, &loading))
                loading.status =
                    tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
            tdc_guard_end();
        }
    }
    tdc_text_free(&loading.text);
    tdc_arena_free(&loading.scratch);
    tdc_file_map_close(&map);
    if (loading.status != TDC_OK) {
        tdc_stacks_free(loading.stacks);
        return loading.status;
    }
    *stacks = loading.stacks;
    return TDC_OK;
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
