/* compat_tensor.c - the six values of tensor mode as msprobe computes and words them
 * (docs/msprobe.md#tensor-mode, docs/msprobe.md#messages). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/judge/compat/compat.h"
#include "io/text/pytext.h"

#define EPSILON 0x1p-52

const char tdc_compat_zero_d_text[] =
    "This is type of 0-d tensor, can not calculate 'Cosine', 'EucDist', 'One Thousandth Err Ratio' "
    "and 'Five Thousandths Err Ratio'. ";
const char tdc_compat_nan_abs_text[] =
    "Cannot compare by MaxAbsError, the data contains nan/inf/-inf in dump data.";
const char tdc_compat_nan_rel_text[] =
    "Cannot compare by MaxRelativeError, the data contains nan/inf/-inf in dump data.";

/* Printed with so many decimals and read back; infinities stay. */
static double rounded(double value, int decimals)
{
    if (!isfinite(value))
        return value;
    char text[400];
    int length = snprintf(text, sizeof text, "%.*f", decimals, value);
    double back = value;
    tdc_float_parse(text, (size_t)length, &back);
    return back;
}

static void set_all(struct tdc_row *row, enum tdc_value_form form)
{
    for (int i = 0; i < TDC_TENSOR_VALUES; i++)
        row->values[i] = tdc_value_of(form);
}

static struct tdc_value cosine(const struct tdc_pair_sums *sums, struct tdc_text *message)
{
    if (sums->count == 1) {
        tdc_text_adds(message, "This is a 1-d tensor of length 1.");
        return tdc_value_of(TDC_HOLDS_UNSUPPORTED);
    }
    double n = sqrt(sums->nn), b = sqrt(sums->bb);
    if (n <= EPSILON && b <= EPSILON)
        return tdc_value_number(1);
    if (n <= EPSILON || b <= EPSILON) {
        tdc_text_addf(message,
                      "Cannot compare by Cosine Similarity, All the data is Zero in %s dump data.",
                      n <= EPSILON ? "npu" : "Bench");
        return tdc_value_of(TDC_HOLDS_NAN);
    }
    double c = sums->nb / (n * b);
    if (isnan(c)) {
        tdc_text_adds(message, "Cannot compare by Cosine Similarity, the dump data has NaN.");
        return tdc_value_of(TDC_HOLDS_NAN);
    }
    c = rounded(c, 12);
    return tdc_value_number(c > 0.9999 ? rounded(c, 6) : c);
}

struct tdc_value tdc_compat_maximum(double value, const char *nan_text, struct tdc_text *message)
{
    if (isnan(value)) {
        tdc_text_adds(message, nan_text);
        return tdc_value_of(TDC_HOLDS_NAN);
    }
    return tdc_value_number(rounded(value, 12));
}

/* bf16 is read as f32; byte order and the width of texts do count. */
static bool same_dtype(const struct tdc_outcome *outcome)
{
    tdc_dtype n = outcome->n_dtype == TDC_BF16 ? TDC_F32 : outcome->n_dtype;
    tdc_dtype b = outcome->b_dtype == TDC_BF16 ? TDC_F32 : outcome->b_dtype;
    return n == b && outcome->n_swapped == outcome->b_swapped && !outcome->text_types_differ;
}

static void compute(const struct tdc_outcome *outcome, struct tdc_row *row,
                    struct tdc_text *message)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    if (sums->nan_apart != 0 || sums->inf_apart != 0) {
        set_all(row, TDC_HOLDS_NA);
        tdc_text_adds(message, "The position of inf or nan in NPU and bench Tensor do not match.");
        return;
    }
    if (!same_dtype(outcome))
        tdc_text_adds(message, "Dtype of NPU and bench tensor do not match.");
    double count = (double)sums->count;
    row->values[TDC_COSINE] = cosine(sums, message);
    row->values[TDC_EUC_DIST] = tdc_value_number(sqrt(sums->dd));
    row->values[TDC_MAX_ABS] = tdc_compat_maximum(sums->abs_max, tdc_compat_nan_abs_text, message);
    row->values[TDC_MAX_REL] = tdc_compat_maximum(sums->rel_nan != 0 ? (double)NAN : sums->rel_max,
                                                  tdc_compat_nan_rel_text, message);
    row->values[TDC_ONE_THOUSANDTH] = tdc_value_number(rounded((double)sums->below[0] / count, 12));
    row->values[TDC_FIVE_THOUSANDTHS] =
        tdc_value_number(rounded((double)sums->below[1] / count, 12));
}

/* The message doubles at each of four steps, and the two maxima speak in between
 * (docs/msprobe.md#tensors-without-dimensions). */
static void compute_zero_d(const struct tdc_outcome *outcome, struct tdc_row *row,
                           struct tdc_text *message)
{
    double max_abs, max_rel;
    tdc_compat_zero_d(outcome, TDC_RELATIVE_NATIVE, &max_abs, &max_rel);
    set_all(row, TDC_HOLDS_UNSUPPORTED);
    for (int repeat = 0; repeat < 4; repeat++) {
        for (int i = 0; i < 4; i++)
            tdc_text_adds(message, tdc_compat_zero_d_text);
        row->values[TDC_MAX_ABS] = tdc_compat_maximum(max_abs, tdc_compat_nan_abs_text, message);
        row->values[TDC_MAX_REL] = tdc_compat_maximum(max_rel, tdc_compat_nan_rel_text, message);
    }
}

