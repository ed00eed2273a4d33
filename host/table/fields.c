/* fields.c - one field of all rows, straight from the rows and records. */
#include "host/table/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/judge/rules.h"
#include "host/table/table.h"
#include "io/base/error.h"

/* ---- which fields there are ------------------------------------------------------------------ */

/* Where a field is found; `which` and `side` say more. */
enum source {
    FROM_RECORD, /* a text: offset into struct tdc_record */
    FROM_VERDICT,
    FROM_MESSAGE,
    FROM_RECORD_NUMBER,
    FROM_CLASS,
    FROM_COLOUR,
    FROM_ORIGIN,
    FROM_COUNT,    /* a uint64_t: offset into struct tdc_extra */
    FROM_POSITION, /* the same, where positions mean something */
    FROM_TENSOR,   /* row->values by enum tdc_tensor_value */
    FROM_MEASURE,  /* a double: offset into struct tdc_extra */
    FROM_ELEMENT,  /* a struct tdc_element: the same */
    FROM_DISTANCE,
    FROM_WORST,
    FROM_STATISTIC, /* of the record */
    FROM_COMPARED   /* row->values of statistics */
};

enum side {
    NPU,
    BENCH
};

struct field {
    const char *name;
    tdc_field_type type;
    enum source source;
    enum side side;
    size_t which;
};

#define RECORD(member) offsetof(struct tdc_record, member)
#define EXTRA(member)  offsetof(struct tdc_extra, member)

#define TEXT_OF(name, side, member)                                                                \
    {                                                                                              \
        name, TDC_FIELD_TYPE_TEXT, FROM_RECORD, side, RECORD(member)                               \
    }
#define INTEGER(name, ...)                                                                         \
    {                                                                                              \
        name, TDC_FIELD_TYPE_INTEGER, __VA_ARGS__                                                  \
    }
#define NUMBER(name, ...)                                                                          \
    {                                                                                              \
        name, TDC_FIELD_TYPE_NUMBER, __VA_ARGS__                                                   \
    }

