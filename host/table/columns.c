/* columns.c - which columns a table has and what stands in their cells (docs/msprobe.md#columns,
 * docs/msprobe.md#cells-of-a-sheet). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/table/columns.h"
#include "io/base/error.h"
#include "io/text/pytext.h"
#include "kernels/dtype.h"

enum column_id {
    NPU_NAME,
    BENCH_NAME,
    NPU_DTYPE,
    BENCH_DTYPE,
    NPU_SHAPE,
    BENCH_SHAPE,
    NPU_GRAD,
    BENCH_GRAD,
    VALUE, /* + index into values */
    NPU_STAT = VALUE + TDC_ROW_VALUES,
    BENCH_STAT = NPU_STAT + TDC_STATISTICS,
    NPU_DIGEST = BENCH_STAT + TDC_STATISTICS,
    BENCH_DIGEST,
    CONSISTENT,
    VERDICT,
    MESSAGE,
    STACK,
    DATA_NAME,
    /* extended rules */
    DISTANCE,
    WORST,
    MEAN_ABS,
    RMSE,
    BELOW_1,
    BELOW_10,
    ABS_AT,
    ABS_NPU,
    ABS_BENCH,
    REL_AT,
    REL_NPU,
    REL_BENCH,
    NPU_NAN,
    NPU_INF,
    BENCH_NAN,
    BENCH_INF,
    ELEMENTS
};

struct tdc_column {
    enum column_id id;
    const char *name;
    double width;
};

static const struct tdc_column basic[] = {
    {NPU_NAME, "NPU Name", 48},          {BENCH_NAME, "Bench Name", 48},
    {NPU_DTYPE, "NPU Dtype", 14},        {BENCH_DTYPE, "Bench Dtype", 14},
    {NPU_SHAPE, "NPU Tensor Shape", 18}, {BENCH_SHAPE, "Bench Tensor Shape", 18},
    {NPU_GRAD, "NPU Requires_grad", 10}, {BENCH_GRAD, "Bench Requires_grad", 10},
};

static const struct tdc_column tensor_values[] = {
    {VALUE + TDC_COSINE, "Cosine", 14},
    {VALUE + TDC_EUC_DIST, "EucDist", 14},
    {VALUE + TDC_MAX_ABS, "MaxAbsErr", 14},
    {VALUE + TDC_MAX_REL, "MaxRelativeErr", 14},
    {VALUE + TDC_ONE_THOUSANDTH, "One Thousandth Err Ratio", 14},
    {VALUE + TDC_FIVE_THOUSANDTHS, "Five Thousandths Err Ratio", 14},
};

static const struct tdc_column distances[] = {
    {DISTANCE, "Relative Distance", 14},
    {WORST, "Worst To Largest", 14},
};

static const struct tdc_column tensor_extras[] = {
    {BELOW_1, "Rel Err Below 1%", 12},  {BELOW_10, "Rel Err Below 10%", 12},
    {MEAN_ABS, "Mean Abs Err", 14},     {RMSE, "RMSE", 14},
    {ABS_AT, "Worst Abs At", 14},       {ABS_NPU, "Worst Abs NPU", 14},
    {ABS_BENCH, "Worst Abs Bench", 14}, {REL_AT, "Worst Rel At", 14},
    {REL_NPU, "Worst Rel NPU", 14},     {REL_BENCH, "Worst Rel Bench", 14},
    {NPU_NAN, "NPU NaN", 10},           {NPU_INF, "NPU Inf", 10},
    {BENCH_NAN, "Bench NaN", 10},       {BENCH_INF, "Bench Inf", 10},
    {ELEMENTS, "Elements", 12},
};

static const struct tdc_column statistics_values[] = {
    {VALUE + TDC_DIFF + TDC_MAX, "Max diff", 14},
    {VALUE + TDC_DIFF + TDC_MIN, "Min diff", 14},
    {VALUE + TDC_DIFF + TDC_MEAN, "Mean diff", 14},
    {VALUE + TDC_DIFF + TDC_NORM, "L2norm diff", 14},
    {VALUE + TDC_RELATIVE + TDC_MAX, "MaxRelativeErr", 14},
    {VALUE + TDC_RELATIVE + TDC_MIN, "MinRelativeErr", 14},
    {VALUE + TDC_RELATIVE + TDC_MEAN, "MeanRelativeErr", 14},
    {VALUE + TDC_RELATIVE + TDC_NORM, "NormRelativeErr", 14},
};

