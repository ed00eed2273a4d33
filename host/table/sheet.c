/* sheet.c - the arrangement of a workbook, and its stacks. */
#include "host/table/sheet.h"

#include <math.h>
#include <string.h>

#include "host/table/column_id.h"
#include "host/table/columns.h"

/* Up to the name, which stays while the sheet is moved sideways. */
#define FROZEN 3

static const struct tdc_sink_page pages[] = {
    {.name = "Summary", .widths = {16, 62, 18, 14, 20, 18, 12, 60}},
    {.name = "Stacks", .widths = {50, 140}, .frozen_header = true},
};

/* What stands open fits an ordinary window. */
static double sheet_width(const struct tdc_column *column)
{
    switch (column->id) {
    case NPU_NAME:
        return 42;
    case MESSAGE:
        return 44;
    case NPU_SHAPE:
        return 16;
    default:
        return tdc_column_width(column);
    }
}

void tdc_sheet_arrange(const struct tdc_table *table, struct tdc_sheet_layout *layout)
{
    *layout = (struct tdc_sheet_layout){.bench_name = SIZE_MAX, .npu_name = SIZE_MAX};
    for (size_t i = 0; i < table->column_count; i++) {
        const struct tdc_column *column = table->columns[i];
        if (column->id == STACK)
            continue;
        if (column->id == BENCH_NAME)
            layout->bench_name = layout->count;
        if (column->id == NPU_NAME)
            layout->npu_name = layout->count;
        layout->columns[layout->count] = i;
        layout->names[layout->count] = tdc_column_name(column);
        layout->widths[layout->count] = sheet_width(column);
        layout->looks[layout->count] = tdc_column_look(column);
        layout->folded[layout->count] = i >= table->front_columns;
        layout->count++;
    }
}

void tdc_sheet_describe(const struct tdc_table *table, const struct tdc_sheet_layout *layout,
                        struct tdc_sink_spec *spec)
{
    spec->sheet = "Rows";
    spec->columns = layout->names;
    spec->column_count = layout->count;
    spec->widths = layout->widths;
    spec->looks = layout->looks;
    spec->folded = layout->folded;
    spec->frozen_columns = FROZEN;
    spec->pages = pages;
    spec->page_count = table->stacks != NULL ? 2 : 1;
}

void tdc_sheet_cells(const struct tdc_sheet_layout *layout, const struct tdc_cell *cells,
                     struct tdc_cell *sheet)
{
    for (size_t i = 0; i < layout->count; i++) {
        sheet[i] = cells[layout->columns[i]];
        /* a sheet has no word for infinity that is a number; an empty text is no cell */
        if ((sheet[i].kind == TDC_CELL_NUMBER && !isfinite(sheet[i].number)) ||
            (sheet[i].kind == TDC_CELL_TEXT && sheet[i].length == 0))
            sheet[i].kind = TDC_CELL_NONE;
    }
    const struct tdc_cell *npu = &sheet[layout->npu_name];
    struct tdc_cell *bench = &sheet[layout->bench_name];
    if (npu->kind == TDC_CELL_TEXT && bench->kind == TDC_CELL_TEXT &&
        npu->length == bench->length && memcmp(npu->text, bench->text, npu->length) == 0)
        bench->kind = TDC_CELL_NONE;
}

static struct tdc_cell text_cell(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

/* Once for each call that has rows. */
static tdc_status stacks_page(struct tdc_table *table, struct tdc_sink *sink, size_t page,
                              struct tdc_error *error)
{
    struct tdc_cell cells[2] = {text_cell("Call"), text_cell("Stack")};
    tdc_status status = tdc_sink_page_row(sink, page, cells, 2, true, error);
    size_t written = 1;
    for (size_t i = 0; i < table->row_count && status == TDC_OK && written < TDC_SHEET_ROWS; i++) {
        const struct tdc_record *npu = tdc_row_npu(table, &table->rows[i]);
        if (npu == NULL || !npu->first_of_entry)
            continue;
        const char *call = table->match->npu->entries[npu->entry].name;
        const struct tdc_stack *stack = tdc_stacks_find(table->stacks, call);
        if (stack == NULL || stack->list == NULL)
            continue;
        cells[0] = text_cell(call);
        cells[1] = text_cell(stack->list);
        status = tdc_sink_page_row(sink, page, cells, 2, false, error);
        written++;
    }
    return status;
}

tdc_status tdc_sheet_pages(struct tdc_table *table, struct tdc_sink *sink, struct tdc_error *error)
{
    tdc_status status = tdc_summary_page(table, sink, 0, error);
    if (status == TDC_OK && table->stacks != NULL)
        status = stacks_page(table, sink, 1, error);
    return status;
}
