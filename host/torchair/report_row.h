/*
 * report_row.h - rows of TorchAir's table: two tensors opened, described and reduced.
 *
 * A pair is cut into pieces of a fixed number of elements, which any thread takes; their sums are
 * merged in order. Memory is some buffers a thread, and a few sums for every four megabytes.
 */
#ifndef TDC_HOST_REPORT_ROW_H
#define TDC_HOST_REPORT_ROW_H

#include "host/graph/graph_match.h"
#include "host/torchair/soft_sums.h"

/* A side of a row. */
struct tdc_report_side {
    const char *name;  /* of the tensor, as files are opened; NULL or a bad one: nothing known */
    const char *dtype; /* "torch.float16"; NULL: not known */
    char *shape;       /* "[8, 20]"; NULL: not known. Its own memory */
    bool written;      /* by GE's own statistics: there are no elements */
    uint64_t count;
    struct tdc_lone_sums sums;
};

struct tdc_report_row {
    uint64_t token, time, index;
    bool output;
    size_t created; /* its number in the order of the graph */
    struct tdc_report_side golden, mine;
    bool judged; /* metrics mean something */
    double metrics[TDC_SOFT_METRICS];
    char *reason; /* why there are none; NULL: there is no reason. Its own memory */
};

/* How the two generations of the old tool differ. */
struct tdc_report_style {
    const char *u16, *u32; /* names of types that torch did not have */
};

/* Reduces all rows. TDC_ERR_MEMORY, TDC_ERR_INTERRUPTED, TDC_ERR_SYSTEM; what is wrong with a file
 * is the reason of its row. */
tdc_status tdc_report_rows_fill(struct tdc_report_row *rows, size_t count,
                                const struct tdc_report_style *style,
                                const struct tdc_options *options, struct tdc_error *error);
void tdc_report_row_free(struct tdc_report_row *row);

/* report_statistics.c: a side of which GE has kept statistics alone, by its name. It has no
 * elements. TDC_ERR_MEMORY, or what is wrong with the file. */
tdc_status tdc_report_written_side(struct tdc_report_side *side, struct tdc_error *error);
/* "[8, 20]"; NULL when out of memory. To be freed. */
char *tdc_report_shape(const uint64_t *sizes, size_t dimensions);

/* The rows the old tools leave out: lengths that differ, or int8 against something else. */
bool tdc_report_row_dropped(const struct tdc_report_row *row);

#endif
