/*
 * sound_tensor.c - real data, judged soundly.
 *
 * Relative errors are in float64 with 0/0 = 0 and x/0 = 1. NaN and infinities are counted on both
 * sides; where the two sides disagree about them (sign of infinity included) the row fails, and the
 * metrics cover the finite pairs. Nothing is rounded.
 */
#include <math.h>
#include <string.h>

#include "host/judge/sound.h"

static void set_all(struct tdc_row *row, enum tdc_value_form form)
{
    for (int i = 0; i < TDC_TENSOR_VALUES; i++)
        row->values[i] = tdc_value_of(form);
}

/* 1 when both are zero; undefined (Nan) when one is; a single element has no direction. */
static struct tdc_value cosine(const struct tdc_outcome *outcome, struct tdc_text *message)
{
    const struct tdc_pair_norms *norms = &outcome->norms;
    if (outcome->sums.count == 1)
        return tdc_value_of(TDC_VALUE_UNSUPPORTED);
    if (norms->d == 0) /* equal, not just nearly parallel */
        return tdc_value_number(1);
    if (norms->n == 0 || norms->b == 0) {
        tdc_sound_say(message, norms->n == 0 ? "All NPU data is zero." : "All bench data is zero.");
        return tdc_value_of(TDC_VALUE_NAN);
    }
    double c = norms->cosine;
    /* rounding must not make it more than parallel */
    return tdc_value_number(c > 1 ? 1 : c < -1 ? -1 : c);
}

static void fill_extra(const struct tdc_outcome *outcome, struct tdc_extra *extra)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    *extra = (struct tdc_extra){
        .elements = sums->count,
        .mean_abs = outcome->norms.mean_abs,
        .rmse = outcome->norms.d_rms,
        .abs_at = sums->abs_at,
        .rel_at = sums->rel_at,
        .abs_n = outcome->abs_n,
        .abs_b = outcome->abs_b,
        .rel_n = outcome->rel_n,
        .rel_b = outcome->rel_b,
        .n_dtype = (uint8_t)(outcome->n_dtype == TDC_TEXT ? TDC_F64 : outcome->n_dtype),
        .b_dtype = (uint8_t)(outcome->b_dtype == TDC_TEXT ? TDC_F64 : outcome->b_dtype),
        .n_nan = sums->n_nan,
        .n_inf = sums->n_inf,
        .b_nan = sums->b_nan,
        .b_inf = sums->b_inf,
        .located = sums->finite != 0,
    };
    for (int i = 0; i < 2; i++)
        extra->below[i] =
            (double)(sums->below[2 + i] + sums->nonfinite_equal) / (double)sums->count;
}

/* Whether the numbers are within tolerance; says which limit was passed. */
static bool reached(const struct tdc_row *row, const struct tdc_pair_sums *sums,
                    struct tdc_text *message)
{
    double m = sums->abs_max, c = row->values[TDC_COSINE].number;
    const char *reason = NULL;
    if (row->values[TDC_COSINE].form == TDC_VALUE_NUMBER) {
        if (c < 0.9)
            reason = "Cosine below 0.9.";
        else if (c < 0.99 && m > 0.001)
            reason = "Cosine below 0.99 and MaxAbsErr above 0.001.";
    } else if (m > 0.001 && sums->rel_max > 0.01) {
        /* no direction to compare: one element, or one side all zero */
        reason = "MaxAbsErr above 0.001 and MaxRelativeErr above 0.01.";
    }
    if (reason == NULL && m > 1)
        reason = "MaxAbsErr above 1.";
    if (reason != NULL)
        tdc_sound_say(message, reason);
    return reason == NULL;
}

static void compute(const struct tdc_outcome *outcome, struct tdc_row *row, struct tdc_extra *extra,
                    struct tdc_text *message)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    double count = (double)sums->count;
    bool apart = sums->count - sums->finite != sums->nonfinite_equal;
    fill_extra(outcome, extra);
    row->values[TDC_COSINE] = cosine(outcome, message);
    row->values[TDC_EUC_DIST] = tdc_value_number(outcome->norms.d);
    row->values[TDC_MAX_ABS] = tdc_value_number(sums->finite != 0 ? sums->abs_max : 0);
    row->values[TDC_MAX_REL] = tdc_value_number(sums->finite != 0 ? sums->rel_max : 0);
    row->values[TDC_ONE_THOUSANDTH] =
        tdc_value_number((double)(sums->below[0] + sums->nonfinite_equal) / count);
    row->values[TDC_FIVE_THOUSANDTHS] =
        tdc_value_number((double)(sums->below[1] + sums->nonfinite_equal) / count);
    if (apart)
        tdc_sound_say(message, "The Position of inf or nan in NPU and bench Tensor do not match.");
    bool good = !apart && reached(row, sums, message);
    row->verdict = good ? TDC_VERDICT_YES : TDC_VERDICT_NO;
    row->row_class = good ? TDC_ROW_SAME : TDC_ROW_DIFFERENT;
}

static void judge_outcome(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                          struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    switch (outcome->code) {
    case TDC_OUTCOME_COMPARED:
        compute(outcome, row, extra, message);
        break;
    case TDC_OUTCOME_UNREADABLE:
        tdc_sound_say(message, outcome->error.message);
        row->verdict = TDC_VERDICT_ERROR;
        row->row_class = TDC_ROW_ERROR;
        break;
    case TDC_OUTCOME_NOT_NUMBERS:
        tdc_sound_say(message, "Data is unreadable.");
        if (outcome->error.message[0] != '\0')
            tdc_sound_say(message, outcome->error.message);
        row->verdict = TDC_VERDICT_ERROR;
        row->row_class = TDC_ROW_ERROR;
        break;
    case TDC_OUTCOME_EMPTY:
        tdc_sound_empty(row_case, outcome, row, message);
        break;
    case TDC_OUTCOME_SHAPES_DIFFER:
        set_all(row, TDC_VALUE_SHAPE);
        tdc_sound_say(message, "Shape of NPU and bench Tensor do not match. Skipped.");
        row->verdict = TDC_VERDICT_UNMATCHED;
        row->row_class = TDC_ROW_UNMATCHED;
        break;
    }
}

void tdc_sound_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                      struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    set_all(row, TDC_VALUE_UNSUPPORTED);
    row->verdict = TDC_VERDICT_NONE;
    row->row_class = TDC_ROW_NONE;
    if (tdc_sound_structure(row_case, row, message)) {
        if (row_case->npu != NULL && row_case->bench != NULL)
            set_all(row, TDC_VALUE_SHAPE);
    } else if (outcome != NULL) {
        judge_outcome(row_case, outcome, row, extra, message);
    } else if (row_case->npu->scalar) {
        tdc_sound_scalar(row_case, row, message);
        row->verdict = row->row_class == TDC_ROW_SAME ? TDC_VERDICT_YES : TDC_VERDICT_NO;
    } else {
        tdc_sound_no_file(row_case, row, message);
    }
}
