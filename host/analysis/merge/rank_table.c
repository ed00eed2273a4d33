#include "host/analysis/merge/rank_table.h"

#include <math.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"
#include "io/table/text_table.h"
#include "io/text/pytext.h"

#define TABLE_LIMIT ((size_t)4 << 30)

/* ---- reading --------------------------------------------------------------------------------- */

/* What the cell is by itself: in csv a number is what looks like one. */
static bool copy_cell(struct tdc_rank_table *table, const char *text, tdc_cell_kind kind,
                      bool typed, struct tdc_cell *cell)
{
    size_t length = strlen(text);
    bool truth = strcmp(text, "True") == 0;
    double number;
    *cell = (struct tdc_cell){.kind = TDC_CELL_TEXT, .length = length};
    cell->text = tdc_arena_text(&table->arena, text, length);
    if ((!typed || kind == TDC_CELL_NUMBER) && tdc_float_parse(text, length, &number)) {
        cell->kind = TDC_CELL_NUMBER;
        cell->number = number;
    } else if ((!typed || kind == TDC_CELL_BOOL) && (truth || strcmp(text, "False") == 0)) {
        cell->kind = TDC_CELL_BOOL;
        cell->truth = truth;
    }
    return cell->text != NULL;
}

static bool copy_row(struct tdc_rank_table *table, const struct tdc_text_row *row)
{
    struct tdc_cell *cells = tdc_arena_zeroed(&table->arena, row->count + 1, sizeof *cells);
    if (cells == NULL)
        return false;
    for (size_t i = 0; i < row->count; i++) {
        tdc_cell_kind kind = row->kinds != NULL ? (tdc_cell_kind)row->kinds[i] : TDC_CELL_TEXT;
        if (!copy_cell(table, tdc_text_cell(row, i), kind, row->kinds != NULL, &cells[i]))
            return false;
    }
    table->rows[table->count++] = (struct tdc_rank_row){cells, row->count};
    return true;
}

static tdc_status read_sheet(const char *path, bool csv, size_t sheet, struct tdc_rank_table *table,
                             struct tdc_error *error)
{
    *table = (struct tdc_rank_table){0};
    tdc_arena_init(&table->arena, TABLE_LIMIT);
    struct tdc_text_table texts;
    tdc_status status = csv ? tdc_text_table_from_csv(path, &texts, error)
                            : tdc_text_table_from_xlsx(path, sheet, &texts, error);
    if (status == TDC_OK)
        table->rows = tdc_arena_zeroed(&table->arena, texts.count + 1, sizeof *table->rows);
    bool room = table->rows != NULL;
    for (size_t i = 0; i < texts.count && status == TDC_OK && room; i++)
        room = copy_row(table, &texts.rows[i]);
    if (status == TDC_OK && !room)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    tdc_text_table_free(&texts);
    return status;
}

/* A summary may stand before the rows. */
tdc_status tdc_rank_table_read(const char *path, struct tdc_rank_table *table,
                               struct tdc_error *error)
{
    size_t length = strlen(path);
    bool csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
    tdc_status status = read_sheet(path, csv, 0, table, error);
    if (csv || status != TDC_OK || tdc_rank_table_mode(table) != TDC_MODE_NONE)
        return status;
    struct tdc_rank_table second;
    struct tdc_error none;
    if (read_sheet(path, false, 1, &second, &none) == TDC_OK &&
        tdc_rank_table_mode(&second) != TDC_MODE_NONE) {
        tdc_rank_table_free(table);
        *table = second;
    } else {
        tdc_rank_table_free(&second);
    }
    return TDC_OK;
}

void tdc_rank_table_free(struct tdc_rank_table *table)
{
    tdc_arena_free(&table->arena);
}

/* ---- header ---------------------------------------------------------------------------------- */

static const char *const basic[] = {
    "NPU Name",          "Bench Name",          "NPU Dtype",
    "Bench Dtype",       "NPU Tensor Shape",    "Bench Tensor Shape",
    "NPU Requires_grad", "Bench Requires_grad", NULL};
static const char *const tensor_values[] = {"Cosine",
                                            "EucDist",
                                            "MaxAbsErr",
                                            "MaxRelativeErr",
                                            "One Thousandth Err Ratio",
                                            "Five Thousandths Err Ratio",
                                            "Requires_grad Consistent",
                                            NULL};
static const char *const tensor_extras[] = {
    "Rel Err Below 1%", "Rel Err Below 10%", "Mean Abs Err",    "RMSE",
    "Worst Abs At",     "Worst Abs NPU",     "Worst Abs Bench", "Worst Rel At",
    "Worst Rel NPU",    "Worst Rel Bench",   "NPU NaN",         "NPU Inf",
    "Bench NaN",        "Bench Inf",         "Elements",        NULL};
static const char *const statistics_values[] = {"Max diff",
                                                "Min diff",
                                                "Mean diff",
                                                "L2norm diff",
                                                "MaxRelativeErr",
                                                "MinRelativeErr",
                                                "MeanRelativeErr",
                                                "NormRelativeErr",
                                                "Requires_grad Consistent",
                                                NULL};
static const char *const statistics[] = {"NPU max",    "NPU min",      "NPU mean",
                                         "NPU l2norm", "Bench max",    "Bench min",
                                         "Bench mean", "Bench l2norm", NULL};
static const char *const digests[] = {"NPU MD5", "BENCH MD5", NULL};
static const char *const distances[] = {"Relative Distance", "Worst To Largest", NULL};

const char *const *tdc_rank_table_metrics(tdc_mode mode)
{
    return mode == TDC_MODE_TENSOR ? tensor_values : statistics_values;
}

