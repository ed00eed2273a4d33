/* comm_link.c - which nodes of different ranks are ends of one communication. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/communication/comm_nodes.h"

/* Nodes of a rank by API and end, and how far the current rank has used them. A node that does not
 * name the current rank never will, so one cursor passes over each list once. */
struct alike {
    uint32_t first, last;
    uint32_t cursor;
    uint32_t stamp; /* of the rank for which the cursor holds */
};

struct linking {
    struct tdc_comm_graph *graph;
    struct tdc_comm_result *result;
    struct alike *alike; /* rank x API x end */
    size_t kinds;        /* APIs x ends */
};

uint32_t comm_set_of(struct tdc_comm_graph *graph, uint32_t node)
{
    struct comm_node *nodes = graph->nodes;
    while (nodes[node].set != node) {
        nodes[node].set = nodes[nodes[node].set].set;
        node = nodes[node].set;
    }
    return node;
}

/* The smaller number becomes the head, so that sets do not depend on the order of joining. */
static void join(struct tdc_comm_graph *graph, uint32_t a, uint32_t b)
{
    a = comm_set_of(graph, a);
    b = comm_set_of(graph, b);
    if (a < b)
        graph->nodes[b].set = a;
    else
        graph->nodes[a].set = b;
}

bool comm_list_sets(struct tdc_comm_graph *graph)
{
    uint32_t *last = malloc((graph->node_count + 1) * sizeof *last); /* by head */
    if (last == NULL)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t head = comm_set_of(graph, i);
        if (head != i)
            graph->nodes[last[head]].next_member = i;
        last[head] = i;
    }
    free(last);
    return true;
}

static struct alike *alike_of(const struct linking *linking, size_t rank, uint32_t api, int end)
{
    return &linking->alike[rank * linking->kinds + (size_t)api * 3 + (size_t)end];
}

static void sort_by_kind(struct linking *linking)
{
    struct tdc_comm_graph *graph = linking->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct comm_node *node = &graph->nodes[i];
        struct alike *alike = alike_of(linking, node->rank, node->api, node->end);
        if (alike->first == COMM_NONE)
            alike->first = (uint32_t)i;
        else
            graph->nodes[alike->last].next_alike = (uint32_t)i;
        alike->last = (uint32_t)i;
    }
}

static bool names_rank(const struct comm_node *node, long number)
{
    size_t low = 0, high = node->partner_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->partners[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->partner_count && node->partners[low] == number;
}

/* The first unused node of another rank that is the other end of this one. */
static uint32_t take_partner(struct linking *linking, const struct comm_node *node, size_t other)
{
    struct tdc_comm_graph *graph = linking->graph;
    int wanted = (int)tdc_comm_opposite((enum tdc_comm_end)node->end);
    struct alike *alike = alike_of(linking, other, node->partner_api, wanted);
    if (alike->stamp != node->rank + 1) {
        alike->stamp = node->rank + 1;
        alike->cursor = alike->first;
    }
    long number = graph->ranks[node->rank].number;
    while (alike->cursor != COMM_NONE) {
        uint32_t candidate = alike->cursor;
        const struct comm_node *end = &graph->nodes[candidate];
        alike->cursor = end->next_alike;
        if (end->everyone ? !end->directed : names_rank(end, number))
            return candidate;
    }
    return COMM_NONE;
}

static void link_with(struct linking *linking, uint32_t number, size_t other)
{
    struct tdc_comm_graph *graph = linking->graph;
    struct comm_node *node = &graph->nodes[number];
    uint32_t partner = take_partner(linking, node, other);
    if (partner == COMM_NONE)
        return;
    struct comm_node *end = &graph->nodes[partner];
    end->layer = node->layer;
    node->linked = end->linked = true;
    /* nodes that will be passed over hold nothing together */
    if (node->kept && end->kept)
        join(graph, number, partner);
}

static size_t rank_place(const struct tdc_comm_graph *graph, long number)
{
    size_t low = 0, high = graph->rank_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->ranks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->rank_count && graph->ranks[low].number == number ? low : SIZE_MAX;
}

static void link_node(struct linking *linking, uint32_t number)
{
    struct tdc_comm_graph *graph = linking->graph;
    struct comm_node *node = &graph->nodes[number];
    if (node->everyone) {
        for (size_t other = node->rank + 1; other < graph->rank_count; other++)
            link_with(linking, number, other);
        return;
    }
    for (size_t i = 0; i < node->partner_count; i++) {
        size_t other = rank_place(graph, node->partners[i]);
        if (other == SIZE_MAX) {
            struct tdc_comm_result *result = linking->result;
            if (result->absent_partners++ == 0) {
                result->absent_rank = node->partners[i];
                result->absent_call = node->name;
            }
        } else if (other > node->rank) {
            link_with(linking, number, other);
        }
    }
}

static void count_unlinked(const struct tdc_comm_graph *graph, struct tdc_comm_result *result)
{
    for (size_t i = 0; i < graph->node_count && graph->rank_count > 1; i++) {
        const struct comm_node *node = &graph->nodes[i];
        if (!node->linked && result->unlinked++ == 0) {
            result->unlinked_rank = graph->ranks[node->rank].number;
            result->unlinked_call = node->name;
        }
    }
}

bool comm_link_all(struct tdc_comm_graph *graph, struct tdc_comm_result *result)
{
    struct linking linking = {.graph = graph, .result = result};
    linking.kinds = (size_t)graph->apis.count * 3;
    if (graph->node_count == 0)
        return true;
    if (graph->rank_count > SIZE_MAX / sizeof *linking.alike / linking.kinds)
        return false;
    size_t count = graph->rank_count * linking.kinds;
    linking.alike = malloc(count * sizeof *linking.alike);
    if (linking.alike == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        linking.alike[i] = (struct alike){.first = COMM_NONE, .last = COMM_NONE};
    sort_by_kind(&linking);
    for (size_t rank = 0; rank < graph->rank_count; rank++) {
        const struct comm_rank *chain = &graph->ranks[rank];
        /* the last rank has nobody above it: its layers stay as the others left them */
        bool raise = graph->rules.raise_layers && rank + 1 < graph->rank_count;
        for (size_t i = 0; i < chain->node_count; i++) {
            uint32_t number = (uint32_t)(chain->first_node + i);
            struct comm_node *node = &graph->nodes[number];
            if (raise && i != 0 && node[-1].layer >= node->layer)
                node->layer = node[-1].layer + 1;
            link_node(&linking, number);
        }
    }
    count_unlinked(graph, result);
    free(linking.alike);
    return true;
}