static const struct field fields[] = {
    [TDC_FIELD_NPU_NAME] = TEXT_OF("npu_name", NPU, name),
    [TDC_FIELD_BENCH_NAME] = TEXT_OF("bench_name", BENCH, name),
    [TDC_FIELD_NPU_DTYPE] = TEXT_OF("npu_dtype", NPU, dtype),
    [TDC_FIELD_BENCH_DTYPE] = TEXT_OF("bench_dtype", BENCH, dtype),
    [TDC_FIELD_NPU_SHAPE] = TEXT_OF("npu_shape", NPU, shape),
    [TDC_FIELD_BENCH_SHAPE] = TEXT_OF("bench_shape", BENCH, shape),
    [TDC_FIELD_NPU_FILE] = TEXT_OF("npu_file", NPU, data_name),
    [TDC_FIELD_BENCH_FILE] = TEXT_OF("bench_file", BENCH, data_name),
    [TDC_FIELD_NPU_DIGEST] = TEXT_OF("npu_digest", NPU, digest),
    [TDC_FIELD_BENCH_DIGEST] = TEXT_OF("bench_digest", BENCH, digest),
    [TDC_FIELD_VERDICT] = {"verdict", TDC_FIELD_TYPE_TEXT, FROM_VERDICT, NPU, 0},
    [TDC_FIELD_MESSAGE] = {"message", TDC_FIELD_TYPE_TEXT, FROM_MESSAGE, NPU, 0},
    [TDC_FIELD_NPU_RECORD] = INTEGER("npu_record", FROM_RECORD_NUMBER, NPU, 0),
    [TDC_FIELD_BENCH_RECORD] = INTEGER("bench_record", FROM_RECORD_NUMBER, BENCH, 0),
    [TDC_FIELD_CLASS] = INTEGER("class", FROM_CLASS, NPU, 0),
    [TDC_FIELD_COLOUR] = INTEGER("colour", FROM_COLOUR, NPU, 0),
    [TDC_FIELD_ORIGIN] = INTEGER("origin", FROM_ORIGIN, NPU, 0),
    [TDC_FIELD_ELEMENTS] = INTEGER("elements", FROM_COUNT, NPU, EXTRA(elements)),
    [TDC_FIELD_MAX_ABS_AT] = INTEGER("max_abs_at", FROM_POSITION, NPU, EXTRA(abs_at)),
    [TDC_FIELD_MAX_REL_AT] = INTEGER("max_rel_at", FROM_POSITION, NPU, EXTRA(rel_at)),
    [TDC_FIELD_NPU_NAN] = INTEGER("npu_nan", FROM_COUNT, NPU, EXTRA(n_nan)),
    [TDC_FIELD_NPU_INF] = INTEGER("npu_inf", FROM_COUNT, NPU, EXTRA(n_inf)),
    [TDC_FIELD_BENCH_NAN] = INTEGER("bench_nan", FROM_COUNT, BENCH, EXTRA(b_nan)),
    [TDC_FIELD_BENCH_INF] = INTEGER("bench_inf", FROM_COUNT, BENCH, EXTRA(b_inf)),
    [TDC_FIELD_COSINE] = NUMBER("cosine", FROM_TENSOR, NPU, TDC_COSINE),
    [TDC_FIELD_EUCLIDEAN] = NUMBER("euclidean", FROM_TENSOR, NPU, TDC_EUC_DIST),
    [TDC_FIELD_MAX_ABS] = NUMBER("max_abs", FROM_TENSOR, NPU, TDC_MAX_ABS),
    [TDC_FIELD_MAX_REL] = NUMBER("max_rel", FROM_TENSOR, NPU, TDC_MAX_REL),
    [TDC_FIELD_BELOW_THOUSANDTH] = NUMBER("below_thousandth", FROM_TENSOR, NPU, TDC_ONE_THOUSANDTH),
    [TDC_FIELD_BELOW_FIVE_THOUSANDTHS] =
        NUMBER("below_five_thousandths", FROM_TENSOR, NPU, TDC_FIVE_THOUSANDTHS),
    [TDC_FIELD_BELOW_HUNDREDTH] = NUMBER("below_hundredth", FROM_MEASURE, NPU, EXTRA(below[0])),
    [TDC_FIELD_BELOW_TENTH] = NUMBER("below_tenth", FROM_MEASURE, NPU, EXTRA(below[1])),
    [TDC_FIELD_MEAN_ABS] = NUMBER("mean_abs", FROM_MEASURE, NPU, EXTRA(mean_abs)),
    [TDC_FIELD_RMSE] = NUMBER("rmse", FROM_MEASURE, NPU, EXTRA(rmse)),
    [TDC_FIELD_MAX_ABS_NPU] = NUMBER("max_abs_npu", FROM_ELEMENT, NPU, EXTRA(abs_n)),
    [TDC_FIELD_MAX_ABS_BENCH] = NUMBER("max_abs_bench", FROM_ELEMENT, BENCH, EXTRA(abs_b)),
    [TDC_FIELD_MAX_REL_NPU] = NUMBER("max_rel_npu", FROM_ELEMENT, NPU, EXTRA(rel_n)),
    [TDC_FIELD_MAX_REL_BENCH] = NUMBER("max_rel_bench", FROM_ELEMENT, BENCH, EXTRA(rel_b)),
    [TDC_FIELD_DISTANCE] = NUMBER("distance", FROM_DISTANCE, NPU, 0),
    [TDC_FIELD_WORST] = NUMBER("worst", FROM_WORST, NPU, 0),
    [TDC_FIELD_NPU_MAX] = NUMBER("npu_max", FROM_STATISTIC, NPU, TDC_MAX),
    [TDC_FIELD_NPU_MIN] = NUMBER("npu_min", FROM_STATISTIC, NPU, TDC_MIN),
    [TDC_FIELD_NPU_MEAN] = NUMBER("npu_mean", FROM_STATISTIC, NPU, TDC_MEAN),
    [TDC_FIELD_NPU_NORM] = NUMBER("npu_norm", FROM_STATISTIC, NPU, TDC_NORM),
    [TDC_FIELD_BENCH_MAX] = NUMBER("bench_max", FROM_STATISTIC, BENCH, TDC_MAX),
    [TDC_FIELD_BENCH_MIN] = NUMBER("bench_min", FROM_STATISTIC, BENCH, TDC_MIN),
    [TDC_FIELD_BENCH_MEAN] = NUMBER("bench_mean", FROM_STATISTIC, BENCH, TDC_MEAN),
    [TDC_FIELD_BENCH_NORM] = NUMBER("bench_norm", FROM_STATISTIC, BENCH, TDC_NORM),
    [TDC_FIELD_MAX_DIFF] = NUMBER("max_diff", FROM_COMPARED, NPU, TDC_DIFF + TDC_MAX),
    [TDC_FIELD_MIN_DIFF] = NUMBER("min_diff", FROM_COMPARED, NPU, TDC_DIFF + TDC_MIN),
    [TDC_FIELD_MEAN_DIFF] = NUMBER("mean_diff", FROM_COMPARED, NPU, TDC_DIFF + TDC_MEAN),
    [TDC_FIELD_NORM_DIFF] = NUMBER("norm_diff", FROM_COMPARED, NPU, TDC_DIFF + TDC_NORM),
    [TDC_FIELD_MAX_PERCENT] = NUMBER("max_percent", FROM_COMPARED, NPU, TDC_RELATIVE + TDC_MAX),
    [TDC_FIELD_MIN_PERCENT] = NUMBER("min_percent", FROM_COMPARED, NPU, TDC_RELATIVE + TDC_MIN),
    [TDC_FIELD_MEAN_PERCENT] = NUMBER("mean_percent", FROM_COMPARED, NPU, TDC_RELATIVE + TDC_MEAN),
    [TDC_FIELD_NORM_PERCENT] = NUMBER("norm_percent", FROM_COMPARED, NPU, TDC_RELATIVE + TDC_NORM),
};

