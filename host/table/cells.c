/* cells.c - what stands in the cells of a row (docs/msprobe.md#cells-of-a-sheet). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/table/aligned.h"
#include "host/table/column_id.h"
#include "host/judge/element_text.h"
#include "host/table/table.h"
#include "io/base/error.h"
#include "io/text/pytext.h"
#include "kernels/dtype.h"

/* A row being filled. Composed texts go to `texts`, which may move while it grows: their cells hold
 * the offset until the row is complete. */
struct filling {
    const struct tdc_table *table;
    struct tdc_text *texts;
    const struct tdc_row *row;
    const struct tdc_extra *extra;
    const struct tdc_record *npu, *bench;
    struct tdc_cell *cell;
    bool composed; /* the current cell's text is at offset */
    bool printed;  /* the text there is what csv shows of a number */
    size_t offset;
};

static void put_text(struct filling *fill, const char *text)
{
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static struct tdc_text *compose(struct filling *fill)
{
    fill->composed = true;
    fill->offset = fill->texts->length;
    return fill->texts;
}

/* The cell is a number, and in csv it is this text. */
static void put_printed(struct filling *fill, double number, const char *text, size_t length)
{
    tdc_text_add(compose(fill), text, length);
    fill->composed = false;
    fill->printed = true;
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number, .length = length};
}

/* A float as Python prints it; a blank keeps a spreadsheet from taking inf for a name. */
static void put_python_float(struct filling *fill, double number)
{
    char text[TDC_FLOAT_TEXT + 1] = " ";
    size_t length = tdc_float_repr(number, text + 1);
    bool blank = isinf(number);
    put_printed(fill, number, blank ? text : text + 1, length + blank);
}

/* Numbers of logical tensors are held against those of other programs: no digit is cut. */
static void put_all_digits(struct filling *fill, double number)
{
    char text[TDC_FLOAT_TEXT];
    put_printed(fill, number, text, tdc_float_repr(number, text));
}

static void put_number(struct filling *fill, double number)
{
    if (fill->table->rules->columns_of_26) {
        put_python_float(fill, number);
        return;
    }
    if (fill->table->match->alignment != NULL && isfinite(number) && number != rint(number)) {
        put_all_digits(fill, number);
        return;
    }
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

static void put_bool(struct filling *fill, bool truth)
{
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_BOOL, .truth = truth};
}

static void put_nothing(struct filling *fill)
{
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_NONE};
}

/* Columns of numbers of the sound rules hold numbers or nothing. */
static void put_number_or_nothing(struct filling *fill, double number)
{
    if (isnan(number))
        put_nothing(fill);
    else
        put_number(fill, number);
}

static void put_sound_value(struct filling *fill, struct tdc_value value)
{
    if (value.form == TDC_HOLDS_NUMBER)
        put_number_or_nothing(fill, value.number);
    else if (value.form == TDC_HOLDS_PERCENT)
        put_number_or_nothing(fill, value.number / 100);
    else
        put_nothing(fill);
}

static void put_value(struct filling *fill, struct tdc_value value)
{
    char text[TDC_FLOAT_TEXT];
    if (fill->table->rules->extended) {
        put_sound_value(fill, value);
        return;
    }
    switch ((enum tdc_value_form)value.form) {
    case TDC_HOLDS_EMPTY:
        put_text(fill, "");
        break;
    case TDC_HOLDS_NUMBER:
        put_number(fill, value.number);
        break;
    case TDC_HOLDS_PERCENT: {
        struct tdc_text *out = compose(fill);
        size_t length = tdc_float_repr(value.number, text);
        tdc_text_add(out, text, length);
        tdc_text_addc(out, '%');
        break;
    }
    case TDC_HOLDS_NAN:
        put_text(fill, "Nan");
        break;
    case TDC_HOLDS_NA:
        put_text(fill, "N/A");
        break;
    case TDC_HOLDS_UNSUPPORTED:
        put_text(fill, "unsupported");
        break;
    case TDC_HOLDS_SHAPE:
        put_text(fill, "shape unmatched");
        break;
    case TDC_HOLDS_ZERO:
        put_text(fill, "0");
        break;
    case TDC_HOLDS_INF:
        put_text(fill, "inf");
        break;
    case TDC_HOLDS_NEG_INF:
        put_text(fill, "-inf");
        break;
    case TDC_HOLDS_DIFF:
        put_text(fill, "Diff");
        break;
    case TDC_HOLDS_FLOAT:
        tdc_text_add(compose(fill), text, tdc_float_repr(value.number, text));
        break;
    case TDC_HOLDS_INTEGER:
        tdc_text_addf(compose(fill), "%" PRId64, value.integer);
        break;
    case TDC_HOLDS_UNSIGNED:
        tdc_text_addf(compose(fill), "%" PRIu64, (uint64_t)value.integer);
        break;
    }
}