static void say_unreadable(const struct tdc_case *row_case, struct tdc_text *message)
{
    tdc_text_adds(message, "Dump file: [");
    tdc_pytext_repr_string(message, row_case->n_file, strlen(row_case->n_file));
    tdc_text_adds(message, ", ");
    tdc_pytext_repr_string(message, row_case->b_file, strlen(row_case->b_file));
    tdc_text_adds(message, "] not found or read failed.");
}

static bool has_suffix(const char *file, const char *suffix)
{
    size_t length = strlen(file), tail = suffix != NULL ? strlen(suffix) : 0;
    return tail == 0 || (length >= tail && strcmp(file + length - tail, suffix) == 0);
}

/* A file that exists but is not of the wanted kind was not read. */
static bool was_read(const struct tdc_case *row_case, const struct tdc_outcome *outcome)
{
    return outcome->code != TDC_OUTCOME_UNREADABLE &&
           has_suffix(row_case->n_file, row_case->match->n_suffix) &&
           has_suffix(row_case->b_file, row_case->match->b_suffix);
}

void tdc_compat_files(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                      const struct tdc_file_words *words, struct tdc_row *row,
                      struct tdc_text *message)
{
    set_all(row, TDC_HOLDS_UNSUPPORTED);
    if (strcmp(row_case->n_file, "-1") == 0) {
        tdc_text_adds(message, "NPU does not have data file.");
    } else if (strcmp(row_case->b_file, "-1") == 0) {
        tdc_text_adds(message, "Bench does not have data file.");
    } else if (outcome == NULL) {
        tdc_text_adds(message, "Bench api/module unmatched.");
    } else if (!was_read(row_case, outcome)) {
        words->unreadable(row_case, message);
        row->row_class = TDC_ROW_ERROR;
    } else if (outcome->code == TDC_OUTCOME_EMPTY) {
        tdc_text_adds(message, "This is empty data, can not compare.");
    } else if (outcome->code == TDC_OUTCOME_SHAPES_DIFFER) {
        set_all(row, TDC_HOLDS_SHAPE);
        tdc_text_adds(message, "Shape of NPU and bench tensor do not match. Skipped.");
    } else if (outcome->code == TDC_OUTCOME_NOT_NUMBERS) {
        tdc_text_adds(message, "Data is unreadable.");
        row->row_class = TDC_ROW_ERROR;
    } else if (outcome->n_dimensions == 0) {
        words->zero_d(outcome, row, message);
    } else {
        compute(outcome, row, message);
    }
}

static bool is_number(struct tdc_value value, double *number)
{
    *number = value.form == TDC_HOLDS_NAN ? (double)NAN : value.number;
    return value.form == TDC_HOLDS_NUMBER || value.form == TDC_HOLDS_NAN;
}

/* Accuracy Reached or Not (docs/msprobe.md#accuracy). */
static enum tdc_verdict verdict(const struct tdc_row *row)
{
    struct tdc_value cosine_value = row->values[TDC_COSINE], abs_value = row->values[TDC_MAX_ABS];
    double c, m;
    if (cosine_value.form == TDC_HOLDS_SHAPE)
        return TDC_VERDICT_UNMATCHED;
    if (cosine_value.form == TDC_HOLDS_NA || abs_value.form == TDC_HOLDS_NA)
        return TDC_VERDICT_NO;
    if (!is_number(cosine_value, &c) || !is_number(abs_value, &m))
        return TDC_VERDICT_NONE;
    if ((c < 0.99 && m > 0.001) || c < 0.9 || m > 1)
        return TDC_VERDICT_NO;
    return TDC_VERDICT_YES;
}

void tdc_compat_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                       struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    (void)extra;
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    if (strcmp(tdc_requires_grad(npu), tdc_requires_grad(bench)) != 0)
        tdc_text_adds(message, "Requires_grad inconsistent. ");
    else if (bench == NULL)
        tdc_text_adds(message, "No bench data matched.");
    row->row_class = bench == NULL ? TDC_ROW_UNMATCHED : TDC_ROW_NONE;
    static const struct tdc_file_words words = {say_unreadable, compute_zero_d};
    tdc_compat_files(row_case, outcome, &words, row, message);
    if (row_case->match->fuzzy && bench != NULL && strcmp(npu->name, bench->name) != 0)
        tdc_text_adds(message, " Fuzzy matching data, the comparison accuracy may be affected.");
    row->verdict = (uint8_t)verdict(row);
    if (row->verdict == TDC_VERDICT_YES)
        row->row_class = TDC_ROW_SAME;
    else if (row->verdict == TDC_VERDICT_NO)
        row->row_class = TDC_ROW_DIFFERENT;
    else if (row->verdict == TDC_VERDICT_UNMATCHED)
        row->row_class = TDC_ROW_UNMATCHED;
}
