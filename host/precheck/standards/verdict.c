#include "host/precheck/standards/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/precheck/rebuild/dtype_names.h"
#include "host/precheck/standards/slot_loops.h"
#include "io/text/pytext.h"

const char *tdc_check_text(tdc_check check)
{
    static const char *const texts[TDC_CHECKS] = {[TDC_CHECK_NONE] = "",
                                                  [TDC_CHECK_PASS] = "pass",
                                                  [TDC_CHECK_WARNING] = "Warning",
                                                  [TDC_CHECK_ERROR] = "error",
                                                  [TDC_CHECK_SKIP] = "SKIP"};
    return texts[check];
}

const char *tdc_value_type(const struct tdc_reference_value *value)
{
    static const char *const texts[] = {
        [TDC_VALUE_NULL] = "None",         [TDC_VALUE_BOOL] = "bool",
        [TDC_VALUE_INT] = "int",           [TDC_VALUE_FLOAT] = "float",
        [TDC_VALUE_TEXT] = "str",          [TDC_VALUE_DTYPE] = "dtype",
        [TDC_VALUE_LIST] = "tuple",        [TDC_VALUE_SLICE] = "slice",
        [TDC_VALUE_ELLIPSIS] = "ellipsis", [TDC_VALUE_TENSOR] = "",
        [TDC_VALUE_UNKNOWN] = "object",
    };
    if (value->kind != TDC_VALUE_TENSOR)
        return texts[value->kind];
    tdc_dtype dtype = value->tensor->dtype;
    if (value->tensor->complex)
        dtype = dtype == TDC_F32 ? TDC_C64 : TDC_C128;
    return tdc_shown_dtype(dtype);
}

void tdc_shape_text(const struct tdc_reference_tensor *tensor, char text[TDC_SHAPE_TEXT])
{
    size_t used = 1;
    unsigned rank = tensor->rank - tensor->complex;
    strcpy(text, "(");
    for (unsigned d = 0; d < rank; d++)
        used += (size_t)snprintf(text + used, TDC_SHAPE_TEXT - used, "%s%lld", d != 0 ? ", " : "",
                                 (long long)tensor->shape[d]);
    snprintf(text + used, TDC_SHAPE_TEXT - used, rank == 1 ? ",)" : ")");
}

const double *tdc_rounded_copy(struct tdc_arena *arena, const double *values, uint64_t count,
                               tdc_dtype dtype)
{
    double *copy = tdc_arena_take(arena, count * sizeof *copy);
    if (copy == NULL || (dtype == TDC_BF16 && tdc_slot_to_brains(values, count, copy)))
        return copy;
    for (uint64_t i = 0; i < count; i++)
        copy[i] = tdc_reference_cast(values[i], dtype);
    return copy;
}

const double *tdc_as_doubles(struct tdc_arena *arena, const struct tdc_reference_tensor *tensor)
{
    if (tdc_dtype_is_floating(tensor->dtype))
        return tensor->real;
    double *values = tdc_arena_zeroed(arena, (size_t)tensor->count, sizeof *values);
    for (int64_t i = 0; values != NULL && i < tensor->count; i++)
        values[i] = tensor->dtype == TDC_U64 ? (double)(uint64_t)tensor->whole[i]
                                             : (double)tensor->whole[i];
    return values;
}

bool tdc_rounds_bench(tdc_bench_round rounding, const struct tdc_reference_tensor *bench,
                      const struct tdc_reference_tensor *tested)
{
    if (rounding == TDC_ROUND_NEVER || bench->dtype != TDC_F64 ||
        !tdc_dtype_is_floating(tested->dtype))
        return false;
    return rounding == TDC_ROUND_TESTED || tested->dtype == TDC_F16 || tested->dtype == TDC_BF16;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Two tensors of the same shape on their way to the metrics. */
struct pair {
    const double *bench, *tested;
    uint64_t count;
    tdc_dtype dtype; /* of the tested side */
    bool floating;   /* both sides */
    bool apart;      /* NaN or infinity on one side only */
};

/* Leaves out what is the same NaN or infinity on both sides once the reference is rounded, and
 * notes any other element that is not finite. */
static bool drop_nonfinite(struct tdc_arena *arena, struct pair *pair)
{
    uint64_t first = 0;
    if (tdc_slot_finite(pair->bench, pair->tested, pair->count, tdc_dtype_largest(pair->dtype)))
        return true;
    while (first < pair->count && isfinite(pair->tested[first]) &&
           isfinite(tdc_reference_cast(pair->bench[first], pair->dtype)))
        first++;
    if (first == pair->count)
        return true;
    double *bench = tdc_arena_zeroed(arena, pair->count, sizeof *bench);
    double *tested = tdc_arena_zeroed(arena, pair->count, sizeof *tested);
    if (bench == NULL || tested == NULL)
        return false;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < pair->count; i++) {
        double b = tdc_reference_cast(pair->bench[i], pair->dtype), t = pair->tested[i];
        if (isfinite(b) && isfinite(t)) {
            bench[kept] = pair->bench[i];
            tested[kept++] = t;
        } else if (!(isnan(b) && isnan(t)) && b != t) {
            pair->apart = true;
        }
    }
    pair->bench = bench;
    pair->tested = tested;
    pair->count = kept;
    return true;
}

