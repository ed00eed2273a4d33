/*
 * graph_text.h - a graph as TorchAir writes it before GE works on it (dynamo_original_graph_*.txt).
 *
 * The text form of a protobuf message, of which three things matter: the names of the operators,
 * what they take from whom, and after which FX nodes their outputs are named. Everything else is
 * passed over, whatever it is called.
 */
#ifndef TDC_HOST_GRAPH_TEXT_H
#define TDC_HOST_GRAPH_TEXT_H

#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "tdcmp.h"

/* Names are those of dump files: blanks, dots and slashes became '_'. Texts live in the arena. */
struct tdc_graph_op {
    const char *name;
    const char **inputs; /* who made them, without the number of the output; "" for none */
    size_t input_count;
    const char **nodes; /* FX nodes the outputs are named after, each once, in order */
    size_t node_count;
};

struct tdc_graph {
    struct tdc_graph_op *ops;
    size_t count;
    struct tdc_name_table names; /* numbers are positions of ops */
};

/* TDC_ERR_FORMAT names the line. Of two operators of one name the later counts. The graph is to be
 * freed in any case. */
tdc_status tdc_graph_parse(struct tdc_arena *arena, const char *text, size_t length,
                           const char *name, struct tdc_graph *graph, struct tdc_error *error);
tdc_status tdc_graph_load(struct tdc_arena *arena, const char *path, struct tdc_graph *graph,
                          struct tdc_error *error);
void tdc_graph_free(struct tdc_graph *graph);

/* NULL when there is none of that name. */
const struct tdc_graph_op *tdc_graph_find(const struct tdc_graph *graph, const char *name,
                                          size_t length);

#endif
