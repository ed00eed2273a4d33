#include "host/analysis/first_difference/stack_lines.h"

#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "io/base/error.h"
#include "io/text/json_write.h"

#define LINES_LIMIT ((size_t)8 << 30)
#define LIST_LIMIT  ((size_t)1 << 28)

struct tdc_stack_lines {
    struct tdc_arena arena;
    struct tdc_name_table names;
    const char **texts; /* by number of the name */
    size_t capacity;
    int indent, depth;
    struct tdc_text text; /* scratch */
    const char *shared;   /* of the group being visited */
};

static const char *as_json(struct tdc_stack_lines *lines, const struct tdc_json *list)
{
    tdc_text_clear(&lines->text);
    tdc_json_put_tree(&lines->text, list, lines->indent, lines->depth);
    return lines->text.failed
               ? NULL
               : tdc_arena_text(&lines->arena, tdc_text_get(&lines->text), lines->text.length);
}

static bool make_room(struct tdc_stack_lines *lines, uint32_t number)
{
    if (number < lines->capacity)
        return true;
    size_t more = lines->capacity != 0 ? 2 * lines->capacity : 1024;
    const char **grown = realloc(lines->texts, more * sizeof *grown);
    if (grown == NULL)
        return false;
    lines->texts = grown;
    lines->capacity = more;
    return true;
}

static tdc_status note(void *context, const char *entry, size_t length, const struct tdc_json *list,
                       long position)
{
    struct tdc_stack_lines *lines = context;
    if (position <= 0)
        lines->shared = as_json(lines, list);
    char *name = tdc_arena_text(&lines->arena, entry, length);
    bool fresh;
    uint32_t number =
        name != NULL ? tdc_names_put(&lines->names, name, length, &fresh) : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE || lines->shared == NULL || !make_room(lines, number))
        return TDC_ERR_MEMORY;
    lines->texts[number] = lines->shared;
    return TDC_OK;
}

tdc_status tdc_stack_lines_load(const char *path, int indent, int depth,
                                struct tdc_stack_lines **lines, struct tdc_error *error)
{
    struct tdc_stack_lines *made = *lines = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    made->indent = indent;
    made->depth = depth;
    tdc_arena_init(&made->arena, LINES_LIMIT);
    tdc_text_init(&made->text, LIST_LIMIT);
    tdc_names_init(&made->names);
    tdc_status status = tdc_stacks_walk(path, note, made, error);
    if (status == TDC_ERR_MEMORY)
        tdc_fail(error, status, "%s: out of memory for its lines", path);
    if (status != TDC_OK) {
        tdc_stack_lines_free(made);
        *lines = NULL;
    }
    return status;
}

void tdc_stack_lines_free(struct tdc_stack_lines *lines)
{
    if (lines == NULL)
        return;
    tdc_names_free(&lines->names);
    tdc_text_free(&lines->text);
    tdc_arena_free(&lines->arena);
    free(lines->texts);
    free(lines);
}

const char *tdc_stack_lines_find(const struct tdc_stack_lines *lines, const char *name)
{
    uint32_t number = tdc_names_find(&lines->names, name, strlen(name));
    return number != TDC_NAME_NONE ? lines->texts[number] : NULL;
}
