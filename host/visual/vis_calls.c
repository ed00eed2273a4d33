/* vis_calls.c - the calls of dump.json with their items. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/members.h"
#include "host/dump/record_builder.h"
#include "host/visual/vis_graph.h"
#include "io/base/error.h"

struct loading {
    struct tdc_vis_graph *graph;
    struct tdc_error *error;
};

static tdc_status no_memory(const struct loading *loading)
{
    return tdc_fail(loading->error, TDC_ERR_MEMORY, "%s: out of memory or too large",
                    loading->graph->path);
}

/* The type of the first item that has one says the framework where the file does not. */
static void note_type(struct tdc_vis_graph *graph, const struct tdc_vis_items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct tdc_json *type = tdc_json_get(&items->items[i].fields, "type");
        if (type != NULL && type->kind == TDC_JSON_STRING &&
            strncmp(type->text, "mindspore", 9) == 0)
            graph->types_mindspore = true;
    }
}

static tdc_status load_call(void *context, const char *key, size_t length,
                            const struct tdc_json *value)
{
    struct loading *loading = context;
    struct tdc_vis_graph *graph = loading->graph;
    const char *name = tdc_arena_text(&graph->arena, key, length);
    bool fresh;
    uint32_t number =
        name == NULL ? TDC_NAME_NONE : tdc_names_put(&graph->call_names, name, length, &fresh);
    if (number == TDC_NAME_NONE)
        return no_memory(loading);
    if (number >= graph->call_capacity) {
        size_t capacity = graph->call_capacity == 0 ? 256 : graph->call_capacity * 2;
        struct tdc_vis_call *grown = realloc(graph->calls, capacity * sizeof *grown);
        if (grown == NULL)
            return no_memory(loading);
        graph->calls = grown;
        graph->call_capacity = capacity;
    }
    if (!tdc_vis_items_make(&graph->arena, name, value, &graph->calls[number]))
        return no_memory(loading);
    graph->digests |= tdc_entry_has_digest(TDC_DUMP_JSON, value);
    note_type(graph, &graph->calls[number].inputs);
    note_type(graph, &graph->calls[number].outputs);
    return TDC_OK;
}

static tdc_status load_head(void *context, const char *key, size_t length,
                            const struct tdc_json *value)
{
    struct loading *loading = context;
    struct tdc_vis_graph *graph = loading->graph;
    const char **place = strcmp(key, "task") == 0            ? &graph->task
                         : strcmp(key, "framework") == 0     ? &graph->framework
                         : strcmp(key, "dump_data_dir") == 0 ? &graph->data_folder
                                                             : NULL;
    (void)length;
    if (place == NULL)
        return TDC_OK;
    *place = NULL;
    if (value->kind != TDC_JSON_STRING)
        return TDC_OK;
    *place = tdc_arena_text(&graph->arena, value->text, value->length);
    return *place != NULL ? TDC_OK : no_memory(loading);
}

tdc_status tdc_vis_calls_load(struct tdc_vis_graph *graph, struct tdc_error *error)
{
    struct loading loading = {.graph = graph, .error = error};
    const struct tdc_members members = {
        .inside = "data", .visit = load_call, .beside = load_head, .context = &loading};
    graph->data_folder = "";
    return tdc_members_walk(graph->path, &members, error);
}