static void say_thresholds(const struct tdc_precheck_options *options, struct tdc_slot_row *row,
                           bool cosine, bool max_abs, bool apart)
{
    char cosine_text[TDC_FLOAT_TEXT], abs_text[TDC_FLOAT_TEXT];
    tdc_float_repr(options->cosine, cosine_text);
    tdc_float_repr(options->max_abs_err, abs_text);
    snprintf(row->message, sizeof row->message, "%s%s%s%s%s%s%s",
             cosine ? "" : "cosine similarity is less than threshold: ", cosine ? "" : cosine_text,
             cosine ? "" : " ",
             max_abs ? "" : "max absolute difference is greater than threshold: ",
             max_abs ? "" : abs_text, max_abs ? "" : " ", apart ? "nan/inf positions differ " : "");
}

bool tdc_judges_by_bound(const struct tdc_precheck_options *options)
{
    return options->profile == TDC_PROFILE_EXTENDED &&
           (options->flags & TDC_PRECHECK_THRESHOLDS) == 0 &&
           options->standard != TDC_STANDARD_PYTORCH;
}

static void say_bound(const struct tdc_reference_tensor *bench, struct tdc_slot_row *row)
{
    const struct tdc_bound_check *bound = &row->bound;
    char index[TDC_SHAPE_TEXT];
    struct tdc_reference_tensor place = *bench;
    int64_t at = bound->worst;
    for (unsigned d = bench->rank; d-- > 0;) {
        place.shape[d] = at % bench->shape[d];
        at /= bench->shape[d];
    }
    tdc_shape_text(&place, index);
    if (bound->bound == 0)
        snprintf(row->message, sizeof row->message,
                 "%llu of %lld elements are not the reference rounded, worst at %s: off by %.3g ",
                 (unsigned long long)bound->beyond, (long long)bench->count, index, bound->error);
    else
        snprintf(row->message, sizeof row->message,
                 "%llu of %lld elements are beyond what rounding explains, worst at %s: off by "
                 "%.3g, bound %.3g ",
                 (unsigned long long)bound->beyond, (long long)bench->count, index, bound->error,
                 bound->bound);
}

/* The verdict by bounds stands in for that of the thresholds; the metrics stay. */
static void judge_bound(const struct tdc_reference_tensor *bench,
                        const struct tdc_reference_tensor *tested, struct tdc_slot_row *row)
{
    bool apart = row->status == TDC_CHECK_ERROR && strstr(row->message, "nan/inf") != NULL;
    row->bounded = true;
    row->bound = tdc_check_bound(bench, tested);
    row->status = row->bound.beyond == 0 ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    row->message[0] = '\0';
    if (row->bound.beyond == 0)
        return;
    say_bound(bench, row);
    size_t length = strlen(row->message);
    if (apart)
        snprintf(row->message + length, sizeof row->message - length, "nan/inf positions differ ");
}

static bool judge_pair(const struct tdc_precheck_options *options, struct tdc_arena *arena,
                       struct pair *pair, struct tdc_slot_row *row, struct tdc_reason *reason)
{
    bool extended = options->profile == TDC_PROFILE_EXTENDED;
    if (extended && pair->floating && !drop_nonfinite(arena, pair))
        return tdc_give_reason(reason, "out of memory");
    if (pair->count == 0) {
        row->status = pair->apart ? TDC_CHECK_ERROR : TDC_CHECK_PASS;
        if (pair->apart)
            snprintf(row->message, sizeof row->message, "nan/inf positions differ ");
        return true;
    }
    tdc_measure_slot(pair->bench, pair->tested, pair->count,
                     extended && pair->floating ? pair->dtype : TDC_DTYPE_NONE, extended,
                     &row->metrics);
    row->measured = true;
    row->floating = pair->floating;
    bool cosine = row->metrics.cosine > options->cosine;
    bool max_abs = row->metrics.max_abs < options->max_abs_err;
    row->status = cosine && max_abs && !pair->apart ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    if (row->status == TDC_CHECK_ERROR)
        say_thresholds(options, row, cosine, max_abs, pair->apart);
    return true;
}

