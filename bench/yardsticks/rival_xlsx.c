#include "bench/yardsticks/rival_xlsx.h"

#include <math.h>
#include <string.h>
#include <xlsxwriter.h>

#include "bench/tools/prepared_comparison.h"
#include "io/base/error.h"

#define MOST_MEMORY ((size_t)8 << 30)
/* libxlsxwriter takes terminated texts of this many characters at most. */
#define MOST_CHARACTERS 32767

/* The cell with a terminated copy of its text. */
static bool keep(struct tdc_xlsx_rival *rival, struct tdc_cell *kept, const struct tdc_cell *cell)
{
    *kept = *cell;
    if (cell->kind != TDC_CELL_TEXT)
        return true;
    size_t length = cell->length < MOST_CHARACTERS ? cell->length : MOST_CHARACTERS;
    kept->text = tdc_arena_text(&rival->arena, cell->text, length);
    return kept->text != NULL;
}

static tdc_status keep_rows(struct tdc_xlsx_rival *rival, tdc_table *table, struct tdc_error *error)
{
    bool room = true;
    for (size_t i = 0; i < rival->columns && room; i++) {
        const char *name = tdc_table_column(table, i);
        struct tdc_cell cell = {.kind = TDC_CELL_TEXT, .text = name, .length = strlen(name)};
        room = keep(rival, &rival->cells[i], &cell);
    }
    for (size_t i = 1; i < rival->rows && room; i++) {
        struct tdc_cell cells[64];
        tdc_status status = tdc_table_row(table, i - 1, cells, error);
        if (status != TDC_OK)
            return status;
        for (size_t k = 0; k < rival->columns && room; k++)
            room = keep(rival, &rival->cells[i * rival->columns + k], &cells[k]);
    }
    return room ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the cells");
}

bool tdc_xlsx_rival_there(void)
{
    return true;
}

tdc_status tdc_xlsx_rival_collect(struct tdc_xlsx_rival *rival, const struct tdc_task *task,
                                  const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_prepared_comparison dump;
    double ignored = 0;
    tdc_arena_init(&rival->arena, MOST_MEMORY);
    tdc_status status = tdc_comparison_prepare(&dump, task, options, &ignored, &ignored, error);
    if (status == TDC_OK)
        status = tdc_compare(&dump.table, 1, options, error);
    if (status == TDC_OK) {
        size_t rows = tdc_table_rows(dump.table) + 1;
        rival->rows = rows < LXW_ROW_MAX ? rows : LXW_ROW_MAX;
        rival->columns = tdc_table_columns(dump.table);
        rival->cells =
            tdc_arena_zeroed(&rival->arena, rival->rows * rival->columns, sizeof *rival->cells);
        if (rival->cells == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the cells");
        else
            status = keep_rows(rival, dump.table, error);
    }
    tdc_comparison_free(&dump);
    return status;
}

void tdc_xlsx_rival_free(struct tdc_xlsx_rival *rival)
{
    tdc_arena_free(&rival->arena);
}

static lxw_error write_cell(lxw_worksheet *sheet, lxw_row_t row, lxw_col_t column,
                            const struct tdc_cell *cell)
{
    if (cell->kind == TDC_CELL_TEXT)
        return worksheet_write_string(sheet, row, column, cell->text, NULL);
    if (cell->kind == TDC_CELL_BOOL)
        return worksheet_write_boolean(sheet, row, column, cell->truth, NULL);
    if (isfinite(cell->number))
        return worksheet_write_number(sheet, row, column, cell->number, NULL);
    const char *text = isnan(cell->number) ? "nan" : cell->number > 0 ? "inf" : "-inf";
    return worksheet_write_string(sheet, row, column, text, NULL);
}

tdc_status tdc_xlsx_rival_write(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct tdc_xlsx_rival *rival = context;
    double start = tdc_seconds();
    /* its fastest mode: rows go to the disk as they come and texts into their cells */
    lxw_workbook_options options = {.constant_memory = LXW_TRUE};
    lxw_workbook *book = workbook_new_opt(rival->path, &options);
    lxw_worksheet *sheet = book == NULL ? NULL : workbook_add_worksheet(book, NULL);
    lxw_error failure = sheet == NULL ? LXW_ERROR_MEMORY_MALLOC_FAILED : LXW_NO_ERROR;
    for (size_t i = 0; i < rival->rows && failure == LXW_NO_ERROR; i++)
        for (size_t k = 0; k < rival->columns && failure == LXW_NO_ERROR; k++)
            failure = write_cell(sheet, (lxw_row_t)i, (lxw_col_t)k,
                                 &rival->cells[i * rival->columns + k]);
    lxw_error closing = book == NULL ? LXW_NO_ERROR : workbook_close(book);
    laps[0] = tdc_seconds() - start;
    if (failure == LXW_NO_ERROR)
        failure = closing;
    if (failure != LXW_NO_ERROR)
        return tdc_fail(error, TDC_ERR_WRITE, "%s: %s", rival->path, lxw_strerror(failure));
    return TDC_OK;
}
