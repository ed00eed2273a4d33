/* table_json_row.c - one row of a JSON result. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/table/aligned.h"
#include "host/judge/reason.h"
#include "host/judge/element_text.h"
#include "host/table/table_json.h"
#include "kernels/dtype.h"

/* ---- small values ---------------------------------------------------------------------------- */

static const char *role_of(const struct tdc_record *record)
{
    static const char *const roles[] = {
        [TDC_STATE_INPUT] = "input",
        [TDC_STATE_DEBUG] = "debug",
        [TDC_STATE_PARAMETERS] = "parameter",
        [TDC_STATE_OUTPUT] = "output",
        [TDC_STATE_PARAMETERS_GRAD] = "parameter_grad",
    };
    return roles[record->state];
}

const char *tdc_row_direction(const struct tdc_table *table, const struct tdc_row *row)
{
    static const char *const directions[] = {
        [TDC_CALL_OTHER] = NULL,
        [TDC_CALL_FORWARD] = "forward",
        [TDC_CALL_BACKWARD] = "backward",
        [TDC_CALL_GRADIENTS] = "backward",
    };
    return directions[table->calls.calls[row->call].direction];
}

/* "[2, 3]" as it is when it is a list of whole numbers, else null: texts come from a file. */
static void add_shape(struct tdc_json_object *object, const struct tdc_record *record)
{
    const char *shape = record->shape;
    size_t length = strlen(shape);
    bool list = !record->scalar && !record->no_shape && length >= 2 && shape[0] == '[' &&
                shape[length - 1] == ']';
    bool digits = false, after_comma = false;
    for (size_t i = 1; list && i + 1 < length; i++) {
        if (shape[i] >= '0' && shape[i] <= '9') {
            list = !(digits && shape[i - 1] == '0' && (shape[i - 2] < '0' || shape[i - 2] > '9'));
            digits = true;
            after_comma = false;
        } else if (shape[i] == ',') {
            list = digits;
            digits = false;
            after_comma = true;
        } else {
            list = shape[i] == ' ' && after_comma && !digits;
        }
    }
    if (list && !after_comma) {
        tdc_object_key(object, "shape");
        tdc_text_add(object->out, shape, length);
    } else {
        tdc_object_null(object, "shape");
    }
}

static void add_truth_text(struct tdc_json_object *object, const char *name, const char *text)
{
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
        tdc_object_truth(object, name, text[0] == 'T');
    else
        tdc_object_null(object, name);
}

/* A statistic: a number, or null where the dump has no number ("Nan" says which). */
static void add_stat(struct tdc_json_object *object, const char *name,
                     const struct tdc_record *record, enum tdc_statistic which)
{
    double number;
    const union tdc_stat *stat = &record->stats[which];
    uint8_t kind = record->stat_kinds[which];
    if (kind == TDC_STAT_BIG_INTEGER) {
        tdc_object_key(object, name);
        tdc_text_adds(object->out, stat->text);
    } else if (tdc_stat_number(record, which, &number)) {
        tdc_object_number(object, name, number);
    } else if (kind == TDC_STAT_TEXT && strcmp(stat->text, "Nan") == 0) {
        tdc_object_number(object, name, (double)NAN);
    } else if (kind == TDC_STAT_FALSE || kind == TDC_STAT_TRUE) {
        tdc_object_number(object, name, kind == TDC_STAT_TRUE);
    } else {
        tdc_object_null(object, name);
    }
}

/* The value of an argument that is no tensor. */
static void add_value(struct tdc_json_object *object, const struct tdc_record *record)
{
    uint8_t kind = record->stat_kinds[TDC_MAX];
    if (kind == TDC_STAT_TEXT)
        tdc_object_text(object, "value", record->stats[TDC_MAX].text);
    else if (kind == TDC_STAT_FALSE || kind == TDC_STAT_TRUE)
        tdc_object_truth(object, "value", kind == TDC_STAT_TRUE);
    else
        add_stat(object, "value", record, TDC_MAX);
}

/* ---- the sides ------------------------------------------------------------------------------- */

static void add_statistics(struct tdc_json_object *side, const struct tdc_record *record)
{
    static const char *const names[TDC_STATISTICS] = {
        [TDC_MAX] = "max", [TDC_MIN] = "min", [TDC_MEAN] = "mean", [TDC_NORM] = "norm"};
    for (int i = 0; i < TDC_STATISTICS; i++)
        add_stat(side, names[i], record, (enum tdc_statistic)i);
}

