/*
 * row_blocks.h - rows made into bytes by several threads, and put into a file in their order.
 *
 * Making the text of a row takes longer than judging it from statistics, and longer than writing
 * it. Who calls these functions does that, too, whenever it would wait. The file is the same,
 * however many threads there are. Memory: some blocks of half a thousand rows.
 */
#ifndef TDC_IO_ROW_BLOCKS_H
#define TDC_IO_ROW_BLOCKS_H

#include "io/base/text.h"
#include "io/table/sink.h"

/* Fills the cells of a row; their texts may be in `texts`, which is cleared for each. Called by
 * several threads at once, each with texts of its own. */
typedef tdc_status (*tdc_cells_of)(void *context, size_t row, struct tdc_text *texts,
                                   struct tdc_cell *cells, struct tdc_error *error);

struct tdc_row_blocks;

/* NULL, and rows have to be given one by one: the rows of the format depend on each other (xlsx), a
 * single thread is wanted, or there is no memory. */
struct tdc_row_blocks *tdc_row_blocks_start(struct tdc_sink *sink, int threads,
                                            tdc_cells_of cells_of, void *context);
/* The rows below `rows` can be asked for; they were fewer before. A failure is kept for the end. */
void tdc_row_blocks_ready(struct tdc_row_blocks *blocks, size_t rows);
/* Puts all rows that are ready, and frees the blocks; the first failure, if any. The sink is not
 * closed. */
tdc_status tdc_row_blocks_end(struct tdc_row_blocks *blocks, struct tdc_error *error);

#endif
