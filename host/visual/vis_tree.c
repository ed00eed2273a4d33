/* vis_tree.c - nodes, and what is done with a whole tree: its order and its micro steps. */
#include <stdlib.h>
#include <string.h>

#include "host/visual/vis_graph.h"
#include "io/base/error.h"

/* msprobe tells modules and calls of functions by the beginning of their names; its dots stand for
 * any character. */
static enum tdc_vis_type type_of(const char *name)
{
    static const char *const functions[] = {
        "Tensor",    "Torch", "Functional",     "NPU",      "VF", "Distributed", "Aten", "Mint",
        "Primitive", "Jit",   "MintFunctional", "MindSpeed"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t length = strlen(functions[i]);
        if (strncmp(name, functions[i], length) == 0 && name[length] != '\0')
            return TDC_VIS_API;
    }
    return TDC_VIS_MODULE;
}

uint32_t tdc_vis_find(const struct tdc_vis_graph *graph, const char *name)
{
    uint32_t number = tdc_names_find(&graph->names, name, strlen(name));
    return number == TDC_NAME_NONE ? TDC_VIS_NONE : number;
}

uint32_t tdc_vis_node_of(struct tdc_vis_graph *graph, const char *name)
{
    if (graph->count == graph->capacity) {
        uint32_t capacity = graph->capacity == 0 ? 256 : graph->capacity * 2;
        size_t bytes;
        if (graph->capacity > UINT32_MAX / 2 ||
            __builtin_mul_overflow((size_t)capacity, sizeof *graph->nodes, &bytes))
            return TDC_VIS_NONE;
        struct tdc_vis_node *grown = realloc(graph->nodes, bytes);
        if (grown == NULL)
            return TDC_VIS_NONE;
        graph->nodes = grown;
        graph->capacity = capacity;
    }
    bool fresh;
    uint32_t number = tdc_names_put(&graph->names, name, strlen(name), &fresh);
    if (number == TDC_NAME_NONE)
        return TDC_VIS_NONE;
    if (!fresh)
        return number;
    uint32_t call = tdc_names_find(&graph->call_names, name, strlen(name));
    graph->nodes[graph->count++] =
        (struct tdc_vis_node){.name = name,
                              .type = type_of(name),
                              .up = TDC_VIS_NONE,
                              .first = TDC_VIS_NONE,
                              .last = TDC_VIS_NONE,
                              .next = TDC_VIS_NONE,
                              .partner = TDC_VIS_NONE,
                              .call = call != TDC_NAME_NONE ? &graph->calls[call] : NULL};
    return number;
}

void tdc_vis_put_below(struct tdc_vis_graph *graph, uint32_t node, uint32_t up)
{
    struct tdc_vis_node *nodes = graph->nodes;
    if (node == up || node == TDC_VIS_ROOT || nodes[node].up != TDC_VIS_NONE)
        return;
    nodes[node].up = up;
    nodes[node].next = TDC_VIS_NONE;
    if (nodes[up].last == TDC_VIS_NONE)
        nodes[up].first = node;
    else
        nodes[nodes[up].last].next = node;
    nodes[up].last = node;
}

tdc_status tdc_vis_order(struct tdc_vis_graph *graph, struct tdc_error *error)
{
    const struct tdc_vis_node *nodes = graph->nodes;
    graph->in_tree = 0;
    free(graph->order);
    graph->order = malloc((size_t)graph->capacity * sizeof *graph->order);
    if (graph->order == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", graph->path);
    uint32_t at = TDC_VIS_ROOT;
    for (unsigned depth = 0;;) {
        while (nodes[at].first != TDC_VIS_NONE) {
            at = nodes[at].first;
            if (++depth > TDC_VIS_DEPTH)
                return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                                "%s: modules more than %d levels deep in its construct.json",
                                graph->path, TDC_VIS_DEPTH);
        }
        while (nodes[at].next == TDC_VIS_NONE && at != TDC_VIS_ROOT) {
            graph->order[graph->in_tree++] = at;
            at = nodes[at].up;
            depth--;
        }
        graph->order[graph->in_tree++] = at;
        if (at == TDC_VIS_ROOT)
            return TDC_OK;
        at = nodes[at].next;
    }
}

/* ---- micro steps ----------------------------------------------------------------------------- */

/* Nodes that have none take that of the node above: parents come after their children in the order,
 * so it is walked from its end. */
static void hand_down(struct tdc_vis_graph *graph)
{
    for (uint32_t i = graph->in_tree; i-- > 0;) {
        struct tdc_vis_node *node = &graph->nodes[graph->order[i]];
        if (node->up == TDC_VIS_NONE || node->has_micro_step)
            continue;
        node->has_micro_step = graph->nodes[node->up].has_micro_step;
        node->micro_step = graph->nodes[node->up].micro_step;
    }
}

/* The number at the end of a name, 0 without one. */
static int64_t last_number(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *digits = dot == NULL ? name : dot + 1;
    size_t length = strspn(digits, "0123456789");
    return length != 0 && length < 18 && digits[length] == '\0' ? strtoll(digits, NULL, 10) : 0;
}

int64_t tdc_vis_micro_steps(struct tdc_vis_graph *graph, struct tdc_vis_graph *other)
{
    if (graph->own_micro_steps)
        return graph->micro_steps + 1;
    int64_t step = 0;
    bool backward = false;
    for (uint32_t at = graph->nodes[TDC_VIS_ROOT].first; at != TDC_VIS_NONE;
         at = graph->nodes[at].next) {
        struct tdc_vis_node *node = &graph->nodes[at];
        bool forward = strstr(node->name, ".forward.") != NULL;
        if (node->type == TDC_VIS_MODULE) {
            step += forward && backward;
            backward = !forward;
        }
        node->has_micro_step = true;
        node->micro_step = step;
        if (other != NULL && node->partner != TDC_VIS_NONE) {
            other->nodes[node->partner].has_micro_step = true;
            other->nodes[node->partner].micro_step = step;
        }
    }
    hand_down(graph);
    if (other == NULL)
        return step + 1;
    for (uint32_t at = other->nodes[TDC_VIS_ROOT].first; at != TDC_VIS_NONE;
         at = other->nodes[at].next) {
        struct tdc_vis_node *node = &other->nodes[at];
        if (!node->has_micro_step)
            node->micro_step = last_number(node->name);
        node->has_micro_step = true;
    }
    hand_down(other);
    return step + 1;
}