static void add_side(struct tdc_json_object *object, const char *name,
                     const struct tdc_record *record)
{
    struct tdc_json_object side;
    if (record == NULL) {
        tdc_object_null(object, name);
        return;
    }
    tdc_object_key(object, name);
    tdc_object_begin(&side, object->out);
    tdc_object_text(&side, "name", record->name);
    tdc_object_text(&side, "dtype", record->no_dtype ? NULL : record->dtype);
    add_shape(&side, record);
    add_truth_text(&side, "requires_grad", record->requires_grad);
    tdc_object_text(&side, "file", tdc_record_has_file(record) ? record->data_name : NULL);
    tdc_object_text(&side, "md5", record->digest_given ? record->digest : NULL);
    if (record->scalar)
        add_value(&side, record);
    else
        add_statistics(&side, record);
    tdc_object_end(&side);
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* A field that the row has, or null. */
static void add_field(const struct tdc_table *table, size_t row, struct tdc_json_object *object,
                      tdc_field field, const char *name)
{
    double number;
    bool percent = field >= TDC_FIELD_MAX_PERCENT && field <= TDC_FIELD_NORM_PERCENT;
    if (tdc_table_number(table, row, field, &number))
        tdc_object_number(object, name, percent ? number / 100 : number);
    else
        tdc_object_null(object, name);
}

struct named_field {
    tdc_field field;
    const char *name;
};

static const struct named_field tensor_metrics[] = {
    {TDC_FIELD_COSINE, "cosine"},
    {TDC_FIELD_EUCLIDEAN, "euclidean"},
    {TDC_FIELD_MAX_ABS, "max_abs"},
    {TDC_FIELD_MAX_REL, "max_rel"},
    {TDC_FIELD_MEAN_ABS, "mean_abs"},
    {TDC_FIELD_RMSE, "rmse"},
    {TDC_FIELD_BELOW_THOUSANDTH, "below_thousandth"},
    {TDC_FIELD_BELOW_FIVE_THOUSANDTHS, "below_five_thousandths"},
    {TDC_FIELD_BELOW_HUNDREDTH, "below_hundredth"},
    {TDC_FIELD_BELOW_TENTH, "below_tenth"},
    {TDC_FIELD_ELEMENTS, "elements"},
    {TDC_FIELD_NPU_NAN, "test_nan"},
    {TDC_FIELD_NPU_INF, "test_inf"},
    {TDC_FIELD_BENCH_NAN, "ref_nan"},
    {TDC_FIELD_BENCH_INF, "ref_inf"},
    {TDC_FIELD_NONE, NULL},
};

static const struct named_field statistics_metrics[] = {
    {TDC_FIELD_MAX_DIFF, "max_diff"},
    {TDC_FIELD_MIN_DIFF, "min_diff"},
    {TDC_FIELD_MEAN_DIFF, "mean_diff"},
    {TDC_FIELD_NORM_DIFF, "norm_diff"},
    {TDC_FIELD_MAX_PERCENT, "max_relative"},
    {TDC_FIELD_MIN_PERCENT, "min_relative"},
    {TDC_FIELD_MEAN_PERCENT, "mean_relative"},
    {TDC_FIELD_NORM_PERCENT, "norm_relative"},
    {TDC_FIELD_NONE, NULL},
};

static void add_metrics(const struct tdc_table *table, size_t row, struct tdc_json_object *object)
{
    struct tdc_json_object metrics;
    tdc_object_key(object, "metrics");
    tdc_object_begin(&metrics, object->out);
    add_field(table, row, &metrics, TDC_FIELD_DISTANCE, "relative_distance");
    add_field(table, row, &metrics, TDC_FIELD_WORST, "worst_to_largest");
    const struct named_field *field = table->mode == TDC_MODE_TENSOR       ? tensor_metrics
                                      : table->mode == TDC_MODE_STATISTICS ? statistics_metrics
                                                                           : NULL;
    for (; field != NULL && field->name != NULL; field++)
        add_field(table, row, &metrics, field->field, field->name);
    tdc_object_end(&metrics);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* An integer of 64 bits, or 18 digits and an exponent. */
#define DIGITS_ROOM 64

/* A complex number is a list of its two parts, null where one is not finite. */
static void add_element(struct tdc_json_object *object, const char *name, uint8_t dtype,
                        const struct tdc_element *element)
{
    double imaginary, real = tdc_element_value((tdc_dtype)dtype, element->bytes, &imaginary);
    if (tdc_dtype_is_complex((tdc_dtype)dtype)) {
        if (!isfinite(real) || !isfinite(imaginary)) {
            tdc_object_number(object, name, isfinite(real) ? imaginary : real);
            return;
        }
        tdc_object_key(object, name);
        tdc_text_addc(object->out, '[');
        tdc_json_add_finite(object->out, real);
        tdc_text_adds(object->out, ", ");
        tdc_json_add_finite(object->out, imaginary);
        tdc_text_addc(object->out, ']');
        return;
    }
    /* integers with all their digits, numbers beyond float64 */
    char room[DIGITS_ROOM];
    struct tdc_text digits = {.data = room, .capacity = sizeof room, .limit = sizeof room - 1};
    if (tdc_element_number((tdc_dtype)dtype, element, &real, &digits)) {
        tdc_object_number(object, name, real);
    } else {
        tdc_object_key(object, name);
        tdc_text_add(object->out, digits.data, digits.length);
    }
}

struct place {
    const char *name;
    bool known;
    uint64_t at;
    const struct tdc_element *npu, *bench;
};

static void add_place(struct tdc_json_object *object, const struct place *place,
                      const struct tdc_extra *extra, const struct tdc_record *npu)
{
    struct tdc_json_object inner;
    if (!place->known) {
        tdc_object_null(object, place->name);
        return;
    }
    tdc_object_key(object, place->name);
    tdc_object_begin(&inner, object->out);
    tdc_object_key(&inner, "index");
    tdc_index_text(object->out, npu->shape, place->at);
    add_element(&inner, "test", extra->n_dtype, place->npu);
    add_element(&inner, "ref", extra->b_dtype, place->bench);
    tdc_object_end(&inner);
}

/* Where the largest errors are, and the first NaN or infinity that does not face its like. */
static void add_places(const struct tdc_table *table, size_t row, struct tdc_json_object *object)
{
    const struct tdc_extra *extra = table->extras != NULL ? &table->extras[row] : NULL;
    const struct tdc_record *npu = tdc_row_npu(table, &table->rows[row]);
    if (extra == NULL)
        return;
    bool computed = extra->elements != 0 && npu != NULL;
    const struct place places[] = {
        {"worst_abs", computed && extra->located, extra->abs_at, &extra->abs_n, &extra->abs_b},
        {"worst_rel", computed && extra->located, extra->rel_at, &extra->rel_n, &extra->rel_b},
        {"first_apart", computed && extra->apart, extra->apart_at, &extra->apart_n,
         &extra->apart_b},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        add_place(object, &places[i], extra, npu);
}

/* ---- the row --------------------------------------------------------------------------------- */

static void add_reasons(const struct tdc_row *row, struct tdc_json_object *object)
{
    const char *between = "";
    tdc_object_key(object, "reasons");
    tdc_text_addc(object->out, '[');
    for (int i = 0; i < TDC_REASONS; i++) {
        if ((row->reasons >> i & 1) == 0)
            continue;
        tdc_text_addf(object->out, "%s\"%s\"", between, tdc_reason_code((enum tdc_reason)i));
        between = ", ";
    }
    tdc_text_addc(object->out, ']');
}

/* What a third run says of the row; nothing without one. */
static void add_third(const struct tdc_table *table, size_t row, struct tdc_json_object *object)
{
    if (table->truth != NULL)
        tdc_object_text(object, "nearer",
                        table->truth[row].known ? tdc_nearer_text(table->truth[row].nearer) : NULL);
    if (table->noise != NULL && table->noise[row].known)
        tdc_object_number(object, "factor", table->noise[row].factor);
    else if (table->noise != NULL)
        tdc_object_null(object, "factor");
}

void tdc_table_json_row(const struct tdc_table *table, size_t row, struct tdc_text *out)
{
    const struct tdc_row *held = &table->rows[row];
    const struct tdc_record *npu = tdc_row_npu(table, held), *bench = tdc_row_bench(table, held);
    const struct tdc_record *record = npu != NULL ? npu : bench;
    struct tdc_json_object object;
    tdc_object_begin(&object, out);
    tdc_object_whole(&object, "row", row);
    tdc_object_whole(&object, "sheet_row", tdc_sheet_row(row));
    tdc_object_text(&object, "name", record->name);
    tdc_object_text(&object, "call", tdc_table_call(table, row));
    tdc_object_text(&object, "direction", tdc_row_direction(table, held));
    tdc_object_text(&object, "role", role_of(record));
    tdc_object_text(&object, "keyword", record->keyword);
    tdc_object_truth(&object, "tensor", !record->scalar);
    tdc_object_text(&object, "verdict", table->rules->verdict_text(held));
    tdc_object_whole(&object, "severity", (uint64_t)tdc_table_severity(table, row));
    tdc_object_text(&object, "origin",
                    held->origin != TDC_ORIGIN_NONE ? tdc_origin_text((tdc_origin_kind)held->origin)
                                                    : NULL);
    add_reasons(held, &object);
    tdc_object_text(&object, "message", held->message);
    add_metrics(table, row, &object);
    add_places(table, row, &object);
    add_side(&object, "test", npu);
    add_side(&object, "ref", bench);
    tdc_aligned_json(table, row, &object);
    add_third(table, row, &object);
    tdc_object_end(&object);
}
