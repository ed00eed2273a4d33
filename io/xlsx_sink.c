/*
 * xlsx_sink.c - Excel workbooks.
 *
 * libxlsxwriter makes the package: workbook, styles, relations, settings of the sheets, zip. In its
 * constant_memory mode the rows of each sheet are collected as XML in a temporary file which is
 * public as lxw_worksheet.optimize_tmpfile; the rows are written there directly and not through
 * worksheet_write_*, because those
 *   - cannot write an empty text cell (and reading before the start of the string is what the
 *     library does if one is forced upon it),
 *   - do not look whether a write succeeded,
 *   - write exponents as E+22 where the tables to be reproduced have e+22,
 *   - take several times as long.
 * The library then copies that file into the package, again without looking; xlsx_check.c does.
 * Its temporary files are in the folder of the result and unlinked as soon as they are open, so
 * that nothing of them is left, however the process ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "io/error.h"
#include "io/interrupt.h"
#include "io/sink_backend.h"
#include "io/xlsx_cells.h"
#include "io/xlsx_package.h"
#include "io/xlsx_styles_patch.h"

/* Rows of a sheet below the header. */
#define EXCEL_ROWS (LXW_ROW_MAX - 1u)
/* From here on the library must be asked for zip64 fields; the format's limit is 4 GiB. */
#define LARGE_SHEET ((uint64_t)4000000000u)

struct sheet {
    lxw_worksheet *worksheet;
    dev_t device; /* of its temporary file */
    ino_t inode;
    uint64_t length; /* of its rows as XML */
    uint32_t crc;
};

struct xlsx_state {
    lxw_workbook *book;
    struct tdc_xlsx_column *columns;
    struct tdc_cell *header;
    char *header_texts; /* all names, one after the other */
    double *widths;     /* NULL: not polished */
    int header_format;  /* index among the cell formats */
    lxw_format *yellow;
    lxw_format *red;
    bool argb_yellow;
    bool yellow_used;
    bool split;
    size_t rows_a_sheet;
    size_t rows_here; /* in the last sheet */
    struct sheet *sheets;
    size_t sheet_count;
    size_t sheet_room;
};

static tdc_status no_memory(const struct tdc_sink *sink, struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", sink->file.path);
}

/* ---- sheets --------------------------------------------------------------------------------- */

/* Ends the rows of the current sheet and tells the library which cells there are. */
static tdc_status finish_sheet(struct tdc_sink *sink, struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    if (!tdc_byte_writer_flush(&sink->writer))
        return tdc_sink_write_error(sink, error);
    struct sheet *sheet = &state->sheets[state->sheet_count - 1];
    sheet->length = sink->writer.position;
    sheet->crc = sink->writer.crc;
    lxw_worksheet *worksheet = sheet->worksheet;
    worksheet->dim_rowmin = 0;
    worksheet->dim_rowmax = (lxw_row_t)state->rows_here;
    worksheet->dim_colmin = 0;
    worksheet->dim_colmax = (lxw_col_t)(sink->column_count - 1);
    if (state->widths != NULL)
        worksheet_autofilter(worksheet, 0, 0, (lxw_row_t)state->rows_here,
                             (lxw_col_t)(sink->column_count - 1));
    return TDC_OK;
}

static void polish(const struct tdc_sink *sink, lxw_worksheet *worksheet)
{
    const struct xlsx_state *state = sink->state;
    worksheet_freeze_panes(worksheet, 1, 0);
    for (size_t i = 0; i < sink->column_count; i++)
        worksheet_set_column(worksheet, (lxw_col_t)i, (lxw_col_t)i, state->widths[i], NULL);
}

static bool reserve_sheet(struct xlsx_state *state)
{
    if (state->sheet_count < state->sheet_room)
        return true;
    size_t room = state->sheet_room == 0 ? 4 : state->sheet_room * 2;
    struct sheet *sheets = reallocarray(state->sheets, room, sizeof *sheets);
    if (sheets == NULL)
        return false;
    state->sheets = sheets;
    state->sheet_room = room;
    return true;
}

static tdc_status start_sheet(struct tdc_sink *sink, const char *name, struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    if (!reserve_sheet(state))
        return no_memory(sink, error);
    errno = 0;
    tdc_interrupt_hold();
    lxw_worksheet *worksheet = workbook_add_worksheet(state->book, name);
    tdc_interrupt_release();
    if (worksheet == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno != 0 ? errno : EINVAL,
                              "%s: the sheet %s cannot be created", sink->file.path, name);
    /* The guard of the way described above: the library must collect rows in a file of its own. */
    int fd = worksheet->optimize_tmpfile == NULL ? -1 : fileno(worksheet->optimize_tmpfile);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        return tdc_fail(error, TDC_ERR_SYSTEM, "%s: unknown version of libxlsxwriter",
                        sink->file.path);
    state->sheets[state->sheet_count++] =
        (struct sheet){.worksheet = worksheet, .device = status.st_dev, .inode = status.st_ino};
    if (state->widths != NULL)
        polish(sink, worksheet);
    tdc_byte_writer_redirect(&sink->writer, fd);
    state->rows_here = 0;
    tdc_xlsx_put_row(&sink->writer, state->columns, sink->column_count, 1, state->header,
                     state->header_format);
    return TDC_OK;
}

