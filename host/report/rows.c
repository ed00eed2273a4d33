/* rows.c - the rows of a page: taken from tables, and left out when there are too many. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/module_path.h"
#include "host/find/folders.h"
#include "host/origin/call_name.h"
#include "host/report/report.h"
#include "host/table/columns.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

/* Modules that are told apart; of more, the rest are one. */
#define MOST_MODULES 50000u

enum hidden {
    SOURCE,
    CALL,
    MODULE,
    CLASS,
    COLOUR,
    ORIGIN,
    PLACE,
    HIDDEN
};
static const char *const hidden_names[HIDDEN] = {
    [SOURCE] = "#source", [CALL] = "#call",     [MODULE] = "#module", [CLASS] = "#class",
    [COLOUR] = "#colour", [ORIGIN] = "#origin", [PLACE] = "#row"};

/* ---- modules --------------------------------------------------------------------------------- */

/* Without construct.json, or with one that cannot be read, calls stand beside the modules: no
 * error, but for memory. */
static bool load_paths(const struct tdc_dump *dump, struct tdc_module_paths **paths)
{
    *paths = NULL;
    char *path = tdc_path_join(dump->folder, "construct.json");
    tdc_status status = path != NULL ? TDC_OK : TDC_ERR_MEMORY;
    if (status == TDC_OK && tdc_is_file(path))
        status = tdc_module_paths_load(path, paths, NULL);
    free(path);
    return status != TDC_ERR_MEMORY;
}

/* The place in the network of the module a call is or is called by; "" when nothing says so. */
static size_t place_of(const char *call, const struct tdc_module_paths *paths, const char **place)
{
    struct tdc_call_name name = tdc_call_name_parse(call);
    if (!name.module && paths != NULL) {
        const char *parents[TDC_MODULE_DEPTH];
        bool cycle;
        size_t count = tdc_module_path(paths, call, parents, &cycle);
        for (size_t i = 0; i < count && !name.module; i++)
            name = tdc_call_name_parse(parents[i]);
    }
    *place = name.module ? name.place : "";
    return name.module ? name.place_length : 0;
}

/* The number of a module; TDC_NAME_NONE when out of memory. */
static uint32_t module_number(struct tdc_html_report *report, const char *place, size_t length)
{
    uint32_t number = tdc_names_find(&report->modules, place, length);
    if (number != TDC_NAME_NONE)
        return number;
    if (report->modules.count >= MOST_MODULES)
        return 0;
    return tdc_names_keep(&report->modules, &report->arena, place, length);
}

/* ---- leaving out ----------------------------------------------------------------------------- */

/* Classes from the least interesting to the most: rows of the first two are left out of a page that
 * cannot hold all, of the others as many as it takes. */
static const uint8_t least_first[TDC_ROW_CLASSES] = {
    TDC_ROW_IDENTICAL, TDC_ROW_SAME,      TDC_ROW_NONE,  TDC_ROW_SHOWN,    TDC_ROW_ROUNDING,
    TDC_ROW_CLOSE,     TDC_ROW_UNMATCHED, TDC_ROW_ERROR, TDC_ROW_DIFFERENT};
#define ALWAYS_LEFT_OUT 2

/* How many rows of each class stay; the first ones do. */
static void share_out(const struct tdc_html_report *report, size_t stay[TDC_ROW_CLASSES])
{
    size_t counts[TDC_ROW_CLASSES] = {0};
    for (size_t row = 0; row < report->rows.rows; row++)
        counts[report->marks[row].row_class]++;
    size_t room = report->options.rows;
    memset(stay, 0, TDC_ROW_CLASSES * sizeof *stay);
    for (size_t i = TDC_ROW_CLASSES; i-- > ALWAYS_LEFT_OUT;) {
        size_t *share = &stay[least_first[i]];
        *share = counts[least_first[i]] < room ? counts[least_first[i]] : room;
        room -= *share;
    }
}

