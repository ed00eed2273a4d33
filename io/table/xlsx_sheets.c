#include "io/table/xlsx_sheets.h"

#include <stdlib.h>

#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/table/sink.h"
#include "io/table/xlsx_parts.h"

struct writing {
    const struct tdc_xlsx_sheets *sheets;
    struct tdc_xlsx_book book;
    struct tdc_byte_writer writer;
    struct tdc_cell *cells;
};

/* A row with the cells that are there: an empty one is no empty text. */
static void put_row(struct writing *writing, uint32_t row, const struct tdc_cell *cells, int style)
{
    size_t columns = writing->sheets->columns, kept = 0;
    struct tdc_xlsx_column *names = writing->book.columns + columns; /* room behind the names */
    struct tdc_cell *present = writing->cells + columns;
    for (size_t i = 0; i < columns; i++) {
        if (cells[i].kind == TDC_CELL_TEXT && cells[i].text == NULL)
            continue;
        names[kept] = writing->book.columns[i];
        present[kept++] = cells[i];
    }
    tdc_xlsx_put_row(&writing->writer, names, kept, row, present, style);
}

static int write_sheets(struct writing *writing)
{
    const struct tdc_xlsx_sheets *sheets = writing->sheets;
    int failure = tdc_xlsx_put_parts(&writing->book);
    for (size_t sheet = 0; sheet < sheets->count && failure == 0; sheet++) {
        tdc_xlsx_begin_sheet(&writing->book, sheet);
        put_row(writing, 1, sheets->header, TDC_XLSX_HEADER);
        for (size_t row = 0; row < sheets->rows && writing->writer.failure == 0; row++) {
            sheets->fill(sheets->context, sheet, row, writing->cells);
            put_row(writing, (uint32_t)row + 2, writing->cells, TDC_XLSX_PLAIN);
        }
        failure = tdc_xlsx_end_sheet(&writing->book, sheet);
    }
    return failure == 0 ? tdc_zip_finish(&writing->book.zip) : failure;
}

static bool prepare(struct writing *writing, int fd)
{
    const struct tdc_xlsx_sheets *sheets = writing->sheets;
    struct tdc_xlsx_book *book = &writing->book;
    book->sheets = sheets->names;
    book->sheet_count = sheets->count;
    book->rows_a_sheet = sheets->rows;
    book->column_count = sheets->columns;
    book->xml = &writing->writer;
    book->columns = calloc(2 * sheets->columns, sizeof *book->columns);
    writing->cells = calloc(2 * sheets->columns, sizeof *writing->cells);
    if (book->columns == NULL || writing->cells == NULL ||
        !tdc_zip_start(&book->zip, fd, sheets->count + TDC_XLSX_FIXED_PARTS) ||
        !tdc_byte_writer_start(&writing->writer, fd))
        return false;
    for (size_t i = 0; i < sheets->columns; i++)
        book->columns[i] = tdc_xlsx_column_name(i);
    writing->writer.drain = tdc_zip_put;
    writing->writer.context = &book->zip;
    return true;
}

tdc_status tdc_xlsx_sheets_write(const struct tdc_xlsx_sheets *sheets, struct tdc_error *error)
{
    if (sheets->columns == 0 || sheets->columns > TDC_XLSX_COLUMNS || sheets->count == 0 ||
        sheets->count > 1000 || sheets->rows >= TDC_SHEET_ROWS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: more rows or columns than a sheet can hold",
                        sheets->path);
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    tdc_status status = tdc_out_file_open(sheets->path, &file, error);
    if (status != TDC_OK)
        return status;
    struct writing writing = {.sheets = sheets};
    if (!prepare(&writing, file.fd)) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", sheets->path);
    } else {
        int failure = write_sheets(&writing);
        if (failure != 0)
            status = tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s: cannot be written",
                                    sheets->path);
    }
    if (status == TDC_OK)
        status = tdc_out_file_commit_new(&file, error);
    tdc_out_file_discard(&file);
    tdc_zip_free(&writing.book.zip);
    tdc_byte_writer_free(&writing.writer);
    free(writing.book.columns);
    free(writing.cells);
    return status;
}
