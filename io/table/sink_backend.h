/* sink_backend.h - what the kinds of result file have in common; private to the sinks. */
#ifndef TDC_IO_SINK_BACKEND_H
#define TDC_IO_SINK_BACKEND_H

#include "io/file/byte_writer.h"
#include "io/file/out_file.h"
#include "io/table/sink.h"

struct tdc_sink_backend {
    /* Header and everything before the first row. May leave state behind also on failure: release
     * is called in any case. */
    tdc_status (*begin)(struct tdc_sink *sink, const struct tdc_sink_spec *spec,
                        struct tdc_error *error);
    tdc_status (*row)(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                      struct tdc_error *error);
    /* Completes the content of the temporary file. */
    tdc_status (*end)(struct tdc_sink *sink, struct tdc_error *error);
    void (*release)(struct tdc_sink *sink);
    /* The bytes of a row, by any thread; NULL: they depend on the rows before. A failure is the
     * writer's. */
    void (*form)(const struct tdc_sink *sink, const struct tdc_cell *cells,
                 struct tdc_byte_writer *writer);
    /* NULL: the format has no pages */
    tdc_status (*page_row)(struct tdc_sink *sink, size_t page, const struct tdc_cell *cells,
                           size_t count, bool bold, struct tdc_error *error);
};

extern const struct tdc_sink_backend tdc_csv_backend;
extern const struct tdc_sink_backend tdc_json_backend; /* of jsonl, too */
extern const struct tdc_sink_backend tdc_xlsx_backend;

struct tdc_sink {
    const struct tdc_sink_backend *backend;
    struct tdc_out_file file;
    struct tdc_byte_writer writer; /* to the file; xlsx: through its zip archive */
    size_t column_count;
    size_t sheet_rows; /* a table of so many rows or more is split */
    uint64_t rows;     /* written so far */
    bool escape_formulas;
    bool objects;           /* json: rows come as objects */
    bool lines;             /* json: one a line, no list */
    const char *tail;       /* json: members behind the rows, NULL: none */
    bool exclusive;         /* do not replace a file */
    void *state;            /* of the backend */
    struct tdc_error first; /* the failure that ended it, TDC_OK while none */
};

struct tdc_sink_bytes {
    const char *data;
    size_t length;
};

/* Rows that were formed: both pieces, in this order; or the failure to make them, NULL: none. */
void tdc_sink_put_block(struct tdc_sink *sink, const struct tdc_error *failure,
                        struct tdc_sink_bytes before, struct tdc_sink_bytes bytes, size_t rows);

/* The failed write of sink->writer as an error. */
tdc_status tdc_sink_write_error(const struct tdc_sink *sink, struct tdc_error *error);

/* tdc_sink_open with another limit than TDC_SHEET_ROWS: tests split small tables. */
tdc_status tdc_sink_open_split(tdc_format format, const struct tdc_sink_spec *spec,
                               size_t sheet_rows, struct tdc_sink **sink, struct tdc_error *error);

#endif