bool tdc_html_report_trim(struct tdc_html_report *report)
{
    if (report->seen <= report->options.rows)
        return true;
    size_t rows = report->rows.rows, stay[TDC_ROW_CLASSES];
    bool *flags = calloc(rows + 1, sizeof *flags);
    if (report->left_out == NULL)
        report->left_out = calloc(MOST_MODULES, sizeof *report->left_out);
    if (flags == NULL || report->left_out == NULL) {
        free(flags);
        return false;
    }
    share_out(report, stay);
    for (size_t row = 0; row < rows; row++) {
        uint8_t row_class = report->marks[row].row_class;
        flags[row] = stay[row_class] != 0;
        stay[row_class] -= flags[row];
    }
    bool kept = tdc_html_sheet_keep(&report->rows, flags);
    size_t to = 0;
    for (size_t row = 0; kept && row < rows; row++) {
        const struct tdc_html_report_mark mark = report->marks[row];
        if (flags[row])
            report->marks[to++] = mark;
        else
            report->left_out[mark.module].classes[mark.row_class]++;
    }
    free(flags);
    return kept;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* A table being taken. */
struct taking {
    struct tdc_html_report *report;
    tdc_table *table;
    struct tdc_module_paths *paths;
    const char *call, *place; /* of the row before */
    size_t call_length, place_length;
    uint32_t module;
    int places[TDC_MOST_COLUMNS + HIDDEN];
    struct tdc_cell cells[TDC_MOST_COLUMNS + HIDDEN];
};

static bool find_places(struct taking *taking)
{
    bool found = true;
    for (size_t i = 0; i < HIDDEN + taking->table->column_count; i++) {
        const char *name =
            i < HIDDEN ? hidden_names[i] : tdc_column_name(taking->table->columns[i - HIDDEN]);
        taking->places[i] = tdc_html_sheet_column(&taking->report->rows, name);
        found &= taking->places[i] >= 0;
    }
    return found;
}

static bool note_mark(struct tdc_html_report *report, uint32_t module, uint8_t row_class)
{
    if (report->rows.rows >= report->mark_capacity) {
        size_t capacity = report->mark_capacity != 0 ? 2 * report->mark_capacity : 1024;
        struct tdc_html_report_mark *marks = realloc(report->marks, capacity * sizeof *marks);
        if (marks == NULL)
            return false;
        report->marks = marks;
        report->mark_capacity = capacity;
    }
    report->marks[report->rows.rows] = (struct tdc_html_report_mark){module, row_class};
    return true;
}

static struct tdc_cell number_cell(double number)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

static struct tdc_cell text_cell(const char *text, size_t length)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = length};
}

static bool fill_hidden(struct taking *taking, size_t row, size_t source)
{
    const struct tdc_row *held = &taking->table->rows[row];
    const char *call = tdc_table_call(taking->table, row);
    if (call != taking->call) {
        taking->call = call;
        taking->call_length = strlen(call);
        taking->place_length = place_of(call, taking->paths, &taking->place);
        taking->module = module_number(taking->report, taking->place, taking->place_length);
        if (taking->module == TDC_NAME_NONE)
            return false;
    }
    struct tdc_cell *cells = taking->cells;
    cells[SOURCE] = number_cell((double)source);
    cells[CALL] = text_cell(call, taking->call_length);
    cells[MODULE] = text_cell(taking->place, taking->place_length);
    cells[CLASS] = number_cell(held->row_class);
    cells[COLOUR] = number_cell(held->colour);
    cells[ORIGIN] = number_cell(held->origin);
    cells[PLACE] = number_cell((double)row);
    return note_mark(taking->report, taking->module, held->row_class);
}

tdc_status tdc_html_report_take_rows(struct tdc_html_report *report, tdc_table *table,
                                     size_t source, struct tdc_error *error)
{
    struct taking taking = {.report = report, .table = table};
    /* twice as many as the page can hold are gathered before some are left out */
    bool all = table->row_count / 2 < report->options.rows;
    size_t more = all ? table->row_count : 2 * report->options.rows;
    bool room = find_places(&taking) && tdc_html_sheet_reserve(&report->rows, more) &&
                load_paths(table->match->npu, &taking.paths);
    tdc_status status = TDC_OK;
    unsigned classes = report->options.classes;
    for (size_t row = 0; row < table->row_count && room && status == TDC_OK; row++) {
        if (classes != 0 && (classes >> table->rows[row].row_class & 1) == 0)
            continue;
        status = tdc_table_row(table, row, taking.cells + HIDDEN, error);
        room = status == TDC_OK && fill_hidden(&taking, row, source) &&
               tdc_html_sheet_row(&report->rows, taking.places, taking.cells,
                                  HIDDEN + table->column_count);
        report->seen += room;
        if (room && report->rows.rows / 2 >= report->options.rows)
            room = tdc_html_report_trim(report);
    }
    tdc_module_paths_free(taking.paths);
    if (status == TDC_OK && !room)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the rows of the page");
    return status;
}
