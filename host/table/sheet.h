/*
 * sheet.h - a table of the sound rules as a workbook: what a person opens.
 *
 * The sheet `Summary` says what the page of the terminal says, `Rows` is the table, `Stacks` has
 * the stack of each call once.
 */
#ifndef TDC_HOST_SHEET_H
#define TDC_HOST_SHEET_H

#include "host/table/table.h"
#include "io/table/sink.h"

/* The columns of the sheet: those of the table without stacks. */
struct tdc_sheet_layout {
    size_t columns[TDC_MOST_COLUMNS]; /* numbers of the table's */
    size_t count;
    size_t bench_name; /* number of the table's; its cell is empty where the names are equal */
    size_t npu_name;
    const char *names[TDC_MOST_COLUMNS];
    double widths[TDC_MOST_COLUMNS];
    unsigned char looks[TDC_MOST_COLUMNS];
    bool folded[TDC_MOST_COLUMNS];
};

void tdc_sheet_arrange(const struct tdc_table *table, struct tdc_sheet_layout *layout);
/* What the sheet adds to the spec of a sink; the layout must outlive it. */
void tdc_sheet_describe(const struct tdc_table *table, const struct tdc_sheet_layout *layout,
                        struct tdc_sink_spec *spec);
/* The cells of a row of the sheet out of those of the table. */
void tdc_sheet_cells(const struct tdc_sheet_layout *layout, const struct tdc_cell *cells,
                     struct tdc_cell *sheet);
/* The sheets beside the table, when all rows are written. */
tdc_status tdc_sheet_pages(struct tdc_table *table, struct tdc_sink *sink, struct tdc_error *error);

/* -> summary_page.c */
tdc_status tdc_summary_page(struct tdc_table *table, struct tdc_sink *sink, size_t page,
                            struct tdc_error *error);

#endif