/* An integer of a column that pandas keeps as integers, with all its digits. */
static void put_digits(struct filling *fill, double number, const char *digits)
{
    char text[TDC_FLOAT_TEXT];
    if (digits == NULL) {
        snprintf(text, sizeof text, "%.0f", number);
        digits = text;
    }
    put_printed(fill, number, digits, strlen(digits));
}

/* Integers keep all their digits in csv. NaN is shown: that it was recorded is worth knowing. */
static void put_sound_stat(struct filling *fill, const struct tdc_record *record, int which)
{
    double number;
    if (record != NULL && record->stat_kinds[which] == TDC_STAT_TEXT &&
        strcmp(record->stats[which].text, "Nan") == 0)
        put_number(fill, NAN);
    else if (record == NULL || !tdc_stat_number(record, (enum tdc_statistic)which, &number))
        put_nothing(fill);
    else if (record->stat_kinds[which] == TDC_STAT_BIG_INTEGER)
        put_digits(fill, number, record->stats[which].text);
    else
        put_number(fill, number);
}

/* The value of an argument that is no tensor. */
static void put_argument(struct filling *fill, const struct tdc_record *record)
{
    char text[TDC_FLOAT_TEXT];
    double number;
    if (record == NULL || !record->scalar)
        put_nothing(fill);
    else if (record->stat_kinds[TDC_MAX] == TDC_STAT_TEXT ||
             record->stat_kinds[TDC_MAX] == TDC_STAT_BIG_INTEGER)
        put_text(fill, record->stats[TDC_MAX].text);
    else if (tdc_stat_number(record, TDC_MAX, &number))
        tdc_text_add(compose(fill), text, tdc_float_g16(number, text));
    else
        put_text(fill, record->stat_kinds[TDC_MAX] == TDC_STAT_TRUE ? "True" : "False");
}

static void put_stat(struct filling *fill, const struct tdc_record *record, int which)
{
    if (fill->table->rules->extended) {
        put_sound_stat(fill, record, which);
        return;
    }
    bool digits = fill->table->rules->columns_of_26 &&
                  !fill->table->stat_columns[record == fill->npu ? 0 : 1][which].integers_as_floats;
    if (record == NULL) {
        put_text(fill, "N/A");
        return;
    }
    double number = 0;
    switch ((enum tdc_stat_kind)record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
        put_number(fill, record->stats[which].number);
        break;
    case TDC_STAT_INTEGER:
        if (digits)
            put_digits(fill, record->stats[which].number, NULL);
        else
            put_number(fill, record->stats[which].number);
        break;
    case TDC_STAT_BIG_INTEGER:
        tdc_float_parse(record->stats[which].text, strlen(record->stats[which].text), &number);
        if (digits)
            put_digits(fill, number, record->stats[which].text);
        else
            put_number(fill, number);
        break;
    case TDC_STAT_TEXT:
        put_text(fill, record->stats[which].text);
        break;
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        put_bool(fill, record->stat_kinds[which] == TDC_STAT_TRUE);
        break;
    }
}

static void put_digest(struct filling *fill, const struct tdc_record *record)
{
    double number;
    if (fill->table->rules->extended) {
        if (record != NULL && record->digest_given)
            put_text(fill, record->digest);
        else
            put_nothing(fill);
        return;
    }
    if (record != NULL && record->digest_number && fill->table->rules->columns_of_26 &&
        tdc_python_float(record->digest, strlen(record->digest), &number))
        put_printed(fill, number, record->digest, strlen(record->digest));
    else
        put_text(fill, record != NULL ? record->digest : "N/A");
}

static void put_stack(struct filling *fill)
{
    const char *list = NULL;
    if (fill->npu != NULL && fill->npu->first_of_entry) {
        const char *entry = fill->table->match->npu->entries[fill->npu->entry].name;
        const struct tdc_stack *found = tdc_stacks_find(fill->table->stacks, entry);
        list = found != NULL ? found->list : NULL;
    }
    put_text(fill, list != NULL ? list : "N/A");
}

static void put_data_name(struct filling *fill)
{
    struct tdc_text *out = compose(fill);
    const char *npu = fill->npu != NULL ? fill->npu->data_name : "N/A";
    const char *bench = fill->bench != NULL ? fill->bench->data_name : "N/A";
    tdc_text_addc(out, '[');
    tdc_pytext_repr_string(out, npu, strlen(npu));
    tdc_text_adds(out, ", ");
    tdc_pytext_repr_string(out, bench, strlen(bench));
    tdc_text_addc(out, ']');
}

/* How a logical tensor was put together. */
static void put_aligned(struct filling *fill, enum column_id id)
{
    size_t row = (size_t)(fill->row - fill->table->rows);
    const struct tdc_aligned_row *aligned = tdc_table_aligned(fill->table, row);
    const char *text = id == AXES ? aligned->axes : aligned->parts[id == BENCH_PARTS];
    put_text(fill, text != NULL ? text : "");
}

