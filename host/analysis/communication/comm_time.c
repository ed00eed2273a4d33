/* comm_time.c - the communications of all ranks in an order of time. */
#include <stdlib.h>

#include "host/analysis/communication/comm_nodes.h"

/*
 * Every rank goes along its chain and stops at each node until all members of the node's set have
 * come to theirs. When nobody can go on, calls wait for each other in a circle, which no run could
 * have done: the lowest rank's node is taken as it is.
 */
struct walking {
    struct tdc_comm_graph *graph;
    struct tdc_comm_result *result;
    void (*visit)(void *context, const struct tdc_comm_event *event);
    void *context;
    uint32_t *missing; /* by head of a set: members that have not come; 0: visited */
    uint32_t *ready;   /* heads of sets, first in first out */
    size_t ready_first, ready_end;
    size_t *at;     /* by rank: the node it stands at, from the first of its chain */
    uint32_t *time; /* by rank: of its last communication */
    struct tdc_comm_member *members; /* of one set */
};

static bool prepare(struct walking *walking)
{
    const struct tdc_comm_graph *graph = walking->graph;
    size_t nodes = graph->node_count + 1, ranks = graph->rank_count + 1;
    walking->missing = calloc(nodes, sizeof *walking->missing);
    walking->ready = malloc(nodes * sizeof *walking->ready);
    walking->members = malloc(nodes * sizeof *walking->members);
    walking->at = calloc(ranks, sizeof *walking->at);
    walking->time = calloc(ranks, sizeof *walking->time);
    if (walking->missing == NULL || walking->ready == NULL || walking->members == NULL ||
        walking->at == NULL || walking->time == NULL)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++)
        walking->missing[comm_set_of(walking->graph, i)]++;
    return true;
}

/* A rank comes to the node it stands at, past those that were taken in a circle. */
static void arrive(struct walking *walking, size_t rank)
{
    struct tdc_comm_graph *graph = walking->graph;
    const struct comm_rank *chain = &graph->ranks[rank];
    for (; walking->at[rank] < chain->node_count; walking->at[rank]++) {
        uint32_t head = comm_set_of(graph, (uint32_t)(chain->first_node + walking->at[rank]));
        if (walking->missing[head] == 0)
            continue;
        if (--walking->missing[head] == 0)
            walking->ready[walking->ready_end++] = head;
        return;
    }
}

static void visit_set(struct walking *walking, uint32_t head)
{
    const struct tdc_comm_graph *graph = walking->graph;
    struct tdc_comm_event event = {.members = walking->members};
    for (uint32_t at = head; at != COMM_NONE; at = graph->nodes[at].next_member) {
        const struct comm_node *node = &graph->nodes[at];
        walking->members[event.count++] =
            (struct tdc_comm_member){node->rank, node->call, (enum tdc_comm_end)node->end};
        if (walking->time[node->rank] > event.time)
            event.time = walking->time[node->rank];
    }
    event.time++;
    walking->visit(walking->context, &event);
    for (size_t i = 0; i < event.count; i++)
        walking->time[event.members[i].rank] = event.time;
    /* a rank that stood here goes on; it may stand at a set that becomes ready only now */
    for (uint32_t at = head; at != COMM_NONE; at = graph->nodes[at].next_member) {
        size_t rank = graph->nodes[at].rank;
        if (at == graph->ranks[rank].first_node + walking->at[rank]) {
            walking->at[rank]++;
            arrive(walking, rank);
        }
    }
}

/* Takes the set of the lowest rank that has not come to its end; false when all have. */
static bool break_circle(struct walking *walking, size_t *lowest)
{
    struct tdc_comm_graph *graph = walking->graph;
    while (*lowest < graph->rank_count && walking->at[*lowest] >= graph->ranks[*lowest].node_count)
        ++*lowest;
    if (*lowest == graph->rank_count)
        return false;
    size_t node = graph->ranks[*lowest].first_node + walking->at[*lowest];
    if (walking->result->circles++ == 0) {
        walking->result->circle_rank = graph->ranks[*lowest].number;
        walking->result->circle_call = graph->nodes[node].name;
    }
    uint32_t head = comm_set_of(graph, (uint32_t)node);
    walking->missing[head] = 0;
    walking->ready[walking->ready_end++] = head;
    return true;
}

static void walk(struct walking *walking)
{
    size_t lowest = 0;
    for (size_t rank = 0; rank < walking->graph->rank_count; rank++)
        arrive(walking, rank);
    do {
        while (walking->ready_first < walking->ready_end)
            visit_set(walking, walking->ready[walking->ready_first++]);
    } while (break_circle(walking, &lowest));
}

bool tdc_comm_graph_events(struct tdc_comm_graph *graph,
                           void (*visit)(void *context, const struct tdc_comm_event *event),
                           void *context, struct tdc_comm_result *result)
{
    *result = (struct tdc_comm_result){.phase = TDC_COMM_NOWHERE};
    struct walking walking = {.graph = graph, .result = result, .visit = visit, .context = context};
    bool done = comm_link_all(graph, result) && comm_list_sets(graph) && prepare(&walking);
    if (done)
        walk(&walking);
    free(walking.missing);
    free(walking.ready);
    free(walking.members);
    free(walking.at);
    free(walking.time);
    return done;
}
