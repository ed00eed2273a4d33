/* kernel_cells.h - rows of the tables of kernel dumps and npy folders, cell by cell. */
#ifndef TDC_HOST_KERNEL_CELLS_H
#define TDC_HOST_KERNEL_CELLS_H

#include "host/kernel_dump/kernel_pair.h"
#include "io/table/sink.h"

#define TDC_KERNEL_CELLS 28

/* One row being made; its texts live until it is begun again. */
struct tdc_kernel_cells {
    struct tdc_cell cells[TDC_KERNEL_CELLS];
    size_t count;
    struct tdc_text texts[TDC_KERNEL_CELLS];
};

void tdc_kernel_cells_init(struct tdc_kernel_cells *row);
void tdc_kernel_cells_free(struct tdc_kernel_cells *row);
void tdc_kernel_cells_begin(struct tdc_kernel_cells *row);

/* NULL: an empty cell. */
void tdc_kernel_put_text(struct tdc_kernel_cells *row, const char *text);
/* narrow: a float32. */
void tdc_kernel_put_number(struct tdc_kernel_cells *row, double number, bool narrow);
void tdc_kernel_put_value(struct tdc_kernel_cells *row, struct tdc_value value);
void tdc_kernel_put_shape(struct tdc_kernel_cells *row, const struct tdc_kernel_side *side,
                          bool brackets);
/* The four statistics of a file; empty ones of a file that was not read. */
void tdc_kernel_put_stats(struct tdc_kernel_cells *row, const struct tdc_kernel_side *side);
bool tdc_kernel_cells_good(const struct tdc_kernel_cells *row);

#endif
