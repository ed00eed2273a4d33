/* vis_load.c - from construct.json, stack.json and the calls of dump.json to a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dump/members.h"
#include "host/match/match.h"
#include "host/visual/vis_graph.h"
#include "io/base/error.h"
#include "io/text/json_write.h"

/* Records of a dump of a GB take about as much again. */
#define GRAPH_LIMIT ((size_t)64 << 30)
#define STACK_LIMIT ((size_t)1 << 26)

struct loading {
    struct tdc_vis_graph *graph;
    struct tdc_vis_places places;
    struct tdc_name_table stack_names;
    const char **stacks; /* by number: JSON of the lines; NULL: none */
    size_t stack_capacity;
    const char *shared; /* of the group being visited */
    struct tdc_text text;
    struct tdc_error *error;
};

static tdc_status no_memory(const struct loading *loading)
{
    return tdc_fail(loading->error, TDC_ERR_MEMORY, "%s: out of memory or too large",
                    loading->graph->path);
}

/* A file beside dump.json; NULL when out of memory. */
static const char *beside(struct tdc_vis_graph *graph, const char *name)
{
    const char *slash = strrchr(graph->path, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - graph->path) : 0, length = strlen(name);
    char *path = tdc_arena_take(&graph->arena, folder + length + 1);
    if (path == NULL)
        return NULL;
    memcpy(path, graph->path, folder);
    memcpy(path + folder, name, length + 1);
    return path;
}

/* ---- construct.json -------------------------------------------------------------------------- */

static tdc_status add_place(void *context, const char *key, size_t length,
                            const struct tdc_json *value)
{
    struct loading *loading = context;
    struct tdc_vis_places *places = &loading->places;
    struct tdc_vis_graph *graph = loading->graph;
    if (strcmp(key, "megatron_micro_step_number") == 0) {
        graph->own_micro_steps = value->kind == TDC_JSON_INTEGER;
        graph->micro_steps = (int64_t)(value->number < 1e15 ? value->number : 0);
        return TDC_OK;
    }
    /* [parent, micro step] */
    const struct tdc_json *up = value->kind == TDC_JSON_LIST ? value->child : value;
    const struct tdc_json *step = value->kind == TDC_JSON_LIST && up != NULL ? up->next : NULL;
    const char *name = tdc_arena_text(&graph->arena, key, length);
    bool fresh;
    uint32_t number =
        name == NULL ? TDC_NAME_NONE : tdc_names_put(&places->names, name, length, &fresh);
    if (number == TDC_NAME_NONE)
        return no_memory(loading);
    if (number >= places->capacity) {
        size_t capacity = places->capacity == 0 ? 256 : places->capacity * 2;
        struct tdc_vis_place *grown = realloc(places->places, capacity * sizeof *grown);
        if (grown == NULL)
            return no_memory(loading);
        places->places = grown;
        places->capacity = capacity;
    }
    struct tdc_vis_place place = {0};
    if (up != NULL && up->kind == TDC_JSON_STRING && up->length != 0) {
        place.up = tdc_arena_text(&graph->arena, up->text, up->length);
        if (place.up == NULL)
            return no_memory(loading);
    }
    if (step != NULL && step->kind == TDC_JSON_INTEGER && step->number > -1e15 &&
        step->number < 1e15)
        place.micro_step = (int64_t)step->number;
    places->places[number] = place;
    return TDC_OK;
}

static tdc_status load_places(struct loading *loading)
{
    const char *path = beside(loading->graph, "construct.json");
    if (path == NULL)
        return no_memory(loading);
    const struct tdc_members members = {.visit = add_place, .context = loading};
    tdc_status status = tdc_members_walk(path, &members, loading->error);
    if (status == TDC_ERR_NOT_FOUND || (status == TDC_OK && loading->places.names.count == 0))
        status = tdc_fail(loading->error, TDC_ERR_MISMATCH,
                          "%s: %s: a graph needs a dump of level L0 or mix, which says how modules "
                          "lie in each other",
                          path, status == TDC_OK ? "empty" : "missing");
    return status;
}

/* ---- stack.json ------------------------------------------------------------------------------ */