static bool judge_tensors(const struct tdc_precheck_options *options, struct tdc_arena *arena,
                          const struct tdc_reference_tensor *bench,
                          const struct tdc_reference_tensor *tested, struct tdc_slot_row *row,
                          struct tdc_reason *reason)
{
    bool floating = tdc_dtype_is_floating(bench->dtype) && tdc_dtype_is_floating(tested->dtype);
    struct pair pair = {.bench = tdc_as_doubles(arena, bench),
                        .tested = tdc_as_doubles(arena, tested),
                        .count = (uint64_t)bench->count,
                        .dtype = tested->dtype,
                        .floating = floating};
    if (pair.count == 0 && options->profile == TDC_PROFILE_COMPAT)
        return tdc_give_reason(
            reason, "zero-size array to reduction operation maximum which has no identity");
    if (pair.count != 0 && tdc_rounds_bench(options->bench_round, bench, tested))
        pair.bench = tdc_rounded_copy(arena, pair.bench, pair.count, tested->dtype);
    if (pair.count != 0 && (pair.bench == NULL || pair.tested == NULL))
        return tdc_give_reason(reason, "the call needs more memory than a call may take");
    if (!judge_pair(options, arena, &pair, row, reason))
        return false;
    if (floating && tdc_judges_by_bound(options))
        judge_bound(bench, tested, row);
    return true;
}

/* ---- everything else ------------------------------------------------------------------------- */

static bool same_value(const struct tdc_reference_value *a, const struct tdc_reference_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TDC_VALUE_BOOL:
    case TDC_VALUE_INT:
        return a->whole == b->whole;
    case TDC_VALUE_FLOAT:
        return a->real == b->real || (isnan(a->real) && isnan(b->real));
    case TDC_VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case TDC_VALUE_LIST:
        if (a->list.count != b->list.count)
            return false;
        for (size_t i = 0; i < a->list.count; i++)
            /* lists of lists are rare and short: compared at their first level only */
            if (a->list.values[i].kind == TDC_VALUE_LIST
                    ? b->list.values[i].kind != TDC_VALUE_LIST
                    : !same_value(&a->list.values[i], &b->list.values[i]))
                return false;
        return true;
    default:
        return a->kind != TDC_VALUE_TENSOR;
    }
}

bool tdc_judge_slot(const struct tdc_precheck_options *options, struct tdc_arena *arena,
                    const struct tdc_slot *slot, struct tdc_slot_row *row,
                    struct tdc_reason *reason)
{
    const struct tdc_reference_value *bench = &slot->reference, *tested = &slot->tested;
    bool extended = options->profile == TDC_PROFILE_EXTENDED;
    *row = (struct tdc_slot_row){.number = slot->number,
                                 .bench_dtype = tdc_value_type(bench),
                                 .tested_dtype = tdc_value_type(tested),
                                 .shape = "()"};
    bool tensors = bench->kind == TDC_VALUE_TENSOR && tested->kind == TDC_VALUE_TENSOR;
    if (bench->kind == TDC_VALUE_TENSOR)
        tdc_shape_text(bench->tensor, row->shape);
    if (tensors && tdc_rounds_bench(options->bench_round, bench->tensor, tested->tensor))
        row->bench_dtype = row->tested_dtype;
    if (tensors && tdc_same_shape(bench->tensor, tested->tensor))
        return judge_tensors(options, arena, bench->tensor, tested->tensor, row, reason);
    if (!tensors && !extended && bench->kind == TDC_VALUE_LIST)
        return tdc_give_reason(reason, "a nested list is no result that can be compared");
    if (!tensors && extended) {
        row->status = same_value(bench, tested) ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
        if (row->status == TDC_CHECK_ERROR)
            snprintf(row->message, sizeof row->message, "non-tensor outputs differ ");
        return true;
    }
    row->status = TDC_CHECK_ERROR;
    snprintf(row->message, sizeof row->message,
             "two inputs are not valid for computing cosine similarity, skip comparing "
             "two inputs are not valid for computing max absolute difference, skip comparing ");
    return true;
}
