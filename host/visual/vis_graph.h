/*
 * vis_graph.h - one side of one rank: the calls of its dump as a tree of modules
 * (docs/msprobe.md#graph-database).
 */
#ifndef TDC_HOST_VIS_GRAPH_H
#define TDC_HOST_VIS_GRAPH_H

#include "host/visual/vis_item.h"

#define TDC_VIS_ROOT 0u
#define TDC_VIS_NONE UINT32_MAX
/* Modules below modules; each node tells its way from the root. */
#define TDC_VIS_DEPTH 1000

/* As the plugin numbers them. */
enum tdc_vis_type {
    TDC_VIS_MODULE = 0,
    TDC_VIS_API = 1,
    TDC_VIS_COLLECTION = 9
};

struct tdc_vis_node {
    const char *name;
    enum tdc_vis_type type;
    uint32_t up;                /* TDC_VIS_NONE: the root, or not in the tree */
    uint32_t first, last, next; /* children in their order */
    uint32_t partner;           /* in the other graph; TDC_VIS_NONE: unmatched */
    struct tdc_vis_call *call;  /* NULL: dump.json has none of that name */
    const char *stack;          /* JSON of its lines; NULL: none */
    bool has_precision, precision_is_float, has_micro_step;
    double precision;
    int64_t micro_step;
    const char *distributed; /* JSON: its partners on other ranks; NULL: none */
};

struct tdc_vis_graph {
    struct tdc_arena arena;
    struct tdc_vis_node *nodes;
    uint32_t count, capacity;
    struct tdc_name_table names; /* number = node */
    struct tdc_name_table call_names;
    struct tdc_vis_call *calls; /* by number */
    size_t call_capacity;
    uint32_t *order; /* nodes of the tree, children before their parents */
    uint32_t in_tree;
    const char *task, *framework, *data_folder; /* of dump.json; NULL: none, or null */
    bool digests;                               /* it has md5 values where msprobe looks */
    bool types_mindspore;                       /* the first type met is MindSpore's */
    bool own_micro_steps;                       /* construct.json counts them */
    int64_t micro_steps;                        /* then so many and one more */
    const char *path;                           /* of dump.json */
    const char *tensors;                        /* folder of the tensor files */
};

/*
 * Reads dump.json and, from the folder it lies in, construct.json and stack.json. whole: what
 * construct.json does not place is put below the root; otherwise it is left out, as msprobe does,
 * and options->message says how much. TDC_ERR_MISMATCH when construct.json is missing or empty. The
 * graph is freed by tdc_vis_graph_free in any case.
 */
tdc_status tdc_vis_graph_load(const char *path, bool whole, const struct tdc_options *options,
                              struct tdc_vis_graph *graph, struct tdc_error *error);
void tdc_vis_graph_free(struct tdc_vis_graph *graph);

/* TDC_VIS_NONE when there is none of that name. */
uint32_t tdc_vis_find(const struct tdc_vis_graph *graph, const char *name);

/* Numbers the micro steps of a graph that does not count them itself, and of the one it is compared
 * with (NULL: none), by the calls below the root; returns how many there are. */
int64_t tdc_vis_micro_steps(struct tdc_vis_graph *graph, struct tdc_vis_graph *other);

/* Tells each communication of each rank which calls of other ranks it exchanges with. level: by
 * their level of overflow, else by their precision. False when out of memory. */
bool tdc_vis_link_ranks(struct tdc_vis_graph *const *graphs, const int64_t *ranks, size_t count,
                        bool level);

/* ---- between the files of this folder -------------------------------------------------------- */

/* Reads dump.json into graph->calls. */
tdc_status tdc_vis_calls_load(struct tdc_vis_graph *graph, struct tdc_error *error);
/* A node of that name, a new one if need be; TDC_VIS_NONE when out of memory. The name must live as
 * long as the graph. */
uint32_t tdc_vis_node_of(struct tdc_vis_graph *graph, const char *name);
/* Puts a node that is nowhere yet below another; its place is the last. */
void tdc_vis_put_below(struct tdc_vis_graph *graph, uint32_t node, uint32_t up);
/* All nodes of the tree into graph->order. TDC_ERR_UNSUPPORTED when it is too deep. */
tdc_status tdc_vis_order(struct tdc_vis_graph *graph, struct tdc_error *error);

/* Places of construct.json, child by child. */
struct tdc_vis_places {
    struct tdc_name_table names;
    struct tdc_vis_place {
        const char *up; /* NULL: the root */
        int64_t micro_step;
    } * places; /* by number */
    size_t capacity;
};

/* The parent of a child, mended where a backward call lost it; NULL: the root. *failed when out of
 * memory. */
const char *tdc_vis_parent(struct tdc_arena *arena, const struct tdc_vis_places *places,
                           uint32_t child, bool *failed);
/* The name with its last .from.N as .to.N; the name itself when it does not end so; NULL when out
 * of memory. */
const char *tdc_vis_turned(struct tdc_arena *arena, const char *name, const char *from,
                           const char *to);
/* Whether a name ends in .direction.N. */
bool tdc_vis_ends_numbered(const char *name, const char *direction);

#endif