static void put_found(struct filling *fill)
{
    const struct tdc_record *record = fill->npu != NULL ? fill->npu : fill->bench;
    put_text(fill, record != NULL && record->found != NULL ? record->found : "");
}

static void put_element(struct filling *fill, uint8_t dtype, const struct tdc_element *element)
{
    double number;
    struct tdc_text *out = compose(fill);
    fill->composed = false;
    if (tdc_element_number((tdc_dtype)dtype, element, &number, out)) {
        put_number_or_nothing(fill, number);
    } else if (tdc_dtype_is_complex((tdc_dtype)dtype)) {
        put_nothing(fill); /* no number of a table; the json has it */
    } else {
        fill->printed = true; /* all its digits in csv */
        *fill->cell = (struct tdc_cell){
            .kind = TDC_CELL_NUMBER, .number = number, .length = out->length - fill->offset};
    }
}

static void put_extra(struct filling *fill, enum column_id id)
{
    const struct tdc_extra *extra = fill->extra;
    if (extra == NULL || extra->elements == 0) {
        put_nothing(fill);
        return;
    }
    const double numbers[] = {
        [0] = extra->mean_abs,
        [RMSE - MEAN_ABS] = extra->rmse,
        [BELOW_1 - MEAN_ABS] = extra->below[0],
        [BELOW_10 - MEAN_ABS] = extra->below[1],
        [NPU_NAN - MEAN_ABS] = (double)extra->n_nan,
        [NPU_INF - MEAN_ABS] = (double)extra->n_inf,
        [BENCH_NAN - MEAN_ABS] = (double)extra->b_nan,
        [BENCH_INF - MEAN_ABS] = (double)extra->b_inf,
        [ELEMENTS - MEAN_ABS] = (double)extra->elements,
    };
    if (id >= ABS_AT && id <= REL_BENCH && !extra->located)
        put_nothing(fill);
    else if (id == ABS_AT || id == REL_AT)
        tdc_index_text(compose(fill), fill->npu->shape,
                       id == ABS_AT ? extra->abs_at : extra->rel_at);
    else if (id == ABS_NPU || id == REL_NPU)
        put_element(fill, extra->n_dtype, id == ABS_NPU ? &extra->abs_n : &extra->rel_n);
    else if (id == ABS_BENCH || id == REL_BENCH)
        put_element(fill, extra->b_dtype, id == ABS_BENCH ? &extra->abs_b : &extra->rel_b);
    else
        put_number_or_nothing(fill, numbers[id - MEAN_ABS]);
}

static void put_third(struct filling *fill, enum column_id id)
{
    const struct tdc_table *table = fill->table;
    size_t index = (size_t)(fill->row - table->rows);
    const struct tdc_third_row *third = id == NEARER ? &table->truth[index] : &table->noise[index];
    if (!third->known)
        put_nothing(fill);
    else if (id == NEARER)
        put_text(fill, tdc_nearer_text(third->nearer));
    else
        put_number_or_nothing(fill, third->factor);
}

static void put_distance(struct filling *fill, enum column_id id)
{
    uint8_t row_class = fill->row->row_class;
    if (row_class == TDC_ROW_NONE || row_class == TDC_ROW_UNMATCHED || row_class == TDC_ROW_ERROR ||
        fill->npu == NULL || fill->bench == NULL || fill->npu->scalar)
        put_nothing(fill);
    else
        put_number_or_nothing(fill, id == DISTANCE ? fill->row->r : fill->row->s);
}

static void put_named(struct filling *fill, enum column_id id)
{
    const struct tdc_record *record = id % 2 == NPU_NAME % 2 ? fill->npu : fill->bench;
    const char *text = "N/A";
    bool nulls_as_na = fill->table->rules->columns_of_26;
    if (record != NULL) {
        switch (id) {
        case NPU_NAME:
        case BENCH_NAME:
            text = record->name;
            break;
        case NPU_DTYPE:
        case BENCH_DTYPE:
            text = nulls_as_na && record->no_dtype ? "N/A" : record->dtype;
            break;
        case NPU_SHAPE:
        case BENCH_SHAPE:
            text = nulls_as_na && record->no_shape ? "N/A" : record->shape;
            break;
        default:
            text = record->requires_grad;
            break;
        }
    }
    put_text(fill, text);
}

/* The list of findings as Python's json writes it; none of their texts needs escaping. */
static void put_findings(struct filling *fill)
{
    struct tdc_text *out = compose(fill);
    const char *text, *comma = "";
    tdc_text_addc(out, '[');
    for (unsigned bit = 0; (text = fill->table->rules->finding_text(bit)) != NULL; bit++) {
        if ((fill->row->findings >> bit & 1) == 0)
            continue;
        tdc_text_addf(out, "%s\"%s\"", comma, text);
        comma = ", ";
    }
    tdc_text_addc(out, ']');
}

