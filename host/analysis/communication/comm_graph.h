/*
 * comm_graph.h - the calls of several ranks, linked where they communicate, and where among them a
 * fault shows first.
 *
 * Each rank is a chain of communication calls (nodes). A node holds the suspicious compute calls
 * since the node before it. Nodes of different ranks are linked when they are ends of one
 * communication; linked nodes share a layer, the time that ranks have in common. The search has
 * three phases: before any communication, along the layers, after the last node.
 *
 * The caller feeds the calls of a rank in their order. Time and memory are linear in calls and
 * links; links themselves are not kept.
 */
#ifndef TDC_ANALYSIS_COMM_GRAPH_H
#define TDC_ANALYSIS_COMM_GRAPH_H

#include <stdint.h>

#include "host/analysis/communication/comm_name.h"
#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "tdcmp.h"

/* What to do where the searches that use the graph differ. */
struct tdc_comm_rules {
    /* A node whose layer is not above its predecessor's gets the next one, before it is linked. */
    bool raise_layers;
    /* Held compute calls count whatever their node; else only those of nodes that send, or belong
     * to a collective, and have suspicious inputs. */
    bool all_holders;
};

/* A communication call as the caller sees it. */
struct tdc_comm_call {
    enum tdc_comm_end end;
    bool has_partners;    /* else all ranks */
    const long *partners; /* numbers of ranks, in any order, repeated or not */
    size_t partner_count;
    bool suspicious;       /* worth keeping */
    bool suspicious_input; /* what came in was wrong already */
    bool culprit;          /* wrong itself */
};

struct tdc_comm_graph;

/* NULL when out of memory. */
struct tdc_comm_graph *tdc_comm_graph_new(const struct tdc_comm_rules *rules);
void tdc_comm_graph_free(struct tdc_comm_graph *graph);

/* Ranks come in ascending order; the calls that follow are theirs. All return false when out of
 * memory. */
bool tdc_comm_graph_rank(struct tdc_comm_graph *graph, long number);
/* `call` is the caller's number of it, ascending in a rank; names are copied. */
bool tdc_comm_graph_compute(struct tdc_comm_graph *graph, size_t call, const char *name,
                            bool suspicious);
bool tdc_comm_graph_communication(struct tdc_comm_graph *graph, size_t call, const char *name,
                                  const struct tdc_comm_call *details);

enum tdc_comm_phase {
    TDC_COMM_BEFORE,
    TDC_COMM_DURING,
    TDC_COMM_AFTER,
    TDC_COMM_NOWHERE
};

struct tdc_comm_finding {
    long rank;
    size_t call;
    const char *name; /* lives as long as the graph */
};

struct tdc_comm_result {
    enum tdc_comm_phase phase;         /* of a search */
    struct tdc_comm_finding *findings; /* by rank, then call; they belong to the graph */
    size_t count;
    /* what the dumps do not agree about */
    size_t absent_partners; /* links to ranks of which there is no dump */
    long absent_rank;       /* the first */
    const char *absent_call;
    size_t unlinked; /* communication calls of several ranks without any partner */
    long unlinked_rank;
    const char *unlinked_call;
    size_t circles; /* of events: communications that wait for each other, taken all the same */
    long circle_rank;
    const char *circle_call;
};

/* phase_begins, if any, is called before each phase that is entered. False when out of memory. */
bool tdc_comm_graph_search(struct tdc_comm_graph *graph,
                           void (*phase_begins)(void *context, enum tdc_comm_phase phase),
                           void *context, struct tdc_comm_result *result);

/* One communication: the calls that take part in it. */
struct tdc_comm_member {
    size_t rank; /* its place in the order in which ranks were given */
    size_t call;
    enum tdc_comm_end end;
};

struct tdc_comm_event {
    uint32_t time; /* from 1: communications in the longest chain that ends with this one */
    const struct tdc_comm_member *members; /* by rank, then call */
    size_t count;
};

/*
 * Links the calls and visits all communications in an order of time: whatever comes before one on
 * any of its ranks was visited before it, but where calls wait for each other in a circle. For a
 * graph whose communications are all suspicious (others are not linked), and in place of a search.
 * False when out of memory.
 */
bool tdc_comm_graph_events(struct tdc_comm_graph *graph,
                           void (*visit)(void *context, const struct tdc_comm_event *event),
                           void *context, struct tdc_comm_result *result);

#endif
