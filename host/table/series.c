/* series.c - errors along an axis as a table of their own, and as members of a row in json. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/table/aligned.h"
#include "io/base/error.h"
#include "io/table/json_object.h"
#include "io/table/sink.h"
#include "io/text/pytext.h"

static double rmse_of(const struct tdc_series_sums *sums)
{
    return sums->finite != 0 ? sqrt(sums->dd / (double)sums->finite) : 0;
}

/* As in the main table: no direction of one element, none against zeros. */
static const char *no_cosine(const struct tdc_series_sums *sums)
{
    if (sums->count == 1)
        return "unsupported";
    return (sums->nn == 0) != (sums->bb == 0) ? "Nan" : NULL;
}

static double cosine_of(const struct tdc_series_sums *sums)
{
    if (sums->dd == 0)
        return 1;
    double cosine = sums->nb / sqrt(sums->nn) / sqrt(sums->bb);
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

static bool was_compared(const struct tdc_table *table, size_t row)
{
    return table->extras != NULL && table->extras[row].elements != 0;
}

/* ---- where it is worst ----------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Of an even number the mean of the two in the middle. 0 when out of memory. */
static double median_rmse(const struct tdc_series *series)
{
    size_t count = (size_t)series->length;
    double *sorted = malloc(count * sizeof *sorted), median = 0;
    if (sorted == NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = rmse_of(&series->sums[i]);
    qsort(sorted, count, sizeof *sorted, by_number);
    median = count % 2 != 0 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    free(sorted);
    return median;
}

bool tdc_table_series_worst(const tdc_table *table, size_t row, struct tdc_series_worst *worst,
                            size_t size)
{
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, row);
    const struct tdc_series *chosen = NULL;
    struct tdc_series_worst found = {.rmse = -1};
    for (const struct tdc_series *series = aligned != NULL ? aligned->series : NULL;
         series != NULL && was_compared(table, row); series = series->next)
        for (uint64_t i = 0; i < series->length; i++)
            if (rmse_of(&series->sums[i]) > found.rmse) {
                chosen = series;
                found.axis = series->axis;
                found.index = i;
                found.rmse = rmse_of(&series->sums[i]);
            }
    if (chosen == NULL)
        return false;
    found.median = median_rmse(chosen);
    for (uint64_t i = 0; i < chosen->length && !found.stands_out; i++)
        if (rmse_of(&chosen->sums[i]) > 10 * found.median) {
            found.stands_out = true;
            found.first_outlier = i;
        }
    memcpy(worst, &found, size < sizeof found ? size : sizeof found);
    return true;
}

/* ---- a table of their own -------------------------------------------------------------------- */

enum {
    NAME,
    AXIS,
    INDEX,
    SEQUENCE,
    POSITION,
    ELEMENTS,
    MAX_ABS,
    COSINE,
    RMSE,
    COLUMNS
};

static const char *const columns[] = {"name",     "axis",        "index",  "seq", "pos",
                                      "elements", "max_abs_err", "cosine", "rmse"};

static struct tdc_cell text_cell(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static struct tdc_cell number_cell(double number)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

/* With all its digits in csv too. */
static struct tdc_cell exact_cell(double number, char text[TDC_FLOAT_TEXT])
{
    struct tdc_cell cell = number_cell(number);
    if (isfinite(number) && number != rint(number)) {
        cell.length = tdc_float_repr(number, text);
        cell.text = text;
    }
    return cell;
}

static void fill_cells(const struct tdc_aligned_row *row, const struct tdc_series *series,
                       uint64_t index, struct tdc_cell *cells, char texts[][TDC_FLOAT_TEXT])
{
    const struct tdc_series_sums *sums = &series->sums[index];
    const char *none = no_cosine(sums);
    bool token = series->sequence != NULL;
    cells[NAME] = text_cell(row->name);
    cells[AXIS] = text_cell(series->axis);
    cells[INDEX] = number_cell((double)index);
    cells[SEQUENCE] = token ? number_cell(series->sequence[index]) : text_cell("");
    cells[POSITION] = token ? number_cell(series->position[index]) : text_cell("");
    cells[ELEMENTS] = number_cell((double)sums->count);
    cells[MAX_ABS] = exact_cell(sums->abs_max, texts[0]);
    cells[COSINE] = none != NULL ? text_cell(none) : exact_cell(cosine_of(sums), texts[1]);
    cells[RMSE] = exact_cell(rmse_of(sums), texts[2]);
}

static size_t count_rows(const tdc_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct tdc_aligned_row *row = tdc_table_aligned(table, i);
        for (const struct tdc_series *series = row != NULL ? row->series : NULL;
             series != NULL && was_compared(table, i); series = series->next)
            count += series->length;
    }
    return count;
}

tdc_status tdc_series_write(const tdc_table *table, tdc_format format, const char *path,
                            size_t *rows, struct tdc_error *error)
{
    struct tdc_sink *sink;
    *rows = count_rows(table);
    if (*rows == 0)
        return TDC_OK;
    struct tdc_sink_spec spec = {
        .path = path,
        .exclusive = true,
        .columns = columns,
        .column_count = COLUMNS,
        .rows = *rows,
        .sheet = "axis",
        .header_style = true,
        .polish = true,
        .escape_formulas = true,
    };
    tdc_status status = tdc_sink_open(format, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < table->row_count && status == TDC_OK; i++) {
        const struct tdc_aligned_row *row = tdc_table_aligned(table, i);
        if (row == NULL || !was_compared(table, i))
            continue;
        for (const struct tdc_series *series = row->series; series != NULL; series = series->next)
            for (uint64_t index = 0; index < series->length && status == TDC_OK; index++) {
                struct tdc_cell cells[COLUMNS];
                char texts[3][TDC_FLOAT_TEXT];
                fill_cells(row, series, index, cells, texts);
                status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
            }
    }
    if (status != TDC_OK) {
        tdc_sink_discard(sink);
        return status;
    }
    return tdc_sink_close(sink, error);
}

/* ---- json ------------------------------------------------------------------------------------ */

static void add_number(struct tdc_text *out, double number)
{
    if (isfinite(number))
        tdc_json_add_finite(out, number);
    else
        tdc_text_adds(out, "null");
}

static void add_list(struct tdc_json_object *object, const char *name,
                     const struct tdc_series *series, int which)
{
    struct tdc_text *out = object->out;
    tdc_object_key(object, name);
    tdc_text_addc(out, '[');
    for (uint64_t i = 0; i < series->length; i++) {
        const struct tdc_series_sums *sums = &series->sums[i];
        const char *none = which == COSINE ? no_cosine(sums) : NULL;
        if (i != 0)
            tdc_text_adds(out, ", ");
        if (none != NULL)
            tdc_json_add_string(out, none, strlen(none));
        else if (which == SEQUENCE || which == POSITION)
            tdc_text_addf(out, "%u", which == SEQUENCE ? series->sequence[i] : series->position[i]);
        else
            add_number(out, which == COSINE    ? cosine_of(sums)
                            : which == MAX_ABS ? sums->abs_max
                                               : rmse_of(sums));
    }
    tdc_text_addc(out, ']');
}

static void add_series(const struct tdc_series *series, struct tdc_text *out)
{
    struct tdc_json_object object;
    tdc_object_begin(&object, out);
    tdc_object_text(&object, "axis", series->axis);
    if (series->sequence != NULL) {
        add_list(&object, "seq", series, SEQUENCE);
        add_list(&object, "pos", series, POSITION);
    }
    add_list(&object, "max_abs_err", series, MAX_ABS);
    add_list(&object, "cosine", series, COSINE);
    add_list(&object, "rmse", series, RMSE);
    tdc_object_end(&object);
}

void tdc_aligned_json(const struct tdc_table *table, size_t row, struct tdc_json_object *object)
{
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, row);
    if (aligned == NULL)
        return;
    tdc_object_text(object, "axes", aligned->axes);
    tdc_object_text(object, "test_parts", aligned->parts[0]);
    tdc_object_text(object, "ref_parts", aligned->parts[1]);
    if (aligned->series == NULL || !was_compared(table, row))
        return;
    tdc_object_key(object, "series");
    tdc_text_addc(object->out, '[');
    for (const struct tdc_series *series = aligned->series; series != NULL; series = series->next) {
        if (series != aligned->series)
            tdc_text_adds(object->out, ", ");
        add_series(series, object->out);
    }
    tdc_text_addc(object->out, ']');
}
