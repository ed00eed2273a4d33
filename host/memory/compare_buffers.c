/*
 * compare_buffers.c - two tensors in memory as a table of one row.
 *
 * The engine takes them as it takes opened files, the rules judge them as they judge a row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/api/options.h"
#include "host/dump/dump.h"
#include "host/engine/engine.h"
#include "host/judge/rules.h"
#include "host/memory/buffer.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "kernels/dtype.h"

#define MESSAGE_LIMIT ((size_t)1 << 20)
#define SHAPE_LIMIT   ((size_t)1 << 16)

/* ---- a row of it ----------------------------------------------------------------------------- */

/* A statistic of a record, which has none when nothing was computed. */
static void set_statistic(struct tdc_record *record, enum tdc_statistic which, double number)
{
    bool known = isfinite(number);
    record->stat_kinds[which] = known ? TDC_STAT_FLOAT : TDC_STAT_TEXT;
    if (known)
        record->stats[which].number = number;
    else
        record->stats[which].text = "None";
}

/* The record a dump would have of the tensor. */
static struct tdc_record record_of(const struct tdc_tensor *tensor, const char *shape, double min,
                                   double max)
{
    struct tdc_record record = {
        .name = "buffer",
        .dtype = tdc_dtype_name(tensor->dtype),
        .shape = shape,
        .requires_grad = "N/A",
        .data_name = "buffer.npy",
        .digest = "N/A",
        .state = TDC_STATE_DEBUG,
        .first_of_entry = true,
    };
    set_statistic(&record, TDC_MAX, max);
    set_statistic(&record, TDC_MIN, min);
    set_statistic(&record, TDC_MEAN, (double)NAN);
    set_statistic(&record, TDC_NORM, (double)NAN);
    return record;
}

static void add_shape(struct tdc_text *text, const struct tdc_tensor *tensor)
{
    tdc_text_addc(text, '[');
    for (unsigned i = 0; i < tensor->dimensions; i++)
        tdc_text_addf(text, "%s%llu", i != 0 ? ", " : "", (unsigned long long)tensor->shape[i]);
    tdc_text_addc(text, ']');
}

static double value_or_nan(struct tdc_value value)
{
    return value.form == TDC_HOLDS_NUMBER ? value.number : (double)NAN;
}

static double element_or_nan(bool located, tdc_dtype dtype, const struct tdc_element *element)
{
    double imaginary;
    return located ? tdc_element_value(dtype, element->bytes, &imaginary) : (double)NAN;
}

static void fill_values(const struct tdc_row *row, const struct tdc_extra *extra, bool extended,
                        struct tdc_difference *out)
{
    out->cosine = value_or_nan(row->values[TDC_COSINE]);
    out->euclidean = value_or_nan(row->values[TDC_EUC_DIST]);
    out->max_abs = value_or_nan(row->values[TDC_MAX_ABS]);
    out->max_rel = value_or_nan(row->values[TDC_MAX_REL]);
    out->below_thousandth = value_or_nan(row->values[TDC_ONE_THOUSANDTH]);
    out->below_five_thousandths = value_or_nan(row->values[TDC_FIVE_THOUSANDTHS]);
    extended &= out->computed;
    out->below_hundredth = extended ? extra->below[0] : (double)NAN;
    out->below_tenth = extended ? extra->below[1] : (double)NAN;
    out->distance = extended ? row->r : (double)NAN;
    out->worst = extended ? row->s : (double)NAN;
    out->row_class = (tdc_row_class)row->row_class;
}

