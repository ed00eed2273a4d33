/* row_cells.h - the cells of a row, and the row as msprobe's JSON has it. */
#ifndef TDC_ANALYSIS_ROW_CELLS_H
#define TDC_ANALYSIS_ROW_CELLS_H

#include "host/table/table.h"
#include "io/base/text.h"

/* What a point-to-point operation says of itself. */
struct tdc_peer {
    bool given;
    bool integer;
    double number;
    const char *text; /* when it is none */
};

struct tdc_row_cells {
    struct tdc_table *table;
    bool plain_result; /* Result and Err_message as msprobe 26 leaves them here */
    struct tdc_cell cells[TDC_MOST_COLUMNS];
    /* places of columns, SIZE_MAX: absent */
    size_t npu_stats, bench_stats, diffs, result, message, stack;
    size_t relative[TDC_STATISTICS];
    size_t bench_at; /* record of the bench that stands at the place of the row */
    struct tdc_peer npu_op, npu_peer, bench_op, bench_peer;
    bool bench_ended; /* the bench has no record at that place */
};

void tdc_row_cells_init(struct tdc_row_cells *cells, struct tdc_table *table, bool plain_result);
/* Rows must be filled in their order. */
tdc_status tdc_row_cells_fill(struct tdc_row_cells *cells, size_t row, struct tdc_error *error);
/* Appends the row as an object, three levels deep; stack is JSON or NULL. */
void tdc_row_cells_put(const struct tdc_row_cells *cells, size_t row, const char *call,
                       const char *stack, struct tdc_text *out);

#endif
