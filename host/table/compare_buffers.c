/*
 * compare_buffers.c - two tensors in memory as a table of one row.
 *
 * The engine takes them as it takes opened files, the rules judge them as they judge a row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/api/options.h"
#include "host/engine/engine.h"
#include "host/judge/rules.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/tensor/tensor_layout.h"
#include "kernels/dtype.h"

#define MESSAGE_LIMIT ((size_t)1 << 20)
#define SHAPE_LIMIT   ((size_t)1 << 16)

/* Tensors of less are not worth a second thread. */
#define WORTH_THREADS ((uint64_t)4 << 20)

/* ---- what the caller gives ------------------------------------------------------------------- */

void tdc_buffer_init(struct tdc_buffer *buffer, size_t size, const void *data, tdc_dtype dtype,
                     unsigned dimensions, const int64_t *shape, const int64_t *strides)
{
    struct tdc_buffer made = {.size = size,
                              .dtype = dtype,
                              .dimensions = dimensions,
                              .data = data,
                              .shape = shape,
                              .strides = strides};
    tdc_sized_init(buffer, size, &made, sizeof made);
}

/* Whether no index leaves what an address can say, whichever the sign of the strides. */
static bool reachable(const struct tdc_tensor *tensor)
{
    int64_t size = (int64_t)tdc_dtype_size(tensor->dtype), lowest = 0, highest = 0;
    for (unsigned i = 0; i < tensor->dimensions && tensor->count != 0; i++) {
        int64_t reach;
        if (__builtin_mul_overflow((int64_t)tensor->shape[i] - 1, tensor->strides[i], &reach) ||
            __builtin_mul_overflow(reach, size, &reach) ||
            __builtin_add_overflow(reach < 0 ? lowest : highest, reach,
                                   reach < 0 ? &lowest : &highest))
            return false;
    }
    return true;
}

static bool take_layout(const struct tdc_buffer *buffer, struct tdc_tensor *tensor)
{
    for (unsigned i = 0; i < buffer->dimensions; i++) {
        if (buffer->shape[i] < 0)
            return false;
        tensor->shape[i] = (uint64_t)buffer->shape[i];
    }
    if (!tdc_layout_count(tensor))
        return false;
    tdc_layout_contiguous(tensor, false);
    if (buffer->strides != NULL)
        memcpy(tensor->strides, buffer->strides, buffer->dimensions * sizeof *buffer->strides);
    tdc_layout_dense(tensor);
    return reachable(tensor);
}

static tdc_status take_buffer(const struct tdc_buffer *given, const char *side,
                              struct tdc_tensor *tensor, struct tdc_error *error)
{
    struct tdc_buffer buffer = {0};
    tdc_status status = tdc_sized_read(given, offsetof(struct tdc_buffer, strides), &buffer,
                                       sizeof buffer, "tdc_buffer_init", error);
    if (status != TDC_OK)
        return status;
    if (buffer.dimensions > TDC_MAX_DIMENSIONS || tdc_dtype_size(buffer.dtype) == 0 ||
        (buffer.dimensions != 0 && buffer.shape == NULL))
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "%s: no tensor of numbers (dtype %d, %u dimensions)", side,
                        (int)buffer.dtype, buffer.dimensions);
    *tensor = (struct tdc_tensor){
        .dtype = buffer.dtype,
        .dimensions = buffer.dimensions,
        .data = buffer.data,
        .map_size = SIZE_MAX, /* the caller knows how much memory it has */
        .descriptor = -1,
    };
    if (!take_layout(&buffer, tensor))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: a shape or strides that cannot be", side);
    if (tensor->count != 0 && tensor->data == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: no data", side);
    return TDC_OK;
}

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

struct buffers {
    struct tdc_tensor n, b;
    const struct tdc_rules *rules;
    struct tdc_outcome outcome;
};

static void keep_outcome(void *context, const struct tdc_job *job,
                         const struct tdc_outcome *outcome)
{
    (void)job;
    struct buffers *buffers = context;
    buffers->outcome = *outcome;
}

static tdc_status reduce(struct buffers *buffers, const struct tdc_options *options,
                         struct tdc_error *error)
{
    const struct tdc_tensor *n = &buffers->n, *b = &buffers->b;
    uint64_t bytes;
    bool small = !__builtin_mul_overflow(n->count, tdc_dtype_size(n->dtype), &bytes) &&
                 bytes <= WORTH_THREADS;
    struct tdc_options silent = *options;
    silent.progress = NULL;
    struct tdc_job job = {.n_file = "n", .b_file = "b", .n_tensor = n, .b_tensor = b};
    struct tdc_engine engine = {
        .rule = buffers->rules->relative,
        .threads = small ? 1 : options->threads,
        .backend = &tdc_backend_cpu,
        .extremes = true,
        .options = &silent,
        .done = keep_outcome,
        .context = buffers,
    };
    tdc_status status = tdc_engine_run(&engine, &job, 1, error);
    const struct tdc_error *failure = &buffers->outcome.error;
    if (status == TDC_OK && buffers->outcome.code == TDC_OUTCOME_UNREADABLE)
        status = tdc_fail(error, failure->status, "%s", failure->message);
    return status;
}

/* False when out of memory. */
static bool judge(const struct buffers *buffers, struct tdc_difference *out)
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

tdc_status tdc_compare_buffers(const struct tdc_buffer *n, const struct tdc_buffer *b,
                               const struct tdc_options *options, struct tdc_difference *difference,
                               size_t size, struct tdc_error *error)
{
    struct tdc_difference whole = {0};
    struct tdc_options read;
    struct buffers buffers = {0};
    tdc_sized_give(difference, size, &whole, sizeof whole);
    tdc_status status = tdc_options_read(options, &read, error);
    if (status == TDC_OK)
        status = take_buffer(n, "n", &buffers.n, error);
    if (status == TDC_OK)
        status = take_buffer(b, "b", &buffers.b, error);
    if (status != TDC_OK)
        return status;
    buffers.rules = tdc_rules_of(read.rules);
    status = reduce(&buffers, &read, error);
    if (status == TDC_OK && !judge(&buffers, &whole))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK)
        tdc_sized_give(difference, size, &whole, sizeof whole);
    return status;
}
