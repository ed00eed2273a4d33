#include "io/table/workbook.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/table/sink.h"
#include "io/table/xlsx_parts.h"

struct work {
    struct tdc_xlsx_book book;
    struct tdc_out_file file;
    struct tdc_byte_writer writer;
    struct tdc_xlsx_sheet *sheets; /* those of the file */
    const struct tdc_workbook_sheet **sources;
    size_t *first_rows; /* of the source, in each sheet */
    struct tdc_cell *cells;
    size_t widest;
};

static size_t parts_of(const struct tdc_workbook_sheet *sheet)
{
    if (sheet->rows < TDC_SHEET_ROWS)
        return 1;
    return sheet->rows / TDC_SHEET_ROWS + (sheet->rows % TDC_SHEET_ROWS != 0);
}

static void plan_sheet(struct work *work, const struct tdc_workbook_sheet *source)
{
    size_t parts = parts_of(source);
    size_t rows = source->rows / parts + (source->rows % parts != 0);
    for (size_t part = 0; part < parts; part++) {
        size_t index = work->book.sheet_count++;
        struct tdc_xlsx_sheet *sheet = &work->sheets[index];
        size_t first = part * rows;
        size_t left = source->rows - first;
        if (parts == 1)
            snprintf(sheet->name, sizeof sheet->name, "%s", source->name);
        else
            snprintf(sheet->name, sizeof sheet->name, "%.16s_part_%u", source->name,
                     (unsigned)(part & 0xffff));
        sheet->rows = left < rows ? left : rows;
        sheet->column_count = source->column_count;
        work->sources[index] = source;
        work->first_rows[index] = first;
    }
    if (source->column_count > work->widest)
        work->widest = source->column_count;
}

static bool plan(struct work *work, const struct tdc_workbook_sheet *sheets, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts_of(&sheets[i]);
    work->sheets = calloc(total, sizeof *work->sheets);
    work->sources = calloc(total, sizeof *work->sources);
    work->first_rows = calloc(total, sizeof *work->first_rows);
    if (work->sheets == NULL || work->sources == NULL || work->first_rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        plan_sheet(work, &sheets[i]);
    work->cells = calloc(work->widest, sizeof *work->cells);
    work->book.columns = calloc(work->widest, sizeof *work->book.columns);
    if (work->cells == NULL || work->book.columns == NULL || work->widest > TDC_XLSX_COLUMNS)
        return false;
    for (size_t i = 0; i < work->widest; i++)
        work->book.columns[i] = tdc_xlsx_column_name(i);
    work->book.sheets = work->sheets;
    work->book.xml = &work->writer;
    return true;
}

static int put_sheet(struct work *work, size_t index)
{
    const struct tdc_workbook_sheet *source = work->sources[index];
    tdc_xlsx_begin_sheet(&work->book, index);
    for (size_t i = 0; i < source->column_count; i++)
        work->cells[i] = (struct tdc_cell){.kind = TDC_CELL_TEXT,
                                           .text = source->columns[i],
                                           .length = strlen(source->columns[i])};
    tdc_xlsx_put_row(&work->writer, work->book.columns, source->column_count, 1, work->cells,
                     TDC_XLSX_HEADER);
    for (size_t row = 0; row < work->sheets[index].rows && work->writer.failure == 0; row++) {
        source->row(source->context, work->first_rows[index] + row, work->cells);
        tdc_xlsx_put_row(&work->writer, work->book.columns, source->column_count, (uint32_t)row + 2,
                         work->cells, TDC_XLSX_PLAIN);
    }
    return tdc_xlsx_end_sheet(&work->book, index);
}

static int put_book(struct work *work)
{
    int failure = tdc_xlsx_put_parts(&work->book);
    for (size_t i = 0; i < work->book.sheet_count && failure == 0; i++)
        failure = put_sheet(work, i);
    return failure == 0 ? tdc_zip_finish(&work->book.zip) : failure;
}

tdc_status tdc_workbook_write(const char *path, bool exclusive,
                              const struct tdc_workbook_sheet *sheets, size_t count,
                              struct tdc_error *error)
{
    struct work work = {.file = TDC_OUT_FILE_NONE};
    tdc_status status = tdc_out_file_open(path, &work.file, error);
    if (status == TDC_OK &&
        (!plan(&work, sheets, count) || !tdc_byte_writer_start(&work.writer, work.file.fd) ||
         !tdc_zip_start(&work.book.zip, work.file.fd,
                        work.book.sheet_count + TDC_XLSX_FIXED_PARTS)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status == TDC_OK) {
        work.writer.drain = tdc_zip_put;
        work.writer.context = &work.book.zip;
        int failure = put_book(&work);
        if (failure != 0)
            status = tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", path);
    }
    if (status == TDC_OK)
        status = exclusive ? tdc_out_file_commit_new(&work.file, error)
                           : tdc_out_file_commit(&work.file, error);
    tdc_out_file_discard(&work.file);
    tdc_zip_free(&work.book.zip);
    tdc_byte_writer_free(&work.writer);
    free(work.sheets);
    free(work.sources);
    free(work.first_rows);
    free(work.cells);
    free(work.book.columns);
    return status;
}
