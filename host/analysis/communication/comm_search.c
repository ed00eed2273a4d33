/* comm_search.c - where a fault shows first: before, along or after the communication. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/communication/comm_nodes.h"

struct queued {
    uint32_t layer, node;
};

struct searching {
    struct tdc_comm_graph *graph;
    struct tdc_comm_finding *findings;
    size_t count, capacity;
    uint32_t layer, sub_layer; /* of the findings */
    bool failed;
    /* the kept nodes of all ranks, rank by rank in the order of their layers */
    struct queued *queue;
    size_t *next; /* by rank, into the queue */
    size_t *end;
};

static void keep(struct searching *searching, long rank, size_t call, const char *name)
{
    if (searching->count == searching->capacity) {
        size_t more = searching->capacity != 0 ? 2 * searching->capacity : 64;
        struct tdc_comm_finding *grown =
            tdc_arena_zeroed(&searching->graph->arena, more, sizeof *grown);
        if (grown == NULL) {
            searching->failed = true;
            return;
        }
        if (searching->count != 0)
            memcpy(grown, searching->findings, searching->count * sizeof *grown);
        searching->findings = grown;
        searching->capacity = more;
    }
    searching->findings[searching->count++] = (struct tdc_comm_finding){rank, call, name};
}

/* Keeps what is earliest, and all that is as early. */
static void keep_earliest(struct searching *searching, long rank, size_t call, const char *name,
                          uint32_t layer, uint32_t sub_layer)
{
    bool earlier =
        layer != searching->layer ? layer < searching->layer : sub_layer < searching->sub_layer;
    if (searching->count != 0 && earlier)
        searching->count = 0;
    if (searching->count == 0) {
        searching->layer = layer;
        searching->sub_layer = sub_layer;
    }
    if (layer == searching->layer && sub_layer == searching->sub_layer)
        keep(searching, rank, call, name);
}

static void search_before(struct searching *searching)
{
    const struct tdc_comm_graph *graph = searching->graph;
    for (size_t i = 0; i < graph->rank_count; i++) {
        const struct comm_rank *rank = &graph->ranks[i];
        if (!rank->early)
            continue;
        const struct comm_suspect *first = &graph->suspects[rank->first_suspect];
        keep(searching, rank->number, first->call, first->name);
    }
}

static void search_after(struct searching *searching)
{
    const struct tdc_comm_graph *graph = searching->graph;
    for (size_t i = 0; i < graph->rank_count; i++) {
        const struct comm_rank *rank = &graph->ranks[i];
        size_t end = i + 1 < graph->rank_count ? rank[1].first_suspect : graph->suspect_count;
        if (rank->node_count == 0 || rank->held_from == end)
            continue;
        const struct comm_suspect *first = &graph->suspects[rank->held_from];
        keep(searching, rank->number, first->call, first->name);
    }
}

/* ---- along the layers ------------------------------------------------------------------------ */

static int by_layer(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    if (x->layer != y->layer)
        return (x->layer > y->layer) - (x->layer < y->layer);
    return (x->node > y->node) - (x->node < y->node);
}

static bool prepare(struct searching *searching)
{
    struct tdc_comm_graph *graph = searching->graph;
    searching->queue = malloc((graph->node_count + 1) * sizeof *searching->queue);
    searching->next = calloc(graph->rank_count + 1, sizeof *searching->next);
    searching->end = calloc(graph->rank_count + 1, sizeof *searching->end);
    if (searching->queue == NULL || searching->next == NULL || searching->end == NULL)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < graph->rank_count; i++) {
        const struct comm_rank *rank = &graph->ranks[i];
        searching->next[i] = count;
        for (size_t k = 0; k < rank->node_count; k++) {
            uint32_t number = (uint32_t)(rank->first_node + k);
            if (graph->nodes[number].kept)
                searching->queue[count++] = (struct queued){graph->nodes[number].layer, number};
        }
        searching->end[i] = count;
        qsort(searching->queue + searching->next[i], count - searching->next[i],
              sizeof *searching->queue, by_layer);
    }
    return comm_list_sets(graph);
}

static void collect_node(struct searching *searching, const struct comm_node *node)
{
    const struct tdc_comm_graph *graph = searching->graph;
    long rank = graph->ranks[node->rank].number;
    if (graph->rules.all_holders || (node->end != TDC_COMM_DST && node->suspicious_input))
        for (size_t i = 0; i < node->held_count; i++) {
            const struct comm_suspect *suspect = &graph->suspects[node->held + i];
            keep_earliest(searching, rank, suspect->call, suspect->name, node->layer,
                          suspect->sub_layer);
        }
    if (node->culprit)
        keep_earliest(searching, rank, node->call, node->name, node->layer, node->sub_layer);
}

static void collect_set(struct searching *searching, uint32_t node)
{
    struct tdc_comm_graph *graph = searching->graph;
    for (uint32_t at = comm_set_of(graph, node); at != COMM_NONE;
         at = graph->nodes[at].next_member) {
        graph->nodes[at].seen = true;
        collect_node(searching, &graph->nodes[at]);
    }
}

/* The next node of a rank whose set was not looked at; COMM_NONE when there is none. */
static uint32_t next_of(struct searching *searching, size_t rank)
{
    while (searching->next[rank] < searching->end[rank]) {
        uint32_t node = searching->queue[searching->next[rank]++].node;
        if (!searching->graph->nodes[node].seen)
            return node;
    }
    return COMM_NONE;
}

static void search_during(struct searching *searching)
{
    struct tdc_comm_graph *graph = searching->graph;
    for (bool any = true; any && searching->count == 0 && !searching->failed;) {
        any = false;
        for (size_t rank = 0; rank < graph->rank_count; rank++) {
            uint32_t node = next_of(searching, rank);
            if (node == COMM_NONE)
                continue;
            any = true;
            collect_set(searching, node);
        }
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct tdc_comm_finding *x = a, *y = b;
    if (x->rank != y->rank)
        return (x->rank > y->rank) - (x->rank < y->rank);
    return (x->call > y->call) - (x->call < y->call);
}

/* Links, then looks along the layers. */
static bool link_and_search(struct searching *searching, struct tdc_comm_result *result)
{
    struct tdc_comm_graph *graph = searching->graph;
    bool done = comm_link_all(graph, result) && prepare(searching);
    if (done)
        search_during(searching);
    free(searching->queue);
    free(searching->next);
    free(searching->end);
    return done;
}

bool tdc_comm_graph_search(struct tdc_comm_graph *graph,
                           void (*phase_begins)(void *context, enum tdc_comm_phase phase),
                           void *context, struct tdc_comm_result *result)
{
    *result = (struct tdc_comm_result){.phase = TDC_COMM_BEFORE};
    struct searching searching = {.graph = graph};
    bool done = true;
    for (; done && result->phase != TDC_COMM_NOWHERE; result->phase++) {
        if (phase_begins != NULL)
            phase_begins(context, result->phase);
        if (result->phase == TDC_COMM_BEFORE)
            search_before(&searching);
        else if (result->phase == TDC_COMM_DURING)
            done = link_and_search(&searching, result);
        else
            search_after(&searching);
        if (searching.count != 0)
            break;
    }
    if (searching.count != 0)
        qsort(searching.findings, searching.count, sizeof *searching.findings, by_rank);
    result->findings = searching.findings;
    result->count = searching.count;
    return done && !searching.failed;
}
