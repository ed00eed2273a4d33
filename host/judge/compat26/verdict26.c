/*
 * verdict26.c - Result and Err_message of msprobe 26: checks of a row, and of the outputs of a call
 * against its inputs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/judge/compat26/compat26.h"

static const struct finding {
    bool warning; /* else an error */
    const char *text;
} findings[TDC_FAULTS] = {
    [TDC_FAULT_NONFINITE] =
        {false, "error: There is nan/inf/-inf in the maximum or minimum value of NPU."},
    [TDC_FAULT_NORM_ERROR] = {false, "error: The NormRelativeErr of output is greater than 0.5."},
    [TDC_FAULT_RATIO_ERROR] = {false, "error: The input/parameters of One Thousandth Err Ratio > "
                                      "0.9 while the output < 0.6."},
    [TDC_FAULT_REQUIRES_GRAD] = {false,
                                 "error: The Required_Grad of NPU and Bench are inconsistent"},
    [TDC_FAULT_SCALAR] = {false, "error: The scalar parameters of NPU and Bench are inconsistent."},
    [TDC_FAULT_DTYPE] = {false, "error: The dtype of NPU and Bench are inconsistent."},
    [TDC_FAULT_SHAPE] = {false, "error: The shape of NPU and Bench are inconsistent."},
    [TDC_FAULT_NORM_WARNING] =
        {true, "warning: The norm relative error of output is 10 times that of input."},
    [TDC_FAULT_COSINE_WARNING] = {true, "warning: The input/parameters of Cosine > 0.9, and "
                                        "input/parameters - output > 0.1"},
    [TDC_FAULT_DIGEST] = {false, "error: The CRC-32 value of NPU differs from that of the bench."},
    [TDC_FAULT_NO_DIGEST] = {true, "warning: The parameter of NPU does not match the bench."},
};

const char *tdc_compat26_finding_text(unsigned bit)
{
    return bit < TDC_FAULTS ? findings[bit].text : NULL;
}

/* A row with what the checks look at. */
struct seen_row {
    struct tdc_row *row;
    const struct tdc_record *npu, *bench;
    bool output;
};

static struct seen_row see(const struct tdc_rows *rows, size_t index)
{
    struct tdc_row *row = &rows->rows[index];
    struct seen_row seen = {row, tdc_npu_record(rows->match, row),
                            tdc_bench_record(rows->match, row), false};
    /* a module that is called `output` makes outputs of all its rows */
    seen.output = seen.npu != NULL && strstr(seen.npu->name, ".output.") != NULL;
    return seen;
}

static void find(const struct seen_row *seen, enum tdc_fault finding)
{
    seen->row->findings |= (uint16_t)(1u << finding);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_nonfinite(const struct tdc_record *record, enum tdc_statistic which)
{
    static const char blanks[] = " \t\n\r\v\f";
    static const char *const words[] = {"-inf", "inf", "nan"};
    if (record == NULL)
        return false;
    if (record->stat_kinds[which] == TDC_STAT_FLOAT)
        return !isfinite(record->stats[which].number);
    if (record->stat_kinds[which] != TDC_STAT_TEXT)
        return false;
    const char *text = record->stats[which].text + strspn(record->stats[which].text, blanks);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *rest = text + strlen(words[i]);
        if (strncasecmp(text, words[i], strlen(words[i])) == 0 &&
            rest[strspn(rest, blanks)] == '\0')
            return true;
    }
    return false;
}

static void check_nonfinite(const struct seen_row *seen)
{
    if (is_nonfinite(seen->bench, TDC_MAX) || is_nonfinite(seen->bench, TDC_MIN))
        return;
    if (is_nonfinite(seen->npu, TDC_MAX) || is_nonfinite(seen->npu, TDC_MIN))
        find(seen, TDC_FAULT_NONFINITE);
}

static const char *dtype_of(const struct tdc_record *record)
{
    return record->no_dtype ? "N/A" : record->dtype;
}

static const char *shape_of(const struct tdc_record *record)
{
    return record->no_shape ? "N/A" : record->shape;
}

/* A number, or a truth value, which Python takes for one. */
static bool counts_as_number(const struct tdc_record *record, double *number)
{
    uint8_t kind = record->stat_kinds[TDC_MAX];
    *number = kind == TDC_STAT_TRUE;
    return kind == TDC_STAT_TRUE || kind == TDC_STAT_FALSE ||
           tdc_stat_number(record, TDC_MAX, number);
}

/* Python's equality of two values: 3 is 3.0. */
static bool same_value(const struct tdc_record *npu, const struct tdc_record *bench)
{
    uint8_t n_kind = npu->stat_kinds[TDC_MAX], b_kind = bench->stat_kinds[TDC_MAX];
    if (n_kind == b_kind && (n_kind == TDC_STAT_TEXT || n_kind == TDC_STAT_BIG_INTEGER))
        return strcmp(npu->stats[TDC_MAX].text, bench->stats[TDC_MAX].text) == 0;
    double x, y;
    return counts_as_number(npu, &x) && counts_as_number(bench, &y) && x == y;
}

