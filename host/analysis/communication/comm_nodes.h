/* comm_nodes.h - what the graph is made of. Internal to host/analysis/communication. */
#ifndef TDC_ANALYSIS_COMM_NODES_H
#define TDC_ANALYSIS_COMM_NODES_H

#include "host/analysis/communication/comm_graph.h"

#define COMM_NONE UINT32_MAX

struct comm_suspect {
    size_t call;
    const char *name;
    uint32_t sub_layer; /* compute calls since the last node */
};

struct comm_node {
    size_t call;
    const char *name;
    uint32_t rank; /* place among the ranks */
    uint32_t api, partner_api;
    const long *partners; /* numbers, ascending */
    size_t partner_count;
    size_t held, held_count; /* suspects since the node before */
    uint32_t layer, sub_layer;
    uint32_t set;         /* a node of the same set, itself at its head */
    uint32_t next_alike;  /* of the same rank, API and end */
    uint32_t next_member; /* of the same set; lists are built after linking */
    uint8_t end;          /* enum tdc_comm_end */
    bool everyone;        /* names no ranks */
    bool directed;        /* of an API that needs to name one */
    bool kept;            /* suspicious, or holds something that is */
    bool suspicious_input, culprit;
    bool linked, seen;
};

struct comm_rank {
    long number;
    size_t first_node, node_count;
    size_t first_suspect;
    size_t held_from;    /* first suspect since the last node */
    uint32_t since_node; /* compute calls since then */
    bool early;          /* the first suspect comes before the first node */
};

struct tdc_comm_graph {
    struct tdc_comm_rules rules;
    struct tdc_arena arena;
    struct tdc_name_table apis;
    struct tdc_name_table groups; /* lists of partners, by their bytes */
    long *sorted;                 /* of one call */
    size_t sorted_capacity;
    struct comm_rank *ranks;
    size_t rank_count, rank_capacity;
    struct comm_node *nodes; /* rank by rank */
    size_t node_count, node_capacity;
    struct comm_suspect *suspects; /* rank by rank */
    size_t suspect_count, suspect_capacity;
};

/* The head of the set of a node. */
uint32_t comm_set_of(struct tdc_comm_graph *graph, uint32_t node);

/* Links the nodes of all ranks and gives linked ones a layer; false when out of memory. */
bool comm_link_all(struct tdc_comm_graph *graph, struct tdc_comm_result *result);
/* Makes lists of the sets, in the order of the nodes, each from its head; likewise. */
bool comm_list_sets(struct tdc_comm_graph *graph);

#endif
