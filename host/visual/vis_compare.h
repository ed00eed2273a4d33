/*
 * vis_compare.h - which node faces which, what their items differ by, and the number that colours a
 * node (docs/msprobe.md#graph-database).
 */
#ifndef TDC_HOST_VIS_COMPARE_H
#define TDC_HOST_VIS_COMPARE_H

#include "host/judge/row.h"
#include "host/visual/vis_graph.h"

enum tdc_vis_mode {
    TDC_VIS_STATISTICS,
    TDC_VIS_DIGESTS,
    TDC_VIS_TENSORS,
    TDC_VIS_STRUCTURE /* no values at all */
};

struct tdc_vis_comparison {
    struct tdc_vis_graph *npu, *bench;
    enum tdc_vis_mode mode;
    bool fuzzy;
    /* Everything gets its metrics, and a collection its worst call in every mode: msprobe forgets
     * inputs whose names have ".output.", and collections of tensors. */
    bool whole;
    const uint32_t *mapping; /* by node of npu: the node it is mapped to; NULL: by equal names */
    const struct tdc_options *options;

    /* ---- between the files of this folder ---- */
    struct tdc_vis_row *rows; /* of all pairs of nodes */
    size_t count, capacity;
    uint32_t *compared; /* nodes of npu with rows, in the order in which they were met */
    size_t compared_count;
};

/* An item of the npu that faces one of the bench, or none. */
struct tdc_vis_row {
    struct tdc_vis_item *npu;
    const struct tdc_vis_item *bench;
    /* whose checksums are compared: msprobe counts them apart (docs/msprobe.md#graph-database) */
    const struct tdc_vis_item *npu_digest, *bench_digest;
    struct tdc_value values[TDC_TENSOR_VALUES]; /* of tensors */
};

/* TDC_ERR_MISMATCH when the dumps are of different tasks. */
tdc_status tdc_vis_find_mode(const struct tdc_vis_graph *npu, const struct tdc_vis_graph *bench,
                             enum tdc_vis_mode *mode, struct tdc_error *error);

/* Sets partners, adds metrics to the items of npu, and its precisions. */
tdc_status tdc_vis_compare(struct tdc_vis_comparison *comparison, struct tdc_error *error);

/* Pairs the items of two nodes into rows. False when out of memory. */
bool tdc_vis_add_rows(struct tdc_vis_comparison *comparison, uint32_t npu, uint32_t bench);
/* Compares what the dumps say: statistics, checksums. False when out of memory. */
bool tdc_vis_compare_items(struct tdc_vis_comparison *comparison);
/* Compares the tensor files. */
tdc_status tdc_vis_compare_tensors(struct tdc_vis_comparison *comparison, struct tdc_error *error);
/* What a node makes of the metrics of its items; *is_float when Python would write it with a point.
 */
double tdc_vis_precision(const struct tdc_vis_comparison *comparison,
                         const struct tdc_vis_node *node, bool *is_float);

#endif
