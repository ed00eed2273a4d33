/*
 * fx_tree.h - the arrays that TorchAir's interpreter of FX graphs left below a folder.
 *
 * data_dump/TOKEN + 1/gm_TIME_dump/NODE.INPUT.0.TIME.npy in older versions, RANK/GRAPH/TOKEN/...
 * in newer ones. Tokens count from 0 here in either case.
 */
#ifndef TDC_HOST_FX_TREE_H
#define TDC_HOST_FX_TREE_H

#include "host/graph/files/folder.h"
#include "io/base/name_table.h"

/* A file of a node. Arguments that are lists have a second number. */
struct tdc_fx_array {
    const char *path;
    uint64_t argument, element; /* element: 0 for what is no list */
    const char *rest;           /* of the name, behind the numbers */
    bool repeated;              /* another file has the same numbers and came before it */
};

struct tdc_fx_node {
    const char *name;               /* "mm-aten.mm.default" */
    struct tdc_fx_array *arrays[2]; /* inputs and outputs, in the order of their numbers */
    size_t counts[2], rooms[2];
};

struct tdc_fx_token {
    uint64_t token;
    struct tdc_fx_node *nodes; /* in the order of the names of their files */
    size_t count, room;
    struct tdc_name_table names; /* numbers are positions of nodes */
};

struct tdc_fx_graph {
    struct tdc_fx_token *tokens;
    size_t count, room;
};

struct tdc_fx_tree {
    struct tdc_fx_graph *graphs;
    size_t count, room;
};

/* `ranked`: the layout with folders of ranks, of which root is one. As tdc_ge_tree_find. */
tdc_status tdc_fx_tree_find(struct tdc_arena *arena, const char *root, bool ranked,
                            const struct tdc_options *options, struct tdc_fx_tree *tree,
                            struct tdc_error *error);
void tdc_fx_tree_free(struct tdc_fx_tree *tree);

const struct tdc_fx_node *tdc_fx_token_find(const struct tdc_fx_token *token, const char *node);
const struct tdc_fx_token *tdc_fx_graph_find(const struct tdc_fx_graph *graph, uint64_t token);

#endif