_Static_assert(sizeof fields / sizeof *fields == TDC_FIELDS, "a field has no description");

/* NULL when there is none. */
static const struct field *field_of(tdc_field id)
{
    return (unsigned)id < TDC_FIELDS && id != TDC_FIELD_NONE ? &fields[id] : NULL;
}

tdc_field_type tdc_field_type_of(tdc_field id)
{
    const struct field *field = field_of(id);
    return field != NULL ? field->type : TDC_FIELD_TYPE_NONE;
}

const char *tdc_field_name(tdc_field id)
{
    const struct field *field = field_of(id);
    return field != NULL ? field->name : NULL;
}

tdc_field tdc_field_named(const char *name)
{
    for (unsigned i = 1; i < TDC_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return (tdc_field)i;
    return TDC_FIELD_NONE;
}

/* ---- one row --------------------------------------------------------------------------------- */

static const struct tdc_record *record_of(const struct tdc_table *table, const struct tdc_row *row,
                                          enum side side)
{
    return side == NPU ? tdc_row_npu(table, row) : tdc_row_bench(table, row);
}

/* NULL where nothing was computed. */
static const struct tdc_extra *extra_of(const struct tdc_table *table, size_t row)
{
    const struct tdc_extra *extra = table->extras != NULL ? &table->extras[row] : NULL;
    return extra != NULL && extra->elements != 0 ? extra : NULL;
}

static bool integer_of(const struct tdc_table *table, size_t index, const struct field *field,
                       int64_t *value)
{
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_extra *extra = extra_of(table, index);
    uint32_t record = field->side == NPU ? row->npu : row->bench;
    uint64_t count;
    *value = 0;
    switch (field->source) {
    case FROM_RECORD_NUMBER:
        *value = record == TDC_UNPAIRED ? 0 : (int64_t)record;
        return record != TDC_UNPAIRED;
    case FROM_CLASS:
        *value = row->row_class;
        return true;
    case FROM_COLOUR:
        *value = row->colour;
        return true;
    case FROM_ORIGIN:
        *value = row->origin;
        return true;
    default:
        if (extra == NULL || (field->source == FROM_POSITION && !extra->located))
            return false;
        memcpy(&count, (const char *)extra + field->which, sizeof count);
        *value = (int64_t)count;
        return true;
    }
}

static bool value_of(struct tdc_value value, double *number)
{
    if (value.form != TDC_HOLDS_NUMBER && value.form != TDC_HOLDS_PERCENT)
        return value.form == TDC_HOLDS_NAN;
    *number = value.number;
    return true;
}

static bool extra_number(const struct tdc_extra *extra, const struct field *field, double *number)
{
    if (extra == NULL || (field->source == FROM_ELEMENT && !extra->located))
        return false;
    const char *member = (const char *)extra + field->which;
    if (field->source == FROM_MEASURE) {
        memcpy(number, member, sizeof *number);
    } else {
        double imaginary;
        tdc_dtype dtype = (tdc_dtype)(field->side == NPU ? extra->n_dtype : extra->b_dtype);
        *number = tdc_element_value(dtype, member, &imaginary);
    }
    return true;
}

static bool distance_of(const struct tdc_table *table, const struct tdc_row *row, bool worst,
                        double *number)
{
    const struct tdc_record *npu = tdc_row_npu(table, row), *bench = tdc_row_bench(table, row);
    if (!table->rules->extended || row->row_class == TDC_ROW_NONE ||
        row->row_class == TDC_ROW_UNMATCHED || row->row_class == TDC_ROW_ERROR || npu == NULL ||
        bench == NULL || npu->scalar)
        return false;
    *number = worst ? row->s : row->r;
    return true;
}

static bool number_of(const struct tdc_table *table, size_t index, const struct field *field,
                      double *number)
{
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_record *record = record_of(table, row, field->side);
    *number = NAN;
    switch (field->source) {
    case FROM_TENSOR:
        return table->mode == TDC_MODE_TENSOR && value_of(row->values[field->which], number);
    case FROM_COMPARED:
        return table->mode == TDC_MODE_STATISTICS && value_of(row->values[field->which], number);
    case FROM_MEASURE:
    case FROM_ELEMENT:
        return extra_number(extra_of(table, index), field, number);
    case FROM_DISTANCE:
    case FROM_WORST:
        return distance_of(table, row, field->source == FROM_WORST, number);
    case FROM_STATISTIC:
        return record != NULL && tdc_stat_number(record, (enum tdc_statistic)field->which, number);
    default: {
        int64_t value;
        bool valid = integer_of(table, index, field, &value);
        if (valid)
            *number = (double)value;
        return valid;
    }
    }
}

bool tdc_table_number(const tdc_table *table, size_t row, tdc_field id, double *number)
{
    const struct field *field = field_of(id);
    *number = NAN;
    if (field == NULL || field->type == TDC_FIELD_TYPE_TEXT || row >= table->row_count)
        return false;
    return number_of(table, row, field, number);
}

static const char *text_of(const struct tdc_table *table, size_t index, const struct field *field)
{
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_record *record = record_of(table, row, field->side);
    const char *text = "";
    if (field->source == FROM_VERDICT)
        text = table->rules->verdict_text(row);
    else if (field->source == FROM_MESSAGE)
        text = row->message;
    else if (record != NULL)
        memcpy(&text, (const char *)record + field->which, sizeof text);
    return text != NULL ? text : "";
}

const char *tdc_table_text(const tdc_table *table, size_t row, tdc_field id)
{
    const struct field *field = field_of(id);
    if (field == NULL || field->type != TDC_FIELD_TYPE_TEXT || row >= table->row_count)
        return "";
    return text_of(table, row, field);
}

/* ---- all rows -------------------------------------------------------------------------------- */

struct tdc_fields {
    struct tdc_field_arrays of[TDC_FIELDS];
};

void tdc_fields_free(struct tdc_fields *made)
{
    for (int i = 0; made != NULL && i < TDC_FIELDS; i++) {
        struct tdc_field_arrays *arrays = &made->of[i];
        free(arrays->numbers);
        free(arrays->integers);
        free(arrays->valid);
        free(arrays->bytes);
        free(arrays->offsets);
    }
    free(made);
}

static tdc_status out_of_memory(const struct tdc_table *table, struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a field of %zu rows",
                    table->row_count);
}

