/*
 * layer.h - the parts of layer mapping (docs/msprobe.md#layer-mapping). Internal to host/match.
 *
 * Each entry of a dump gets a scope: the dotted path of the place in the network where it was
 * called. The scopes of a side form a tree. An NPU scope is translated component by component with
 * the rules of the user's file and looked up in the tree of the bench side.
 */
#ifndef TDC_HOST_LAYER_H
#define TDC_HOST_LAYER_H

#include "host/match/match.h"

struct tdc_layer_entry {
    const char *scope; /* "Cell.net.fc": first component is not part of the tree; NULL: no scope */
    const char *type;  /* class of a module, name of an API */
    const char *state; /* "forward", "backward", "parameters_grad" */
    uint32_t node;     /* in the tree */
    uint32_t list;     /* the entries of the same node and state */
    uint32_t position; /* in that list */
};

struct tdc_layer_node {
    const char *type; /* of the last entry put here, else the node's own name */
    const char *name;
    uint32_t parent;
};

struct tdc_layer_side {
    const struct tdc_dump *dump;
    struct tdc_arena *arena;         /* of the match */
    struct tdc_layer_entry *entries; /* by entry of the dump */
    struct tdc_layer_node *nodes;
    uint32_t node_count, node_capacity;
    struct tdc_name_table children; /* parent number and name -> node - 1 */
    struct tdc_name_table lists;    /* node number and state -> list */
    uint32_t *list_starts;          /* by list: where it begins in members; one more at the end */
    uint32_t *members;              /* entries, list by list, each list in file order */
    bool usable;                    /* stack.json and construct.json were there and not empty */
};

#define TDC_LAYER_ROOT 0u
#define TDC_LAYER_NONE UINT32_MAX

/* Finds the scopes of all entries; side->usable tells whether there was anything to find them from.
 */
tdc_status tdc_layer_scopes(struct tdc_layer_side *side, const struct tdc_match_rules *rules,
                            struct tdc_error *error);

/* Builds the tree. False when out of memory. */
bool tdc_layer_tree(struct tdc_layer_side *side);
void tdc_layer_free(struct tdc_layer_side *side);

/* Child of a node by name, TDC_LAYER_NONE if there is none. */
uint32_t tdc_layer_child(const struct tdc_layer_side *side, uint32_t node, const char *name,
                         size_t length);
/* Follows dotted names down from a node; TDC_LAYER_NONE when a name is missing. */
uint32_t tdc_layer_descend(const struct tdc_layer_side *side, uint32_t node, const char *names,
                           size_t length);
/* The entry at a position among those of a node and state, TDC_LAYER_NONE if there is none. */
uint32_t tdc_layer_entry_at(const struct tdc_layer_side *side, uint32_t node, const char *state,
                            uint32_t position);

/*
 * The function of the framework that a call stack leads to, in the arena; NULL if there is none.
 * lines is the list of texts from stack.json.
 */
struct tdc_json;
const char *tdc_framework_function(struct tdc_arena *arena, const struct tdc_json *lines,
                                   bool mindspore);

#endif