static tdc_status add_stack(void *context, const char *entry, size_t length,
                            const struct tdc_json *lines, long position)
{
    struct loading *loading = context;
    struct tdc_arena *arena = &loading->graph->arena;
    if (position <= 0) {
        tdc_text_clear(&loading->text);
        tdc_json_put_tree(&loading->text, lines, -1, 0);
        bool empty =
            lines->kind == TDC_JSON_NULL || (lines->kind == TDC_JSON_LIST && lines->children == 0);
        loading->shared =
            empty || loading->text.failed
                ? NULL
                : tdc_arena_text(arena, tdc_text_get(&loading->text), loading->text.length);
        if (!empty && loading->shared == NULL)
            return no_memory(loading);
    }
    const char *name = tdc_arena_text(arena, entry, length);
    bool fresh;
    uint32_t number =
        name == NULL ? TDC_NAME_NONE : tdc_names_put(&loading->stack_names, name, length, &fresh);
    if (number == TDC_NAME_NONE)
        return no_memory(loading);
    if (number >= loading->stack_capacity) {
        size_t capacity = loading->stack_capacity == 0 ? 256 : loading->stack_capacity * 2;
        const char **grown = realloc(loading->stacks, capacity * sizeof *grown);
        if (grown == NULL)
            return no_memory(loading);
        loading->stacks = grown;
        loading->stack_capacity = capacity;
    }
    loading->stacks[number] = loading->shared;
    return TDC_OK;
}

static tdc_status load_stacks(struct loading *loading, const struct tdc_options *options)
{
    const char *path = beside(loading->graph, "stack.json");
    if (path == NULL)
        return no_memory(loading);
    tdc_status status = tdc_stacks_walk(path, add_stack, loading, loading->error);
    if (status != TDC_ERR_NOT_FOUND)
        return status;
    if (options->message != NULL)
        options->message(options->context, TDC_MESSAGE_WARNING, loading->error->message);
    return TDC_OK;
}

/* A backward call has the stack of its forward one, a module of its first. */
static tdc_status set_stack(struct loading *loading, uint32_t number)
{
    struct tdc_vis_graph *graph = loading->graph;
    const char *name = graph->nodes[number].name;
    uint32_t stack = tdc_names_find(&loading->stack_names, name, strlen(name));
    graph->nodes[number].stack = stack != TDC_NAME_NONE ? loading->stacks[stack] : NULL;
    bool numbered = tdc_vis_ends_numbered(name, "backward");
    if (graph->nodes[number].stack != NULL || (!numbered && !tdc_ends_in(name, ".backward")))
        return TDC_OK;
    const char *forward;
    if (numbered) {
        size_t head = (size_t)(strrchr(name, '.') - name) - strlen("backward");
        char *first = tdc_arena_take(&graph->arena, head + sizeof "forward.0");
        if (first != NULL) {
            memcpy(first, name, head);
            memcpy(first + head, "forward.0", sizeof "forward.0");
        }
        forward = first;
    } else {
        forward = tdc_text_replaced(&graph->arena, name, "backward", "forward", false);
    }
    if (forward == NULL)
        return no_memory(loading);
    uint32_t found = tdc_vis_find(graph, forward);
    graph->nodes[number].stack =
        found != TDC_VIS_NONE ? graph->nodes[found].stack
                              : "[\"This backward node cannot find the forward node and cannot "
                                "retrieve stack information.\"]";
    return TDC_OK;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static tdc_status make_node(struct loading *loading, const char *name, uint32_t *node)
{
    struct tdc_vis_graph *graph = loading->graph;
    uint32_t before = graph->count;
    *node = tdc_vis_node_of(graph, name);
    if (*node == TDC_VIS_NONE)
        return no_memory(loading);
    if (graph->count == before)
        return TDC_OK;
    if (graph->own_micro_steps) {
        uint32_t place = tdc_names_find(&loading->places.names, name, strlen(name));
        graph->nodes[*node].has_micro_step = true;
        if (place != TDC_NAME_NONE)
            graph->nodes[*node].micro_step = loading->places.places[place].micro_step;
    }
    return set_stack(loading, *node);
}

/* Whether the second lies below the first, or TDC_ERR_UNSUPPORTED when it lies too deep to tell.
 * Only where no circle was let in before. */
static tdc_status is_below(struct loading *loading, uint32_t above, uint32_t node, bool *below)
{
    const struct tdc_vis_graph *graph = loading->graph;
    *below = false;
    for (unsigned depth = 0; node != TDC_VIS_NONE; node = graph->nodes[node].up, depth++) {
        if (node == above)
            *below = true;
        if (depth > TDC_VIS_DEPTH)
            return tdc_fail(loading->error, TDC_ERR_UNSUPPORTED,
                            "%s: modules more than %d levels deep in its construct.json",
                            graph->path, TDC_VIS_DEPTH);
    }
    return TDC_OK;
}

static tdc_status build(struct loading *loading, bool whole)
{
    struct tdc_vis_graph *graph = loading->graph;
    tdc_status status = TDC_OK;
    for (uint32_t i = 0; i < loading->places.names.count && status == TDC_OK; i++) {
        bool failed = false, circle = false;
        const char *up = tdc_vis_parent(&graph->arena, &loading->places, i, &failed);
        uint32_t parent = TDC_VIS_ROOT, node;
        status = failed ? no_memory(loading) : TDC_OK;
        if (status == TDC_OK && up != NULL)
            status = make_node(loading, up, &parent);
        if (status == TDC_OK)
            status = make_node(loading, loading->places.names.keys[i].text, &node);
        if (status == TDC_OK && whole)
            status = is_below(loading, node, parent, &circle);
        if (status == TDC_OK)
            tdc_vis_put_below(graph, node, circle ? TDC_VIS_ROOT : parent);
    }
    return status;
}

/* The end of a name that holds gradients of parameters, ".parameters_grad" or with a number behind
 * it; NULL for others. */
static const char *gradients_end(const char *name)
{
    static const char end[] = ".parameters_grad";
    if (tdc_ends_in(name, end))
        return name + strlen(name) - (sizeof end - 1);
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot[1] == '\0' || dot[1 + strspn(dot + 1, "0123456789")] != '\0' ||
        (size_t)(dot - name) < sizeof end - 1)
        return NULL;
    const char *start = dot - (sizeof end - 1);
    return strncmp(start, end, sizeof end - 1) == 0 ? start : NULL;
}