static void check_scalar(const struct seen_row *seen)
{
    if (seen->npu == NULL || seen->bench == NULL || seen->output)
        return;
    if (strstr(dtype_of(seen->npu), "class") != NULL &&
        strstr(dtype_of(seen->bench), "class") != NULL && strcmp(shape_of(seen->npu), "[]") == 0 &&
        !same_value(seen->npu, seen->bench))
        find(seen, TDC_FAULT_SCALAR);
}

/* Modules that were joined into one may differ in type. */
static bool is_joined_module(const char *bench)
{
    return strstr(bench, "qkv") != NULL || strstr(bench, "gate_up") != NULL;
}

/* The shape without its axes of length 1; of Megatron's training side the last two of three axes
 * are one where the other side does not have three. */
static void squeeze_shape(const char *shape, long sizes[TDC_MAX_DIMENSIONS], size_t *count)
{
    *count = 0;
    for (const char *at = shape; *at != '\0' && *count < TDC_MAX_DIMENSIONS;) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *end;
        long size = strtol(at, &end, 10);
        at = end;
        if (size != 1)
            sizes[(*count)++] = size;
    }
}

static void check_joined_shape(tdc_consistent backend, const struct seen_row *seen)
{
    long ours[TDC_MAX_DIMENSIONS], theirs[TDC_MAX_DIMENSIONS];
    size_t n, b;
    if (backend == TDC_CONSISTENT_FSDP && is_joined_module(seen->bench->name))
        return;
    squeeze_shape(shape_of(seen->npu), ours, &n);
    squeeze_shape(shape_of(seen->bench), theirs, &b);
    if (backend == TDC_CONSISTENT_MEGATRON && n == 3 && b != 3) {
        ours[1] *= ours[2];
        n = 2;
    }
    bool same = n == b;
    for (size_t i = 0; i < n && same; i++)
        same = ours[i] == theirs[i];
    if (!same)
        find(seen, TDC_FAULT_SHAPE);
}

/* Tensors of training and inference: shapes without axes of length 1, no requires_grad. */
static void check_joined(tdc_consistent backend, const struct seen_row *seen)
{
    if (seen->npu == NULL || seen->bench == NULL)
        return;
    if (!is_joined_module(seen->bench->name) &&
        strcmp(dtype_of(seen->npu), dtype_of(seen->bench)) != 0)
        find(seen, TDC_FAULT_DTYPE);
    check_joined_shape(backend, seen);
}

static void check_texts(const struct seen_row *seen)
{
    if (seen->bench == NULL)
        return;
    if (seen->npu == NULL) { /* of joined tables alone */
        if (strcmp(seen->bench->requires_grad, "N/A") != 0)
            find(seen, TDC_FAULT_REQUIRES_GRAD);
        if (strcmp(shape_of(seen->bench), "N/A") != 0)
            find(seen, TDC_FAULT_SHAPE);
        return;
    }
    if (strcmp(seen->npu->requires_grad, seen->bench->requires_grad) != 0)
        find(seen, TDC_FAULT_REQUIRES_GRAD);
    if (!is_joined_module(seen->bench->name) &&
        strcmp(dtype_of(seen->npu), dtype_of(seen->bench)) != 0)
        find(seen, TDC_FAULT_DTYPE);
    if (strcmp(shape_of(seen->npu), shape_of(seen->bench)) != 0)
        find(seen, TDC_FAULT_SHAPE);
}

static bool is_no_digest(const char *digest)
{
    return digest[0] == '\0' || strcmp(digest, "N/A") == 0 || strcmp(digest, "Nan") == 0;
}

static void check_digest(const struct seen_row *seen)
{
    const char *npu = seen->npu != NULL ? seen->npu->digest : "N/A";
    const char *bench = seen->bench != NULL ? seen->bench->digest : "N/A";
    if (strcmp(npu, bench) != 0)
        find(seen,
             is_no_digest(npu) || is_no_digest(bench) ? TDC_FAULT_NO_DIGEST : TDC_FAULT_DIGEST);
}

