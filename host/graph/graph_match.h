/*
 * graph_match.h - which tensor of a GE dump faces which of FX, or of another GE dump.
 *
 * An operator of GE is called after the operators of the graph text it was made of: one, or several
 * that were fused, whose names stand in a row without anything between them. The graph text says
 * after which FX nodes their outputs are named. What GE has put in itself (casts, changes of
 * storage formats) has no counterpart: its output faces its own input.
 */
#ifndef TDC_HOST_GRAPH_MATCH_H
#define TDC_HOST_GRAPH_MATCH_H

#include "host/graph/files/fx_tree.h"
#include "host/graph/files/ge_tree.h"
#include "host/graph/graph_text.h"

/* A row: two tensors, or one that nothing faces. */
struct tdc_graph_pair {
    uint64_t token;
    const char *mine, *golden;      /* "FILE,inputs,0" or a .npy file; NULL: there is none */
    const struct tdc_op_file *file; /* of my side; NULL without one */
    bool output;                    /* else an input, of my side if it has one */
    uint64_t index;                 /* of that side */
    const char *how;                /* the two were found, or why there is no second */
    const char *node;               /* FX node or golden operator of a row without my side */
    const char *error; /* NULL, or why the file `mine` or `golden` cannot be read at all */
    bool blank;        /* the place of a golden tensor that was never dumped */
};

struct tdc_graph_pairs {
    struct tdc_graph_pair *pairs; /* in the order of the graph */
    size_t count, room;
};

/* What is matched: one token of one graph. */
struct tdc_graph_sides {
    const struct tdc_graph *graph;
    const struct tdc_ge_token *mine;
    const struct tdc_fx_token *fx;     /* golden side of FX, or */
    const struct tdc_ge_token *golden; /* of GE */
    /* Everything: tensors that nothing faces are rows as well, and files of FX that are there
     * twice are left out. Otherwise as the old tools do. */
    bool complete;
};

/* Appends the pairs of a token. Texts live in the arena. Warnings go through options->message.
 * TDC_ERR_MEMORY. */
tdc_status tdc_graph_match(struct tdc_arena *arena, const struct tdc_graph_sides *sides,
                           const struct tdc_options *options, struct tdc_graph_pairs *pairs,
                           struct tdc_error *error);

#endif
