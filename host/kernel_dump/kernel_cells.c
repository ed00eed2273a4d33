#include "host/kernel_dump/kernel_cells.h"

#include <math.h>
#include <string.h>

void tdc_kernel_cells_init(struct tdc_kernel_cells *row)
{
    row->count = 0;
    for (size_t i = 0; i < TDC_KERNEL_CELLS; i++)
        tdc_text_init(&row->texts[i], (size_t)1 << 20);
}

void tdc_kernel_cells_free(struct tdc_kernel_cells *row)
{
    for (size_t i = 0; i < TDC_KERNEL_CELLS; i++)
        tdc_text_free(&row->texts[i]);
}

void tdc_kernel_cells_begin(struct tdc_kernel_cells *row)
{
    row->count = 0;
    memset(row->cells, 0, sizeof row->cells);
}

/* The text that was put into the texts of the next cell. */
static void take_text(struct tdc_kernel_cells *row)
{
    const struct tdc_text *text = &row->texts[row->count];
    row->cells[row->count++] = (struct tdc_cell){
        .kind = TDC_CELL_TEXT, .text = tdc_text_get(text), .length = text->length};
}

static struct tdc_text *next_text(struct tdc_kernel_cells *row)
{
    tdc_text_clear(&row->texts[row->count]);
    return &row->texts[row->count];
}

void tdc_kernel_put_text(struct tdc_kernel_cells *row, const char *text)
{
    tdc_text_adds(next_text(row), text != NULL ? text : "");
    take_text(row);
}

void tdc_kernel_put_number(struct tdc_kernel_cells *row, double number, bool narrow)
{
    struct tdc_text *text = next_text(row);
    if (isnan(number)) { /* pandas leaves it out */
        take_text(row);
        return;
    }
    tdc_kernel_number(text, number, narrow);
    take_text(row);
    struct tdc_cell *cell = &row->cells[row->count - 1];
    cell->kind = TDC_CELL_NUMBER;
    cell->number = number;
}

void tdc_kernel_put_value(struct tdc_kernel_cells *row, struct tdc_value value)
{
    static const char *const words[] = {[TDC_HOLDS_NAN] = "Nan",
                                        [TDC_HOLDS_NA] = "N/A",
                                        [TDC_HOLDS_UNSUPPORTED] = "unsupported",
                                        [TDC_HOLDS_SHAPE] = "shape unmatched"};
    if (value.form == TDC_HOLDS_NUMBER)
        tdc_kernel_put_number(row, value.number, false);
    else
        tdc_kernel_put_text(row,
                            value.form < sizeof words / sizeof *words ? words[value.form] : NULL);
}

void tdc_kernel_put_shape(struct tdc_kernel_cells *row, const struct tdc_kernel_side *side,
                          bool brackets)
{
    struct tdc_text *text = next_text(row);
    if (side->read)
        tdc_kernel_shape(text, side, brackets);
    take_text(row);
}

void tdc_kernel_put_stats(struct tdc_kernel_cells *row, const struct tdc_kernel_side *side)
{
    for (int i = 0; i < TDC_STATISTICS; i++)
        tdc_kernel_put_number(row, side->read && side->count != 0 ? side->stats[i] : (double)NAN,
                              side->dtype == TDC_F32);
}

bool tdc_kernel_cells_good(const struct tdc_kernel_cells *row)
{
    for (size_t i = 0; i < row->count; i++)
        if (row->texts[i].failed)
            return false;
    return true;
}