/* The arrays of a field that has that type. */
static tdc_status arrays_of(struct tdc_table *table, tdc_field id, bool right_type,
                            struct tdc_field_arrays **arrays, struct tdc_error *error)
{
    if (!right_type)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "field %d has another type, or is unknown",
                        (int)id);
    if (table->fields == NULL)
        table->fields = calloc(1, sizeof *table->fields);
    if (table->fields == NULL)
        return out_of_memory(table, error);
    *arrays = &table->fields->of[id];
    return TDC_OK;
}

/* An array that does not exist yet; a table without rows has one, too. */
static bool make(void **array, size_t count, size_t size)
{
    if (*array == NULL)
        *array = calloc(count + 1, size);
    return *array != NULL;
}

#define MAKE(array, count) make((void **)&(array), count, sizeof *(array))

tdc_status tdc_table_numbers(tdc_table *table, tdc_field id, const double **values,
                             const uint8_t **valid, struct tdc_error *error)
{
    tdc_field_type type = tdc_field_type_of(id);
    struct tdc_field_arrays *arrays = NULL;
    tdc_status status = arrays_of(
        table, id, type == TDC_FIELD_TYPE_NUMBER || type == TDC_FIELD_TYPE_INTEGER, &arrays, error);
    if (status != TDC_OK)
        return status;
    bool fill = arrays->numbers == NULL;
    if (!MAKE(arrays->valid, table->row_count) || !MAKE(arrays->numbers, table->row_count))
        return out_of_memory(table, error);
    for (size_t i = 0; fill && i < table->row_count; i++)
        arrays->valid[i] = number_of(table, i, &fields[id], &arrays->numbers[i]);
    *values = arrays->numbers;
    if (valid != NULL)
        *valid = arrays->valid;
    return TDC_OK;
}

