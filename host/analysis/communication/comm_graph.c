#include "host/analysis/communication/comm_graph.h"

#include <stdlib.h>
#include <string.h>

#include "host/analysis/communication/comm_nodes.h"

#define GRAPH_LIMIT ((size_t)8 << 30)

static bool grow(void **list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity != 0 ? 2 * *capacity : 64;
    void *grown = more <= SIZE_MAX / size ? realloc(*list, more * size) : NULL;
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = more;
    return true;
}

struct tdc_comm_graph *tdc_comm_graph_new(const struct tdc_comm_rules *rules)
{
    struct tdc_comm_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return NULL;
    graph->rules = *rules;
    tdc_arena_init(&graph->arena, GRAPH_LIMIT);
    tdc_names_init(&graph->apis);
    tdc_names_init(&graph->groups);
    return graph;
}

void tdc_comm_graph_free(struct tdc_comm_graph *graph)
{
    if (graph == NULL)
        return;
    tdc_names_free(&graph->apis);
    tdc_names_free(&graph->groups);
    free(graph->sorted);
    tdc_arena_free(&graph->arena);
    free(graph->ranks);
    free(graph->nodes);
    free(graph->suspects);
    free(graph);
}

bool tdc_comm_graph_rank(struct tdc_comm_graph *graph, long number)
{
    if (graph->rank_count >= UINT32_MAX - 1 || !grow((void **)&graph->ranks, graph->rank_count,
                                                     &graph->rank_capacity, sizeof *graph->ranks))
        return false;
    graph->ranks[graph->rank_count++] = (struct comm_rank){
        .number = number,
        .first_node = graph->node_count,
        .first_suspect = graph->suspect_count,
        .held_from = graph->suspect_count,
    };
    return true;
}

bool tdc_comm_graph_compute(struct tdc_comm_graph *graph, size_t call, const char *name,
                            bool suspicious)
{
    struct comm_rank *rank = &graph->ranks[graph->rank_count - 1];
    uint32_t before = rank->since_node++;
    if (!suspicious || (rank->node_count == 0 && rank->early))
        return true;
    if (!grow((void **)&graph->suspects, graph->suspect_count, &graph->suspect_capacity,
              sizeof *graph->suspects))
        return false;
    char *kept = tdc_arena_text(&graph->arena, name, strlen(name));
    graph->suspects[graph->suspect_count++] =
        (struct comm_suspect){.call = call, .name = kept, .sub_layer = before};
    rank->early |= rank->node_count == 0;
    return kept != NULL;
}

/* The API's number, which its partner's name gets as well. */
static bool intern_api(struct tdc_comm_graph *graph, struct tdc_comm_api api, uint32_t *number)
{
    *number = tdc_names_find(&graph->apis, api.text, api.length);
    if (*number != TDC_NAME_NONE)
        return true;
    char *kept = tdc_arena_text(&graph->arena, api.text, api.length);
    bool fresh;
    *number = kept != NULL ? tdc_names_put(&graph->apis, kept, api.length, &fresh) : TDC_NAME_NONE;
    return *number != TDC_NAME_NONE;
}

static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* Sorted and without repetitions, in graph->sorted. */
static bool sort_partners(struct tdc_comm_graph *graph, const struct tdc_comm_call *details,
                          size_t *count)
{
    size_t given = details->partner_count;
    if (given >= graph->sorted_capacity) {
        long *grown = given < SIZE_MAX / sizeof *grown / 2
                          ? realloc(graph->sorted, (given + 1) * 2 * sizeof *grown)
                          : NULL;
        if (grown == NULL)
            return false;
        graph->sorted = grown;
        graph->sorted_capacity = (given + 1) * 2;
    }
    long *sorted = graph->sorted;
    if (given != 0)
        memcpy(sorted, details->partners, given * sizeof *sorted);
    qsort(sorted, given, sizeof *sorted, by_number);
    *count = 0;
    for (size_t i = 0; i < given; i++)
        if (*count == 0 || sorted[*count - 1] != sorted[i])
            sorted[(*count)++] = sorted[i];
    return true;
}

/* Groups are few and calls are many: a list that came before is used again. */
static bool keep_partners(struct tdc_comm_graph *graph, struct comm_node *node,
                          const struct tdc_comm_call *details)
{
    if (!details->has_partners)
        return true;
    size_t count;
    if (!sort_partners(graph, details, &count))
        return false;
    size_t bytes = count * sizeof *graph->sorted;
    uint32_t known = tdc_names_find(&graph->groups, (const char *)graph->sorted, bytes);
    if (known == TDC_NAME_NONE) {
        long *kept = tdc_arena_zeroed(&graph->arena, count + 1, sizeof *kept);
        bool fresh;
        if (kept == NULL)
            return false;
        if (count != 0)
            memcpy(kept, graph->sorted, bytes);
        known = tdc_names_put(&graph->groups, (const char *)kept, bytes, &fresh);
        if (known == TDC_NAME_NONE)
            return false;
    }
    node->partners = (const long *)(const void *)graph->groups.keys[known].text;
    node->partner_count = count;
    return true;
}

bool tdc_comm_graph_communication(struct tdc_comm_graph *graph, size_t call, const char *name,
                                  const struct tdc_comm_call *details)
{
    struct comm_rank *rank = &graph->ranks[graph->rank_count - 1];
    if (graph->node_count >= COMM_NONE - 1 || !grow((void **)&graph->nodes, graph->node_count,
                                                    &graph->node_capacity, sizeof *graph->nodes))
        return false;
    struct comm_node node = {
        .call = call,
        .rank = (uint32_t)(graph->rank_count - 1),
        .end = (uint8_t)details->end,
        .everyone = !details->has_partners,
        .suspicious_input = details->suspicious_input,
        .culprit = details->culprit,
        .layer = (uint32_t)rank->node_count,
        .sub_layer = rank->node_count != 0 ? rank->since_node : 0,
        .set = (uint32_t)graph->node_count,
        .next_alike = COMM_NONE,
        .next_member = COMM_NONE,
    };
    /* what comes before the first node belongs to the first phase */
    node.held = rank->node_count != 0 ? rank->held_from : graph->suspect_count;
    node.held_count = graph->suspect_count - node.held;
    node.kept = details->suspicious || node.held_count != 0;
    node.name = tdc_arena_text(&graph->arena, name, strlen(name));
    struct tdc_comm_api api = tdc_comm_api_of(name);
    node.directed = tdc_comm_named_end(api) != TDC_COMM_LINK;
    if (node.name == NULL || !intern_api(graph, api, &node.api) ||
        !intern_api(graph, tdc_comm_partner_api(api), &node.partner_api) ||
        !keep_partners(graph, &node, details))
        return false;
    graph->nodes[graph->node_count++] = node;
    rank->node_count++;
    rank->since_node = 0;
    rank->held_from = graph->suspect_count;
    return true;
}
