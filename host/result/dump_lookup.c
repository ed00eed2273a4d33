/* dump_lookup.c - a record of a dump by its name, and its call stack. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "io/base/text.h"
#include "io/text/json.h"

size_t tdc_dump_find_record(const tdc_dump *dump, const char *name)
{
    for (size_t i = 0; i < dump->record_count; i++)
        if (strcmp(dump->records[i].name, name) == 0)
            return i;
    return TDC_NO_RECORD;
}

struct stack_search {
    const char *entry;
    size_t length;
    struct tdc_text *lines;
};

static tdc_status visit(void *context, const char *entry, size_t length,
                        const struct tdc_json *lines, long position)
{
    (void)position;
    struct stack_search *search = context;
    if (length != search->length || memcmp(entry, search->entry, length) != 0 ||
        lines->kind != TDC_JSON_LIST || search->lines->length != 0)
        return TDC_OK;
    for (const struct tdc_json *at = lines->child; at != NULL; at = at->next) {
        if (at->kind != TDC_JSON_STRING)
            continue;
        size_t start = search->lines->length;
        tdc_text_add(search->lines, at->text, at->length);
        /* a frame has its line of code behind a line break */
        for (size_t i = start; i < search->lines->length && !search->lines->failed; i++)
            if (search->lines->data[i] == '\n')
                search->lines->data[i] = ' ';
        tdc_text_addc(search->lines, '\n');
    }
    return TDC_OK;
}

char *tdc_dump_record_stack(const tdc_dump *dump, size_t record)
{
    struct tdc_text lines, path;
    tdc_text_init(&lines, (size_t)1 << 20);
    tdc_text_init(&path, (size_t)1 << 16);
    tdc_text_addf(&path, "%s/stack.json", dump->folder);
    const char *entry = dump->entries[dump->records[record].entry].name;
    struct stack_search search = {entry, strlen(entry), &lines};
    if (!path.failed && !dump->in_memory) /* one that is not there, or broken, has no stack */
        (void)tdc_stacks_walk(tdc_text_get(&path), visit, &search, NULL);
    tdc_text_free(&path);
    char *stack = lines.failed ? NULL : strdup(tdc_text_get(&lines));
    tdc_text_free(&lines);
    return stack;
}