static tdc_status start_part(struct tdc_sink *sink, struct tdc_error *error)
{
    const struct xlsx_state *state = sink->state;
    char name[32];
    snprintf(name, sizeof name, "part_%zu", state->sheet_count);
    return start_sheet(sink, name, error);
}

/* ---- the beginning -------------------------------------------------------------------------- */

static bool copy_header(struct xlsx_state *state, const struct tdc_sink_spec *spec)
{
    size_t total = 1;
    for (size_t i = 0; i < spec->column_count; i++)
        total += strlen(spec->columns[i]);
    state->columns = calloc(spec->column_count, sizeof *state->columns);
    state->header = calloc(spec->column_count, sizeof *state->header);
    state->header_texts = malloc(total);
    if (state->columns == NULL || state->header == NULL || state->header_texts == NULL)
        return false;
    char *to = state->header_texts;
    for (size_t i = 0; i < spec->column_count; i++) {
        size_t length = strlen(spec->columns[i]);
        memcpy(to, spec->columns[i], length);
        state->header[i] = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = to, .length = length};
        state->columns[i] = tdc_xlsx_column_name(i);
        to += length;
    }
    return true;
}

/* Room for the header with the arrow of its filter, unless the caller knows better. */
static bool choose_widths(struct xlsx_state *state, const struct tdc_sink_spec *spec)
{
    if (!spec->polish)
        return true;
    state->widths = calloc(spec->column_count, sizeof *state->widths);
    if (state->widths == NULL)
        return false;
    for (size_t i = 0; i < spec->column_count; i++) {
        double width = (double)strlen(spec->columns[i]) + 3;
        if (spec->widths != NULL)
            width = spec->widths[i];
        /* Excel refuses the file above 255; NaN and negative widths make no sense. */
        state->widths[i] = width >= 1 ? (width <= 255 ? width : 255) : 1;
    }
    return true;
}

static bool make_formats(struct xlsx_state *state, const struct tdc_sink_spec *spec)
{
    lxw_format *header = workbook_add_format(state->book);
    state->yellow = workbook_add_format(state->book);
    state->red = workbook_add_format(state->book);
    if (header == NULL || state->yellow == NULL || state->red == NULL)
        return false;
    if (spec->header_style) {
        format_set_bold(header);
        format_set_border(header, LXW_BORDER_THIN);
        format_set_align(header, LXW_ALIGN_CENTER);
        format_set_align(header, LXW_ALIGN_VERTICAL_TOP);
        state->header_format = lxw_format_get_xf_index(header);
    }
    format_set_pattern(state->yellow, LXW_PATTERN_SOLID);
    format_set_bg_color(state->yellow, 0xffff00);
    format_set_pattern(state->red, LXW_PATTERN_SOLID);
    format_set_bg_color(state->red, 0xff0000);
    return true;
}

/* The library's temporary files go beside the result: the disk that must have room anyway. */
static bool open_book(const struct tdc_sink *sink, struct xlsx_state *state)
{
    const char *slash = strrchr(sink->file.path, '/');
    char *folder = slash == NULL ? strdup(".")
                                 : strndup(sink->file.path, (size_t)(slash - sink->file.path) + 1);
    if (folder == NULL)
        return false;
    lxw_workbook_options options = {.constant_memory = LXW_TRUE, .tmpdir = folder};
    tdc_interrupt_hold();
    state->book = workbook_new_opt(sink->file.temporary, &options);
    tdc_interrupt_release();
    free(folder);
    return state->book != NULL;
}