tdc_status tdc_table_integers(tdc_table *table, tdc_field id, const int64_t **values,
                              const uint8_t **valid, struct tdc_error *error)
{
    struct tdc_field_arrays *arrays = NULL;
    tdc_status status =
        arrays_of(table, id, tdc_field_type_of(id) == TDC_FIELD_TYPE_INTEGER, &arrays, error);
    if (status != TDC_OK)
        return status;
    bool fill = arrays->integers == NULL;
    if (!MAKE(arrays->valid, table->row_count) || !MAKE(arrays->integers, table->row_count))
        return out_of_memory(table, error);
    for (size_t i = 0; fill && i < table->row_count; i++)
        arrays->valid[i] = integer_of(table, i, &fields[id], &arrays->integers[i]);
    *values = arrays->integers;
    if (valid != NULL)
        *valid = arrays->valid;
    return TDC_OK;
}

/* False when out of memory. */
static bool join_texts(const struct tdc_table *table, const struct field *field,
                       struct tdc_field_arrays *arrays)
{
    if (!MAKE(arrays->offsets, table->row_count + 1))
        return false;
    for (size_t i = 0; i < table->row_count; i++)
        arrays->offsets[i + 1] = arrays->offsets[i] + strlen(text_of(table, i, field));
    char *bytes = malloc(arrays->offsets[table->row_count] + 1);
    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < table->row_count; i++)
        memcpy(bytes + arrays->offsets[i], text_of(table, i, field),
               arrays->offsets[i + 1] - arrays->offsets[i]);
    bytes[arrays->offsets[table->row_count]] = '\0';
    arrays->bytes = bytes;
    return true;
}

tdc_status tdc_table_texts(tdc_table *table, tdc_field id, const char **bytes,
                           const uint64_t **offsets, struct tdc_error *error)
{
    struct tdc_field_arrays *arrays = NULL;
    tdc_status status =
        arrays_of(table, id, tdc_field_type_of(id) == TDC_FIELD_TYPE_TEXT, &arrays, error);
    if (status != TDC_OK)
        return status;
    if (arrays->bytes == NULL && !join_texts(table, &fields[id], arrays))
        return out_of_memory(table, error);
    *bytes = arrays->bytes;
    *offsets = arrays->offsets;
    return TDC_OK;
}