struct header {
    const struct tdc_rank_row *row;
    size_t at;
};

static bool next_is(const struct header *header, const char *name)
{
    return header->at < header->row->count &&
           header->row->cells[header->at].kind == TDC_CELL_TEXT &&
           strcmp(header->row->cells[header->at].text, name) == 0;
}

static bool take(struct header *header, const char *name)
{
    bool taken = next_is(header, name);
    header->at += taken;
    return taken;
}

/* All of the names, the last `but` left out. */
static bool take_all(struct header *header, const char *const *names, size_t but)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    for (size_t i = 0; i + but < count; i++)
        if (!take(header, names[i]))
            return false;
    return true;
}

/* The sound rules have a column of verdicts in every mode, and their columns in an order of their
 * own. */
static tdc_mode sound_mode(const struct tdc_rank_table *table)
{
    static const struct {
        tdc_mode mode;
        const char *column;
    } modes[] = {{TDC_MODE_TENSOR, "Cosine"},
                 {TDC_MODE_STATISTICS, "Max diff"},
                 {TDC_MODE_DIGEST, "NPU MD5"}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (tdc_rank_table_column(table, modes[i].column) != SIZE_MAX)
            return modes[i].mode;
    return TDC_MODE_NONE;
}

tdc_mode tdc_rank_table_mode(const struct tdc_rank_table *table)
{
    if (table->count == 0)
        return TDC_MODE_NONE;
    if (tdc_rank_table_column(table, "Verdict") != SIZE_MAX &&
        tdc_rank_table_column(table, "NPU Name") != SIZE_MAX)
        return sound_mode(table);
    struct header header = {.row = &table->rows[0]};
    bool known = take_all(&header, basic, 0);
    tdc_mode mode = TDC_MODE_NONE;
    if (known && next_is(&header, tensor_values[0])) {
        mode = TDC_MODE_TENSOR;
        known = take_all(&header, tensor_values, 1) &&
                (!next_is(&header, tensor_extras[0]) || take_all(&header, tensor_extras, 0)) &&
                take_all(&header, statistics, 0);
    } else if (known && next_is(&header, statistics_values[0])) {
        mode = TDC_MODE_STATISTICS;
        known = take_all(&header, statistics_values, 1) && take_all(&header, statistics, 0);
    } else if (known && next_is(&header, digests[0])) {
        mode = TDC_MODE_DIGEST;
        known = take_all(&header, digests, 0);
    }
    known = known && (!next_is(&header, distances[0]) || take_all(&header, distances, 0)) &&
            take(&header, "Requires_grad Consistent") &&
            (take(&header, "Accuracy Reached or Not") || take(&header, "Result"));
    bool message = known && take(&header, "Err_message");
    if (known)
        take(&header, "NPU_Stack_Info");
    known = known && (message || mode == TDC_MODE_DIGEST) &&
            (mode != TDC_MODE_TENSOR || take(&header, "Data_name")) &&
            header.at == header.row->count;
    return known ? mode : TDC_MODE_NONE;
}

/* ---- columns --------------------------------------------------------------------------------- */

size_t tdc_rank_table_column(const struct tdc_rank_table *table, const char *name)
{
    const struct tdc_rank_row *header = &table->rows[0];
    for (size_t i = 0; i < header->count; i++)
        if (header->cells[i].kind == TDC_CELL_TEXT && strcmp(header->cells[i].text, name) == 0)
            return i;
    return SIZE_MAX;
}

static bool is_whole(double number)
{
    return number == floor(number) && fabs(number) < 0x1p63;
}

/* A number, or a text that is one; *whole: an integer, by its digits if it is a text. */
static bool numeric(const struct tdc_cell *cell, double *number, bool *whole)
{
    if (cell->kind == TDC_CELL_NUMBER) {
        *number = cell->number;
        *whole = is_whole(cell->number);
        return true;
    }
    if (cell->kind != TDC_CELL_TEXT || !tdc_float_parse(cell->text, cell->length, number))
        return false;
    *whole = strpbrk(cell->text, ".eE") == NULL;
    return true;
}

/* How a number is told: an integer keeps no point. */
static void mark(struct tdc_cell *cell, double number, bool whole)
{
    cell->kind = TDC_CELL_NUMBER;
    cell->number = number;
    cell->truth = whole;
}

void tdc_rank_table_settle(struct tdc_rank_table *table, size_t column)
{
    bool all = true, whole = true;
    double number;
    bool integer;
    for (size_t i = 1; i < table->count && all; i++) {
        const struct tdc_rank_row *row = &table->rows[i];
        all = column < row->count && numeric(&row->cells[column], &number, &integer);
        whole = whole && all && integer;
    }
    for (size_t i = 1; i < table->count; i++) {
        struct tdc_rank_row *row = &table->rows[i];
        if (column >= row->count)
            continue;
        struct tdc_cell *cell = &row->cells[column];
        if (all && numeric(cell, &number, &integer))
            mark(cell, number, whole);
        else if (cell->kind == TDC_CELL_NUMBER)
            mark(cell, cell->number, is_whole(cell->number));
    }
}

void tdc_rank_table_add_cell(struct tdc_text *out, const struct tdc_cell *cell)
{
    char text[TDC_FLOAT_TEXT];
    if (cell->kind == TDC_CELL_BOOL)
        tdc_text_adds(out, cell->truth ? "True" : "False");
    else if (cell->kind == TDC_CELL_TEXT)
        tdc_text_add(out, cell->text, cell->length);
    else if (cell->truth)
        tdc_text_addf(out, "%.0f", cell->number);
    else
        tdc_text_add(out, text, tdc_float_repr(cell->number, text));
}