static tdc_status xlsx_begin(struct tdc_sink *sink, const struct tdc_sink_spec *spec,
                             struct tdc_error *error)
{
    if (spec->column_count > TDC_XLSX_COLUMNS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: more columns than a sheet can hold",
                        spec->path);
    struct xlsx_state *state = calloc(1, sizeof *state);
    sink->state = state;
    if (state == NULL || !copy_header(state, spec) || !choose_widths(state, spec) ||
        !open_book(sink, state) || !make_formats(state, spec))
        return no_memory(sink, error);
    sink->writer.sums = true;
    state->argb_yellow = spec->argb_yellow;
    state->split = spec->rows >= sink->sheet_rows;
    if (!state->split) {
        state->rows_a_sheet = EXCEL_ROWS;
        return start_sheet(sink, spec->sheet, error);
    }
    size_t parts = spec->rows / sink->sheet_rows + (spec->rows % sink->sheet_rows != 0);
    state->rows_a_sheet = spec->rows / parts + (spec->rows % parts != 0);
    return start_part(sink, error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A format is counted among the styles when its index is first asked for. */
static int style_of(struct xlsx_state *state, tdc_colour colour)
{
    switch (colour) {
    case TDC_COLOUR_NONE:
        return 0;
    case TDC_COLOUR_YELLOW:
        state->yellow_used = true;
        return lxw_format_get_xf_index(state->yellow);
    case TDC_COLOUR_RED:
        return lxw_format_get_xf_index(state->red);
    }
    return 0;
}

static tdc_status xlsx_row(struct tdc_sink *sink, const struct tdc_cell *cells, tdc_colour colour,
                           struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    if (state->rows_here == state->rows_a_sheet) {
        if (!state->split)
            return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: more rows than were announced",
                            sink->file.path);
        tdc_status status = finish_sheet(sink, error);
        if (status == TDC_OK)
            status = start_part(sink, error);
        if (status != TDC_OK)
            return status;
    }
    state->rows_here++;
    tdc_xlsx_put_row(&sink->writer, state->columns, sink->column_count,
                     (uint32_t)state->rows_here + 1, cells, style_of(state, colour));
    return sink->writer.failure == 0 ? TDC_OK : tdc_sink_write_error(sink, error);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* A workbook_close that failed midway leaves the files of the sheets it did not reach open until
 * the process ends. The streams cannot be reached any more, but their room on the disk can be
 * freed. */
static void empty_lost_files(const struct xlsx_state *state, const int *fds)
{
    for (size_t i = 0; i < state->sheet_count; i++) {
        struct stat status;
        if (fstat(fds[i], &status) == 0 && status.st_ino == state->sheets[i].inode &&
            status.st_dev == state->sheets[i].device)
            (void)!ftruncate(fds[i], 0);
    }
}

static tdc_status close_book(struct tdc_sink *sink, struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    int *fds = calloc(state->sheet_count, sizeof *fds);
    if (fds == NULL)
        return no_memory(sink, error);
    for (size_t i = 0; i < state->sheet_count; i++) {
        fds[i] = fileno(state->sheets[i].worksheet->optimize_tmpfile);
        if (state->sheets[i].length > LARGE_SHEET)
            state->book->options.use_zip64 = LXW_TRUE;
    }
    errno = 0;
    tdc_interrupt_hold();
    lxw_error result = workbook_close(state->book);
    int number = errno;
    tdc_interrupt_release();
    state->book = NULL; /* freed in any case */
    tdc_status status = TDC_OK;
    if (result != LXW_NO_ERROR) {
        empty_lost_files(state, fds);
        if (number != 0)
            status = tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: cannot be written",
                                    sink->file.path);
        else
            status = tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be written: %s", sink->file.path,
                              lxw_strerror(result));
    }
    free(fds);
    return status;
}

static tdc_status xlsx_end(struct tdc_sink *sink, struct tdc_error *error)
{
    struct xlsx_state *state = sink->state;
    tdc_status status = finish_sheet(sink, error);
    if (status == TDC_OK)
        status = close_book(sink, error);
    if (status != TDC_OK)
        return status;
    struct tdc_xlsx_package package;
    status = tdc_xlsx_package_open(sink->file.fd, sink->file.path, &package, error);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; status == TDC_OK && i < state->sheet_count; i++)
        status = tdc_xlsx_check_sheet(&package, i + 1, state->sheets[i].length,
                                      state->sheets[i].crc, error);
    if (status == TDC_OK && state->argb_yellow && state->yellow_used)
        status = tdc_xlsx_patch_yellow(&package, error);
    tdc_xlsx_package_free(&package);
    return status;
}

static void xlsx_release(struct tdc_sink *sink)
{
    struct xlsx_state *state = sink->state;
    if (state == NULL)
        return;
    if (state->book != NULL) {
        for (size_t i = 0; i < state->sheet_count; i++)
            fclose(state->sheets[i].worksheet->optimize_tmpfile);
        lxw_workbook_free(state->book);
    }
    free(state->columns);
    free(state->header);
    free(state->header_texts);
    free(state->widths);
    free(state->sheets);
    free(state);
    sink->state = NULL;
}

const struct tdc_sink_backend tdc_xlsx_backend = {xlsx_begin, xlsx_row, xlsx_end, xlsx_release};