static const struct tdc_column stats[] = {
    {NPU_STAT + TDC_MAX, "NPU max", 14},       {NPU_STAT + TDC_MIN, "NPU min", 14},
    {NPU_STAT + TDC_MEAN, "NPU mean", 14},     {NPU_STAT + TDC_NORM, "NPU l2norm", 14},
    {BENCH_STAT + TDC_MAX, "Bench max", 14},   {BENCH_STAT + TDC_MIN, "Bench min", 14},
    {BENCH_STAT + TDC_MEAN, "Bench mean", 14}, {BENCH_STAT + TDC_NORM, "Bench l2norm", 14},
};

static const struct tdc_column digests[] = {
    {NPU_DIGEST, "NPU MD5", 12},
    {BENCH_DIGEST, "BENCH MD5", 12},
};

static const struct tdc_column consistent = {CONSISTENT, "Requires_grad Consistent", 12};
static const struct tdc_column accuracy = {VERDICT, "Accuracy Reached or Not", 12};
static const struct tdc_column result = {VERDICT, "Result", 12};
static const struct tdc_column message = {MESSAGE, "Err_message", 60};
static const struct tdc_column stack = {STACK, "NPU_Stack_Info", 40};
static const struct tdc_column data_name = {DATA_NAME, "Data_name", 40};

static void add_columns(struct tdc_table *table, const struct tdc_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table->columns[table->column_count++] = &columns[i];
}

#define ADD(table, columns) add_columns(table, columns, sizeof(columns) / sizeof *(columns))

void tdc_columns_choose(struct tdc_table *table)
{
    table->column_count = 0;
    ADD(table, basic);
    switch (table->mode) {
    case TDC_MODE_NONE:
        break;
    case TDC_MODE_TENSOR:
        ADD(table, tensor_values);
        if (table->rules->extended)
            ADD(table, tensor_extras);
        ADD(table, stats);
        break;
    case TDC_MODE_STATISTICS:
        ADD(table, statistics_values);
        ADD(table, stats);
        break;
    case TDC_MODE_DIGEST:
        ADD(table, digests);
        break;
    }
    if (table->rules->extended)
        ADD(table, distances);
    add_columns(table, &consistent, 1);
    bool reached = table->mode == TDC_MODE_TENSOR && !table->rules->columns_of_26;
    add_columns(table, reached ? &accuracy : &result, 1);
    if (table->mode != TDC_MODE_DIGEST || table->rules->extended || table->rules->columns_of_26)
        add_columns(table, &message, 1);
    if (table->stacks != NULL)
        add_columns(table, &stack, 1);
    if (table->mode == TDC_MODE_TENSOR)
        add_columns(table, &data_name, 1);
}

const char *tdc_column_name(const struct tdc_column *column)
{
    return column->name;
}