static void fill_cell(struct filling *fill, enum column_id id)
{
    if (id < VALUE) {
        put_named(fill, id);
        return;
    }
    if (id < NPU_STAT) {
        put_value(fill, fill->row->values[id - VALUE]);
        return;
    }
    if (id < NPU_DIGEST) {
        bool npu = id < BENCH_STAT;
        put_stat(fill, npu ? fill->npu : fill->bench, (int)id - (npu ? NPU_STAT : BENCH_STAT));
        return;
    }
    switch (id) {
    case NPU_DIGEST:
        put_digest(fill, fill->npu);
        break;
    case BENCH_DIGEST:
        put_digest(fill, fill->bench);
        break;
    case CONSISTENT:
        put_bool(fill, strcmp(tdc_requires_grad(fill->npu), tdc_requires_grad(fill->bench)) == 0);
        break;
    case DISTANCE:
    case WORST:
        put_distance(fill, id);
        break;
    case VERDICT:
        put_text(fill, fill->table->rules->verdict_text(fill->row));
        break;
    case MESSAGE:
        if (fill->table->rules->finding_text != NULL)
            put_findings(fill);
        else
            put_text(fill, fill->row->message);
        break;
    case SEVERITY:
        put_number(fill, tdc_table_severity(fill->table, (size_t)(fill->row - fill->table->rows)));
        break;
    case NPU_VALUE:
        put_argument(fill, fill->npu);
        break;
    case BENCH_VALUE:
        put_argument(fill, fill->bench);
        break;
    case STACK:
        put_stack(fill);
        break;
    case DATA_NAME:
        put_data_name(fill);
        break;
    case AXES:
    case NPU_PARTS:
    case BENCH_PARTS:
        put_aligned(fill, id);
        break;
    case FOUND:
        put_found(fill);
        break;
    case NEARER:
    case NOISE_FACTOR:
        put_third(fill, id);
        break;
    default:
        put_extra(fill, id);
        break;
    }
}

/* The cell format of msprobe's -hl: booleans as texts, a tab behind inf and nan
 * (docs/msprobe.md#cells-of-a-sheet). */
static void convert_for_highlight(struct tdc_cell *cell)
{
    if (cell->kind == TDC_CELL_BOOL) {
        cell->kind = TDC_CELL_TEXT;
        cell->text = cell->truth ? "True" : "False";
        cell->length = strlen(cell->text);
        return;
    }
    const char *text = NULL;
    if (cell->kind == TDC_CELL_NUMBER) {
        if (!isfinite(cell->number))
            text = isnan(cell->number) ? "nan\t" : cell->number > 0 ? "inf\t" : "-inf\t";
    } else if (cell->length == 3 && memcmp(cell->text, "inf", 3) == 0) {
        text = "inf\t";
    } else if (cell->length == 3 && memcmp(cell->text, "nan", 3) == 0) {
        text = "nan\t";
    } else if (cell->length == 4 && memcmp(cell->text, "-inf", 4) == 0) {
        text = "-inf\t";
    }
    if (text != NULL)
        *cell = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

tdc_status tdc_table_cells(const struct tdc_table *table, size_t row, struct tdc_text *texts,
                           struct tdc_cell *cells, struct tdc_error *error)
{
    size_t offsets[TDC_MOST_COLUMNS];
    struct filling fill = {.table = table, .texts = texts, .row = &table->rows[row]};
    fill.npu = tdc_row_npu(table, fill.row);
    fill.bench = tdc_row_bench(table, fill.row);
    fill.extra = table->extras != NULL ? &table->extras[row] : NULL;
    tdc_text_clear(texts);
    for (size_t i = 0; i < table->column_count; i++) {
        fill.cell = &cells[i];
        fill.composed = fill.printed = false;
        fill_cell(&fill, table->columns[i]->id);
        offsets[i] = fill.printed ? fill.offset : SIZE_MAX;
        if (fill.composed) {
            offsets[i] = fill.offset;
            cells[i] =
                (struct tdc_cell){.kind = TDC_CELL_TEXT, .length = texts->length - fill.offset};
        }
    }
    if (texts->failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the texts of row %zu", row);
    for (size_t i = 0; i < table->column_count; i++) {
        if (offsets[i] != SIZE_MAX)
            cells[i].text = texts->data + offsets[i];
        if (table->highlight_cells)
            convert_for_highlight(&cells[i]);
    }
    return TDC_OK;
}

tdc_status tdc_table_row(tdc_table *table, size_t row, struct tdc_cell *cells,
                         struct tdc_error *error)
{
    return tdc_table_cells(table, row, &table->cell_texts, cells, error);
}
