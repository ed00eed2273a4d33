#include "io/table/sink.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/table/sink_backend.h"

static const struct tdc_sink_backend *backend_of(tdc_format format)
{
    switch (format) {
    case TDC_FORMAT_NONE:
        return NULL;
    case TDC_FORMAT_XLSX:
        return &tdc_xlsx_backend;
    case TDC_FORMAT_CSV:
        return &tdc_csv_backend;
    case TDC_FORMAT_JSON:
    case TDC_FORMAT_JSONL:
        return &tdc_json_backend;
    }
    return NULL;
}

tdc_status tdc_sink_write_error(const struct tdc_sink *sink, struct tdc_error *error)
{
    return tdc_fail_errno(error, TDC_ERR_WRITE, sink->writer.failure, "%s: cannot be written",
                          sink->file.path);
}

void tdc_sink_discard(struct tdc_sink *sink)
{
    if (sink == NULL)
        return;
    sink->backend->release(sink);
    tdc_byte_writer_free(&sink->writer);
    tdc_out_file_discard(&sink->file);
    free(sink);
}

tdc_status tdc_sink_open_split(tdc_format format, const struct tdc_sink_spec *spec,
                               size_t sheet_rows, struct tdc_sink **sink, struct tdc_error *error)
{
    *sink = NULL;
    const struct tdc_sink_backend *backend = backend_of(format);
    if (backend == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: unknown format of a result file %d",
                        spec->path, (int)format);
    if (spec->column_count == 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: a table without columns", spec->path);
    struct tdc_sink *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    made->backend = backend;
    made->column_count = spec->column_count;
    made->sheet_rows = sheet_rows;
    made->escape_formulas = spec->escape_formulas;
    made->objects = spec->objects;
    made->lines = format == TDC_FORMAT_JSONL;
    made->exclusive = spec->exclusive;
    tdc_status status = spec->streamed
                            ? tdc_out_file_open_stream(spec->path, spec->stream, &made->file, error)
                            : tdc_out_file_open(spec->path, &made->file, error);
    if (status == TDC_OK && !tdc_byte_writer_start(&made->writer, made->file.fd))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", spec->path);
    if (status == TDC_OK)
        status = backend->begin(made, spec, error);
    if (status != TDC_OK) {
        tdc_sink_discard(made);
        return status;
    }
    *sink = made;
    return TDC_OK;
}

tdc_status tdc_sink_open(tdc_format format, const struct tdc_sink_spec *spec,
                         struct tdc_sink **sink, struct tdc_error *error)
{
    return tdc_sink_open_split(format, spec, TDC_SHEET_ROWS, sink, error);
}

static tdc_status repeat_first(const struct tdc_sink *sink, struct tdc_error *error)
{
    if (error != NULL)
        *error = sink->first;
    return sink->first.status;
}

tdc_status tdc_sink_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                        struct tdc_error *error)
{
    if (sink->first.status != TDC_OK)
        return repeat_first(sink, error);
    tdc_status status = sink->backend->row(sink, cells, colour, &sink->first);
    if (status != TDC_OK)
        return repeat_first(sink, error);
    sink->rows++;
    return TDC_OK;
}

static tdc_status written(struct tdc_sink *sink, struct tdc_error *error)
{
    if (sink->writer.failure == 0)
        return TDC_OK;
    tdc_sink_write_error(sink, &sink->first);
    return repeat_first(sink, error);
}

void tdc_sink_put_block(struct tdc_sink *sink, const struct tdc_error *failure,
                        struct tdc_sink_bytes before, struct tdc_sink_bytes bytes, size_t rows)
{
    if (sink->first.status != TDC_OK)
        return;
    if (failure != NULL) {
        sink->first = *failure;
        return;
    }
    tdc_put_large(&sink->writer, before.data, before.length);
    tdc_put_large(&sink->writer, bytes.data, bytes.length);
    sink->rows += rows;
    if (sink->writer.failure != 0)
        tdc_sink_write_error(sink, &sink->first);
}

tdc_status tdc_sink_head(struct tdc_sink *sink, const char *members, struct tdc_error *error)
{
    if (!sink->objects || sink->backend != &tdc_json_backend)
        return TDC_OK;
    tdc_putc(&sink->writer, '{');
    tdc_put(&sink->writer, members, strlen(members));
    if (sink->lines)
        TDC_PUT_LITERAL(&sink->writer, "}\n");
    else
        TDC_PUT_LITERAL(&sink->writer, ",\n\"rows\": [\n");
    return written(sink, error);
}

tdc_status tdc_sink_object(struct tdc_sink *sink, const char *object, size_t length,
                           struct tdc_error *error)
{
    if (sink->first.status != TDC_OK)
        return repeat_first(sink, error);
    if (!sink->lines && sink->rows != 0)
        TDC_PUT_LITERAL(&sink->writer, ",\n");
    tdc_put(&sink->writer, object, length);
    if (sink->lines)
        tdc_putc(&sink->writer, '\n');
    sink->rows++;
    return written(sink, error);
}

tdc_status tdc_sink_page_row(struct tdc_sink *sink, size_t page, const struct tdc_cell *cells,
                             size_t count, bool bold, struct tdc_error *error)
{
    if (sink->first.status != TDC_OK)
        return repeat_first(sink, error);
    if (sink->backend->page_row == NULL)
        return TDC_OK;
    if (sink->backend->page_row(sink, page, cells, count, bold, &sink->first) == TDC_OK)
        return TDC_OK;
    return repeat_first(sink, error);
}

void tdc_sink_tail(struct tdc_sink *sink, const char *members)
{
    sink->tail = members;
}

tdc_status tdc_sink_close(struct tdc_sink *sink, struct tdc_error *error)
{
    tdc_status status = sink->first.status;
    if (status != TDC_OK)
        repeat_first(sink, error);
    else
        status = sink->backend->end(sink, error);
    if (status == TDC_OK)
        status = sink->exclusive ? tdc_out_file_commit_new(&sink->file, error)
                                 : tdc_out_file_commit(&sink->file, error);
    tdc_sink_discard(sink);
    return status;
}