/* The last backward call of each module; TDC_VIS_NONE where it has none. */
struct last_calls {
    struct tdc_name_table modules;
    struct last_call {
        uint32_t node;
        long number;
    } * calls;
    size_t capacity;
};

static bool find_last_calls(const struct tdc_vis_graph *graph, struct last_calls *last)
{
    tdc_names_init(&last->modules);
    last->calls = calloc((size_t)graph->count + 1, sizeof *last->calls);
    for (uint32_t i = 0; i < graph->count && last->calls != NULL; i++) {
        const char *name = graph->nodes[i].name;
        if (!tdc_vis_ends_numbered(name, "backward"))
            continue;
        const char *dot = strrchr(name, '.');
        bool fresh;
        uint32_t module =
            tdc_names_put(&last->modules, name, (size_t)(dot - name) - strlen(".backward"), &fresh);
        if (module == TDC_NAME_NONE)
            return false;
        long number = strtol(dot + 1, NULL, 10);
        if (fresh || number > last->calls[module].number)
            last->calls[module] = (struct last_call){i, number};
    }
    return last->calls != NULL;
}

/* Gradients of the parameters of a module are a node below its last backward call. */
static tdc_status add_gradients(struct loading *loading)
{
    struct tdc_vis_graph *graph = loading->graph;
    struct last_calls last;
    tdc_status status = find_last_calls(graph, &last) ? TDC_OK : no_memory(loading);
    for (uint32_t i = 0; i < graph->call_names.count && status == TDC_OK; i++) {
        const char *name = graph->call_names.keys[i].text, *end = gradients_end(name);
        if (end == NULL || tdc_vis_find(graph, name) != TDC_VIS_NONE)
            continue;
        uint32_t module = tdc_names_find(&last.modules, name, (size_t)(end - name));
        if (module == TDC_NAME_NONE)
            continue;
        uint32_t node = tdc_vis_node_of(graph, name);
        if (node == TDC_VIS_NONE) {
            status = no_memory(loading);
            break;
        }
        graph->nodes[node].type = TDC_VIS_MODULE;
        tdc_vis_put_below(graph, node, last.calls[module].node);
    }
    tdc_names_free(&last.modules);
    free(last.calls);
    return status;
}

/* What construct.json does not place comes below the root. */
static tdc_status add_rest(struct loading *loading)
{
    struct tdc_vis_graph *graph = loading->graph;
    tdc_status status = TDC_OK;
    for (uint32_t i = 0; i < graph->call_names.count && status == TDC_OK; i++) {
        uint32_t node;
        status = make_node(loading, graph->call_names.keys[i].text, &node);
    }
    for (uint32_t i = 1; i < graph->count && status == TDC_OK; i++)
        tdc_vis_put_below(graph, i, TDC_VIS_ROOT);
    return status;
}

