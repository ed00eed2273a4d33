/* write.c - a table as a file. */
#include <stdlib.h>
#include <unistd.h>

#include "host/judge/columns.h"
#include "io/error.h"
#include "io/sink.h"

static tdc_status write_rows(struct tdc_table *table, struct tdc_sink *sink,
                             struct tdc_error *error)
{
    struct tdc_cell cells[64];
    for (size_t i = 0; i < table->row_count; i++) {
        tdc_status status = tdc_table_row(table, i, cells, error);
        if (status == TDC_OK)
            status = tdc_sink_row(sink, cells, (tdc_colour)table->rows[i].colour, error);
        if (status != TDC_OK)
            return status;
    }
    return TDC_OK;
}

tdc_status tdc_table_write(tdc_table *table, tdc_format format, const char *path,
                           struct tdc_error *error)
{
    const char *names[64];
    double widths[64];
    for (size_t i = 0; i < table->column_count; i++) {
        names[i] = tdc_column_name(table->columns[i]);
        widths[i] = tdc_column_width(table->columns[i]);
    }
    bool extended = table->rules->extended;
    struct tdc_sink_spec spec = {
        .path = path,
        .columns = names,
        .column_count = table->column_count,
        .rows = table->row_count,
        .sheet = table->highlight_cells ? "Sheet" : "Sheet1",
        .header_style = extended || !table->highlight_cells,
        .polish = extended,
        .widths = widths,
        .escape_formulas = extended,
        .argb_yellow = !extended,
    };
    struct tdc_sink *sink;
    tdc_status status = tdc_sink_open(format, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    status = write_rows(table, sink, error);
    if (status != TDC_OK) {
        tdc_sink_discard(sink);
        return status;
    }
    return tdc_sink_close(sink, error);
}
