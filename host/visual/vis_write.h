/* vis_write.h - a graph as rows of the database. */
#ifndef TDC_HOST_VIS_WRITE_H
#define TDC_HOST_VIS_WRITE_H

#include "host/visual/vis_graph.h"
#include "io/vis/vis_db.h"

struct tdc_vis_writing {
    struct tdc_vis_db *db;
    const struct tdc_vis_graph *graph, *other; /* other: NULL of one side */
    const char *source;                        /* "NPU" or "Bench" */
    int64_t step, rank;
    bool digests;  /* show checksums */
    bool overflow; /* and levels of overflow */
};

/* Rows of tb_nodes and tb_stack. */
tdc_status tdc_vis_write_graph(const struct tdc_vis_writing *writing, struct tdc_error *error);

#endif