/* Two and more calls of functions in a row below the root are put together. */
static tdc_status collect(struct loading *loading)
{
    struct tdc_vis_graph *graph = loading->graph;
    uint32_t at = graph->nodes[TDC_VIS_ROOT].first, taken = 0;
    graph->nodes[TDC_VIS_ROOT].first = graph->nodes[TDC_VIS_ROOT].last = TDC_VIS_NONE;
    while (at != TDC_VIS_NONE) {
        uint32_t next = graph->nodes[at].next, home = TDC_VIS_ROOT;
        bool run = graph->nodes[at].type == TDC_VIS_API && next != TDC_VIS_NONE &&
                   graph->nodes[next].type == TDC_VIS_API;
        if (run) {
            char name[48];
            do
                snprintf(name, sizeof name, "Apis_Between_Modules.%u", taken++);
            while (tdc_vis_find(graph, name) != TDC_VIS_NONE);
            const char *kept = tdc_arena_text(&graph->arena, name, strlen(name));
            home = kept != NULL ? tdc_vis_node_of(graph, kept) : TDC_VIS_NONE;
            if (home == TDC_VIS_NONE)
                return no_memory(loading);
            struct tdc_vis_node *collection = &graph->nodes[home];
            collection->type = TDC_VIS_COLLECTION;
            collection->has_micro_step = graph->nodes[at].has_micro_step;
            collection->micro_step = graph->nodes[at].micro_step;
            tdc_vis_put_below(graph, home, TDC_VIS_ROOT);
        }
        do {
            next = graph->nodes[at].next;
            graph->nodes[at].up = TDC_VIS_NONE;
            tdc_vis_put_below(graph, at, home);
            at = next;
        } while (run && at != TDC_VIS_NONE && graph->nodes[at].type == TDC_VIS_API);
    }
    return TDC_OK;
}

/* msprobe leaves out what construct.json does not place; that is said at least. */
static void tell_left_out(const struct tdc_vis_graph *graph, const struct tdc_options *options)
{
    size_t left_out = graph->count - graph->in_tree;
    for (uint32_t i = 0; i < graph->call_names.count; i++)
        left_out += tdc_vis_find(graph, graph->call_names.keys[i].text) == TDC_VIS_NONE;
    if (left_out == 0 || options->message == NULL)
        return;
    char text[512];
    snprintf(text, sizeof text, "%.400s: %zu calls are in no place of construct.json: left out",
             graph->path, left_out);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

tdc_status tdc_vis_graph_load(const char *path, bool whole, const struct tdc_options *options,
                              struct tdc_vis_graph *graph, struct tdc_error *error)
{
    *graph = (struct tdc_vis_graph){0};
    tdc_arena_init(&graph->arena, GRAPH_LIMIT);
    tdc_names_init(&graph->names);
    tdc_names_init(&graph->call_names);
    struct loading loading = {.graph = graph, .error = error};
    tdc_names_init(&loading.places.names);
    tdc_names_init(&loading.stack_names);
    tdc_text_init(&loading.text, STACK_LIMIT);
    graph->path = tdc_arena_text(&graph->arena, path, strlen(path));
    tdc_status status = TDC_OK;
    if (graph->path == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status == TDC_OK) {
        graph->tensors = beside(graph, "dump_tensor_data");
        status = graph->tensors != NULL ? load_places(&loading) : no_memory(&loading);
    }
    if (status == TDC_OK)
        status = tdc_vis_calls_load(graph, error);
    if (status == TDC_OK)
        status = load_stacks(&loading, options);
    if (status == TDC_OK && tdc_vis_node_of(graph, "DefaultModel") == TDC_VIS_NONE)
        status = no_memory(&loading);
    if (status == TDC_OK)
        status = build(&loading, whole);
    if (status == TDC_OK)
        status = add_gradients(&loading);
    if (status == TDC_OK && whole)
        status = add_rest(&loading);
    if (status == TDC_OK)
        status = collect(&loading);
    if (status == TDC_OK)
        status = tdc_vis_order(graph, error);
    if (status == TDC_OK && !whole)
        tell_left_out(graph, options);
    tdc_names_free(&loading.places.names);
    tdc_names_free(&loading.stack_names);
    free(loading.places.places);
    free(loading.stacks);
    tdc_text_free(&loading.text);
    return status;
}

void tdc_vis_graph_free(struct tdc_vis_graph *graph)
{
    free(graph->nodes);
    free(graph->calls);
    free(graph->order);
    tdc_names_free(&graph->names);
    tdc_names_free(&graph->call_names);
    tdc_arena_free(&graph->arena);
}