static void check_row(const struct tdc_rows *rows, const struct seen_row *seen)
{
    if (rows->mode == TDC_MODE_DIGEST) {
        check_digest(seen);
        return;
    }
    check_nonfinite(seen);
    if (rows->mode == TDC_MODE_TENSOR && rows->match->consistent != TDC_CONSISTENT_NONE)
        check_joined(rows->match->consistent, seen);
    else
        check_texts(seen);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The extremes of the metrics of a call's inputs, or of its outputs. An empty side is perfect. */
struct side {
    double cosine, ratio; /* smallest */
    double norm;          /* largest relative error of Norm */
    bool any;
    size_t first;
};

static void lower(double *smallest, struct tdc_value value)
{
    if (value.form == TDC_HOLDS_NUMBER && value.number < *smallest)
        *smallest = value.number;
}

static void enter(struct side *side, tdc_mode mode, const struct tdc_row *row, size_t index)
{
    if (!side->any)
        side->first = index;
    side->any = true;
    if (mode == TDC_MODE_TENSOR) {
        lower(&side->cosine, row->values[TDC_COSINE]);
        lower(&side->ratio, row->values[TDC_ONE_THOUSANDTH]);
    } else {
        struct tdc_value norm = row->values[TDC_RELATIVE + TDC_NORM];
        if (norm.form == TDC_HOLDS_PERCENT && norm.number / 100 > side->norm)
            side->norm = norm.number / 100;
    }
}

/* Of an output; the words for infinity count as well. */
static bool is_far_off(struct tdc_value norm)
{
    return norm.form == TDC_HOLDS_INF || norm.form == TDC_HOLDS_NEG_INF ||
           (norm.form == TDC_HOLDS_PERCENT && norm.number / 100 > 0.5);
}

static void check_outputs(const struct tdc_rows *rows, size_t start, size_t end,
                          const struct side *inputs, const struct side *outputs)
{
    if (!outputs->any)
        return;
    struct seen_row first = see(rows, outputs->first);
    if (rows->mode == TDC_MODE_TENSOR) {
        /* the text says 0.6 */
        if (inputs->ratio > 0.9 && outputs->ratio < 0.1)
            find(&first, TDC_FAULT_RATIO_ERROR);
        if (inputs->cosine > 0.9 && inputs->cosine - outputs->cosine > 0.1)
            find(&first, TDC_FAULT_COSINE_WARNING);
        return;
    }
    for (size_t i = start; i < end && inputs->norm < 0.1; i++) {
        struct seen_row seen = see(rows, i);
        if (seen.output && is_far_off(seen.row->values[TDC_RELATIVE + TDC_NORM]))
            find(&seen, TDC_FAULT_NORM_ERROR);
    }
    if (inputs->norm == 0 ? outputs->norm > 0.1 : outputs->norm / inputs->norm > 10)
        find(&first, TDC_FAULT_NORM_WARNING);
}

/* What is not looked at: memory that nobody has written yet, and the inputs of collectives that
 * write over them. */
enum exemption {
    NOTHING_EXEMPT,
    INPUTS_EXEMPT,
    ALL_EXEMPT
};

static bool is_among(const char *part, size_t length, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncmp(names[i], part, length) == 0)
            return true;
    return false;
}

/* By the second part of the name of the first input. */
static enum exemption exemption_of(const struct tdc_rows *rows, const struct side *inputs)
{
    static const char *const all[] = {"empty",
                                      "empty_like",
                                      "numpy",
                                      "to",
                                      "__setitem__",
                                      "empty_with_format",
                                      "new_empty_strided",
                                      "new_empty",
                                      "empty_strided"};
    static const char *const inputs_only[] = {"_reduce_scatter_base", "_all_gather_base",
                                              "all_to_all_single", "batch_isend_irecv"};
    const struct tdc_record *npu = inputs->any ? see(rows, inputs->first).npu : NULL;
    const char *dot = npu != NULL ? strchr(npu->name, '.') : NULL;
    if (dot == NULL)
        return NOTHING_EXEMPT;
    size_t length = strcspn(dot + 1, ".");
    if (is_among(dot + 1, length, all, sizeof all / sizeof *all))
        return ALL_EXEMPT;
    return is_among(dot + 1, length, inputs_only, sizeof inputs_only / sizeof *inputs_only)
               ? INPUTS_EXEMPT
               : NOTHING_EXEMPT;
}

/* The worst level of the findings. Rows that could not be compared keep their class. */
static void settle(struct tdc_row *row)
{
    bool warning = false, error = false;
    for (unsigned bit = 0; bit < TDC_FAULTS; bit++) {
        if ((row->findings >> bit & 1) == 0)
            continue;
        warning |= findings[bit].warning;
        error |= !findings[bit].warning;
    }
    row->verdict = error ? TDC_VERDICT_ERROR : warning ? TDC_VERDICT_WARNING : TDC_VERDICT_PASS;
    if ((error || warning) && row->row_class == TDC_ROW_SAME)
        row->row_class = TDC_ROW_DIFFERENT;
}

void tdc_compat26_call(const struct tdc_rows *rows, size_t start, size_t end)
{
    struct side inputs = {.cosine = 1, .ratio = 1}, outputs = inputs;
    for (size_t i = start; i < end; i++) {
        struct seen_row seen = see(rows, i);
        enter(seen.output ? &outputs : &inputs, rows->mode, seen.row, i);
    }
    enum exemption exemption = exemption_of(rows, &inputs);
    bool calls = exemption == NOTHING_EXEMPT && rows->mode != TDC_MODE_DIGEST;
    for (size_t i = start; i < end; i++) {
        struct seen_row seen = see(rows, i);
        if (exemption == NOTHING_EXEMPT || (exemption == INPUTS_EXEMPT && seen.output))
            check_row(rows, &seen);
        if (calls)
            check_scalar(&seen);
    }
    if (calls)
        check_outputs(rows, start, end, &inputs, &outputs);
    for (size_t i = start; i < end; i++)
        settle(&rows->rows[i]);
}
