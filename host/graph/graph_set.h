/*
 * graph_set.h - two dumps of graphs as comparisons of records, one for each rank, graph and token.
 *
 * Tensors that face each other get the same name, that of my operator, so that the rest of the
 * program compares them as it compares any dump.
 */
#ifndef TDC_HOST_GRAPH_SET_H
#define TDC_HOST_GRAPH_SET_H

#include "host/dump/dump.h"

struct tdc_graph_set;

/* One comparison. Texts live as long as the set. */
struct tdc_graph_item {
    /* The two dumps of it, to be freed by tdc_dump_free. */
    tdc_status (*load)(const struct tdc_graph_item *item, struct tdc_dump **npu,
                       struct tdc_dump **bench, struct tdc_error *error);
    struct tdc_graph_set *set; /* NULL: of another kind of dump (host/kernel_dump/kernel_set.h) */
    const char *mine, *golden; /* folders */
    char rank[64];             /* "rank0", "graph1", "rank0_graph1" or "" */
    uint64_t token;
    size_t source, graph; /* where it is in the set */
};

/* Finds ranks, graphs and tokens of both sides; what has no counterpart is told. token < 0: all.
 * TDC_ERR_NOT_FOUND when the test has no graph text, TDC_ERR_NOTHING when nothing is in common. */
tdc_status tdc_graph_set_find(const char *mine, const char *golden, int token,
                              const struct tdc_options *options, struct tdc_graph_set **set,
                              struct tdc_error *error);
void tdc_graph_set_free(struct tdc_graph_set *set);
size_t tdc_graph_set_count(const struct tdc_graph_set *set);
const struct tdc_graph_item *tdc_graph_set_get(const struct tdc_graph_set *set, size_t index);
/* Tokens and graphs of one side alone; each was told. */
size_t tdc_graph_set_left_out(const struct tdc_graph_set *set);

/* graph_dumps.c: rows as two dumps. data folders are the folders of the item. */
struct tdc_graph_pairs;
tdc_status tdc_graph_dumps(const struct tdc_graph_item *item, const struct tdc_graph_pairs *pairs,
                           struct tdc_dump **npu, struct tdc_dump **bench, struct tdc_error *error);

#endif