static void fill_measures(const struct tdc_outcome *outcome, struct tdc_difference *out)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    bool some = out->computed && sums->finite != 0;
    out->located = some;
    out->elements = outcome->count;
    out->mean_abs = some ? outcome->norms.mean_abs : (double)NAN;
    out->rmse = some ? outcome->norms.d_rms : (double)NAN;
    out->n_min = some ? sums->n_min : (double)NAN;
    out->n_max = some ? sums->n_max : (double)NAN;
    out->b_min = some ? sums->b_min : (double)NAN;
    out->b_max = some ? sums->b_max : (double)NAN;
    out->max_abs_n = element_or_nan(some, outcome->n_dtype, &outcome->abs_n);
    out->max_abs_b = element_or_nan(some, outcome->b_dtype, &outcome->abs_b);
    out->max_rel_n = element_or_nan(some, outcome->n_dtype, &outcome->rel_n);
    out->max_rel_b = element_or_nan(some, outcome->b_dtype, &outcome->rel_b);
    if (!out->computed)
        return;
    out->finite = sums->finite;
    out->n_nan = sums->n_nan;
    out->n_inf = sums->n_inf;
    out->b_nan = sums->b_nan;
    out->b_inf = sums->b_inf;
    out->max_abs_at = some ? sums->abs_at : 0;
    out->max_rel_at = some ? sums->rel_at : 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool tdc_memory_judge(const struct tdc_memory_pair *buffers, struct tdc_difference *out)
{
    const struct tdc_outcome *outcome = &buffers->outcome;
    bool computed = out->computed = outcome->code == TDC_OUTCOME_COMPARED;
    const struct tdc_pair_sums *sums = &outcome->sums;
    struct tdc_text n_shape, b_shape, message;
    tdc_text_init(&n_shape, SHAPE_LIMIT);
    tdc_text_init(&b_shape, SHAPE_LIMIT);
    tdc_text_init(&message, MESSAGE_LIMIT);
    add_shape(&n_shape, &buffers->n);
    add_shape(&b_shape, &buffers->b);
    struct tdc_record n =
        record_of(&buffers->n, tdc_text_get(&n_shape), computed ? sums->n_min : (double)NAN,
                  computed ? sums->n_max : (double)NAN);
    struct tdc_record b =
        record_of(&buffers->b, tdc_text_get(&b_shape), computed ? sums->b_min : (double)NAN,
                  computed ? sums->b_max : (double)NAN);
    if (buffers->record != NULL)
        b = *buffers->record;
    struct tdc_match match = {.mode = TDC_MODE_TENSOR};
    struct tdc_case row_case = {
        .match = &match, .npu = &n, .bench = &b, .n_file = "buffer.npy", .b_file = "buffer.npy"};
    enum tdc_precision first = tdc_precision_of(n.dtype), second = tdc_precision_of(b.dtype);
    row_case.scene.precision = first > second ? first : second;
    struct tdc_row row = {.message = ""};
    struct tdc_extra extra = {0};
    buffers->rules->judge_tensor(&row_case, outcome, &row, buffers->rules->extended ? &extra : NULL,
                                 &message);
    fill_values(&row, &extra, buffers->rules->extended, out);
    fill_measures(outcome, out);
    snprintf(out->message, sizeof out->message, "%s", tdc_text_get(&message));
    bool complete = !n_shape.failed && !b_shape.failed && !message.failed;
    tdc_text_free(&n_shape);
    tdc_text_free(&b_shape);
    tdc_text_free(&message);
    return complete;
}

/* The reference is b, or the tensor of the job, which the record is of. */
static tdc_status compare(const struct tdc_buffer *n, const struct tdc_buffer *b,
                          const struct tdc_record *record, struct tdc_job *job,
                          const struct tdc_options *options, struct tdc_difference *whole,
                          struct tdc_error *error)
{
    struct tdc_options read;
    struct tdc_memory_pair buffers = {.record = record};
    tdc_status status = tdc_options_read(options, &read, error);
    if (status == TDC_OK)
        status = tdc_buffer_take(n, "n", &buffers.n, error);
    if (status == TDC_OK && b != NULL)
        status = tdc_buffer_take(b, "b", &buffers.b, error);
    if (status != TDC_OK)
        return status;
    if (b != NULL)
        job->b_tensor = &buffers.b;
    buffers.rules = tdc_rules_of(read.rules);
    job->n_file = "n";
    job->n_tensor = &buffers.n;
    status = tdc_memory_reduce(job, buffers.rules->relative, &read, &buffers.outcome, error);
    if (status != TDC_OK)
        return status;
    return tdc_memory_judge(&buffers, whole) ? TDC_OK
                                             : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

tdc_status tdc_compare_buffers(const struct tdc_buffer *n, const struct tdc_buffer *b,
                               const struct tdc_options *options, struct tdc_difference *difference,
                               size_t size, struct tdc_error *error)
{
    struct tdc_difference whole = {0};
    struct tdc_job job = {.b_file = "b"};
    tdc_sized_give(difference, size, &whole, sizeof whole);
    tdc_status status = compare(n, b, NULL, &job, options, &whole, error);
    if (status == TDC_OK)
        tdc_sized_give(difference, size, &whole, sizeof whole);
    return status;
}

tdc_status tdc_compare_record(const struct tdc_buffer *n, const tdc_dump *dump, size_t record,
                              const struct tdc_options *options, struct tdc_difference *difference,
                              size_t size, struct tdc_error *error)
{
    struct tdc_difference whole = {0};
    tdc_sized_give(difference, size, &whole, sizeof whole);
    if (record >= dump->record_count)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the dump has no such record");
    const struct tdc_record *ref = &dump->records[record];
    if (ref->scalar || ref->refusal != NULL ||
        (ref->tensor == NULL && (!tdc_record_has_file(ref) || dump->data_folder == NULL)))
        return tdc_fail(error, TDC_ERR_NOTHING, "%s: the dump has no data of it", ref->name);
    struct tdc_job job = {
        .b_folder = dump->data_folder, .b_file = ref->data_name, .b_tensor = ref->tensor};
    tdc_status status = compare(n, NULL, ref, &job, options, &whole, error);
    if (status == TDC_OK)
        tdc_sized_give(difference, size, &whole, sizeof whole);
    return status;
}