double tdc_column_width(const struct tdc_column *column)
{
    return column->width;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A row being filled. Composed texts go to table->cell_texts, which may move while it grows: their
 * cells hold the offset until the row is complete. */
struct filling {
    struct tdc_table *table;
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
    fill->offset = fill->table->cell_texts.length;
    return &fill->table->cell_texts;
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

static void put_number(struct filling *fill, double number)
{
    if (fill->table->rules->columns_of_26) {
        put_python_float(fill, number);
        return;
    }
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

static void put_bool(struct filling *fill, bool truth)
{
    *fill->cell = (struct tdc_cell){.kind = TDC_CELL_BOOL, .truth = truth};
}

static void put_value(struct filling *fill, struct tdc_value value)
{
    char text[TDC_FLOAT_TEXT];
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

static void put_stat(struct filling *fill, const struct tdc_record *record, int which)
{
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

void tdc_index_text(struct tdc_text *out, const char *shape, uint64_t index)
{
    uint64_t sizes[64], product = 1;
    size_t dimensions = 0;
    for (const char *at = shape; *at != '\0' && dimensions < 64;) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *end;
        sizes[dimensions] = strtoull(at, &end, 10);
        if (__builtin_mul_overflow(product, sizes[dimensions], &product))
            product = 0;
        dimensions++;
        at = end;
    }
    /* the shape in the json may not be that of the file */
    if (strcmp(shape, "[]") == 0) {
        tdc_text_adds(out, "[]");
        return;
    }
    if (dimensions < 2 || index >= product) {
        tdc_text_addf(out, "[%" PRIu64 "]", index);
        return;
    }
    uint64_t parts[64];
    for (size_t d = dimensions; d-- > 0;) {
        parts[d] = index % sizes[d];
        index /= sizes[d];
    }
    for (size_t d = 0; d < dimensions; d++)
        tdc_text_addf(out, "%s%" PRIu64, d == 0 ? "[" : ", ", parts[d]);
    tdc_text_addc(out, ']');
}

/* A finite number beyond float64; false for an infinity. Nobody else reads the text back. */
static bool add_extended(const unsigned char *bytes, struct tdc_text *out)
{
    long double value;
    if (!tdc_element_extended(bytes, &value))
        return false;
    return tdc_text_addf(out, "%.18Lg", value);
}

bool tdc_element_number(tdc_dtype dtype, const struct tdc_element *element, double *number,
                        struct tdc_text *out)
{
    double imaginary;
    *number = tdc_element_value(dtype, element->bytes, &imaginary);
    char text[TDC_FLOAT_TEXT];
    if (tdc_dtype_is_complex(dtype)) {
        tdc_text_add(out, text, tdc_float_g16(*number, text));
        if (!signbit(imaginary))
            tdc_text_addc(out, '+');
        tdc_text_add(out, text, tdc_float_g16(imaginary, text));
        tdc_text_addc(out, 'j');
        return false;
    }
    if (dtype == TDC_F80 && isinf(*number) && add_extended(element->bytes, out))
        return false;
    if ((dtype != TDC_I64 && dtype != TDC_U64) || fabs(*number) < 0x1p53)
        return true;
    uint64_t bits;
    memcpy(&bits, element->bytes, sizeof bits);
    if (dtype == TDC_I64)
        tdc_text_addf(out, "%" PRId64, (int64_t)bits);
    else
        tdc_text_addf(out, "%" PRIu64, bits);
    return false;
}

static void put_element(struct filling *fill, uint8_t dtype, const struct tdc_element *element)
{
    double number;
    struct tdc_text *out = compose(fill);
    if (tdc_element_number((tdc_dtype)dtype, element, &number, out)) {
        fill->composed = false;
        put_number(fill, number);
    }
}

static void put_extra(struct filling *fill, enum column_id id)
{
    const struct tdc_extra *extra = fill->extra;
    if (extra == NULL || extra->elements == 0) {
        put_text(fill, "");
        return;
    }
    const double numbers[] = {
        [MEAN_ABS - MEAN_ABS] = extra->mean_abs,
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
        put_text(fill, "");
    else if (id == ABS_AT || id == REL_AT)
        tdc_index_text(compose(fill), fill->npu->shape,
                       id == ABS_AT ? extra->abs_at : extra->rel_at);
    else if (id == ABS_NPU || id == REL_NPU)
        put_element(fill, extra->n_dtype, id == ABS_NPU ? &extra->abs_n : &extra->rel_n);
    else if (id == ABS_BENCH || id == REL_BENCH)
        put_element(fill, extra->b_dtype, id == ABS_BENCH ? &extra->abs_b : &extra->rel_b);
    else
        put_number(fill, numbers[id - MEAN_ABS]);
}

static void put_distance(struct filling *fill, enum column_id id)
{
    uint8_t row_class = fill->row->row_class;
    if (row_class == TDC_ROW_NONE || row_class == TDC_ROW_UNMATCHED || row_class == TDC_ROW_ERROR ||
        fill->npu == NULL || fill->bench == NULL || fill->npu->scalar)
        put_text(fill, "");
    else
        put_number(fill, id == DISTANCE ? fill->row->r : fill->row->s);
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
    case STACK:
        put_stack(fill);
        break;
    case DATA_NAME:
        put_data_name(fill);
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

tdc_status tdc_table_row(tdc_table *table, size_t row, struct tdc_cell *cells,
                         struct tdc_error *error)
{
    size_t offsets[TDC_MOST_COLUMNS];
    struct filling fill = {.table = table, .row = &table->rows[row]};
    fill.npu = tdc_row_npu(table, fill.row);
    fill.bench = tdc_row_bench(table, fill.row);
    fill.extra = table->extras != NULL ? &table->extras[row] : NULL;
    tdc_text_clear(&table->cell_texts);
    for (size_t i = 0; i < table->column_count; i++) {
        fill.cell = &cells[i];
        fill.composed = fill.printed = false;
        fill_cell(&fill, table->columns[i]->id);
        offsets[i] = fill.printed ? fill.offset : SIZE_MAX;
        if (fill.composed) {
            offsets[i] = fill.offset;
            cells[i] = (struct tdc_cell){.kind = TDC_CELL_TEXT,
                                         .length = table->cell_texts.length - fill.offset};
        }
    }
    if (table->cell_texts.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the texts of row %zu", row);
    for (size_t i = 0; i < table->column_count; i++) {
        if (offsets[i] != SIZE_MAX)
            cells[i].text = table->cell_texts.data + offsets[i];
        if (table->highlight_cells)
            convert_for_highlight(&cells[i]);
    }
    return TDC_OK;
}
