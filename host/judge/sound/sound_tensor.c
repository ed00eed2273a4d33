/*
 * sound_tensor.c - real data, judged soundly.
 *
 * Relative errors are in float64 with 0/0 = 0 and x/0 = 1. NaN and infinities are counted on both
 * sides; where the two sides disagree about them (sign of infinity included) the row is different,
 * and the metrics cover the finite pairs. Nothing is rounded. Level: level.h.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "host/judge/sound/level.h"
#include "host/judge/sound/sound.h"
#include "host/judge/tolerance.h"

static void set_all(struct tdc_row *row, enum tdc_value_form form)
{
    for (int i = 0; i < TDC_TENSOR_VALUES; i++)
        row->values[i] = tdc_value_of(form);
}

/* 1 when both are zero; undefined (Nan) when one is; a single element has no direction. */
static struct tdc_value cosine(const struct tdc_outcome *outcome, struct tdc_row *row,
                               struct tdc_text *message)
{
    const struct tdc_pair_norms *norms = &outcome->norms;
    if (outcome->sums.count == 1)
        return tdc_value_of(TDC_HOLDS_UNSUPPORTED);
    if (norms->d == 0) /* equal, not just nearly parallel */
        return tdc_value_number(1);
    if (norms->n == 0 || norms->b == 0) {
        tdc_sound_say(row, message, norms->n == 0 ? TDC_REASON_TEST_ZERO : TDC_REASON_REF_ZERO);
        return tdc_value_of(TDC_HOLDS_NAN);
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
        .apart = outcome->apart,
        .apart_at = outcome->apart_at,
        .apart_n = outcome->apart_n,
        .apart_b = outcome->apart_b,
    };
    for (int i = 0; i < 2; i++)
        extra->below[i] =
            (double)(sums->below[2 + i] + sums->nonfinite_equal) / (double)sums->count;
}

/* Value of the reference's element with the largest error, complex numbers by their modulus. */
static double element_size(uint8_t dtype, const struct tdc_element *element)
{
    double imaginary, real = tdc_element_value((tdc_dtype)dtype, element->bytes, &imaginary);
    return hypot(real, imaginary);
}

static double stat_or_nan(const struct tdc_record *record, enum tdc_statistic which)
{
    double number;
    return tdc_stat_number(record, which, &number) ? number : (double)NAN;
}

static struct tdc_measure measure_of(const struct tdc_case *row_case,
                                     const struct tdc_outcome *outcome,
                                     const struct tdc_extra *extra, bool apart)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    struct tdc_measure m = {
        .n_rms = sums->finite != 0 ? sqrt(sums->nn / (double)sums->finite) : 0,
        .b_rms = sums->finite != 0 ? sqrt(sums->bb / (double)sums->finite) : 0,
        .d_rms = extra->rmse,
        .b_max = stat_or_nan(row_case->bench, TDC_MAX),
        .b_min = stat_or_nan(row_case->bench, TDC_MIN),
        .n_min = stat_or_nan(row_case->npu, TDC_MIN),
        .half = outcome->n_dtype == TDC_F16 || outcome->b_dtype == TDC_F16,
        .apart = apart,
    };
    if (apart) {
        m.r = m.s = HUGE_VAL;
        return m;
    }
    if (sums->finite == 0 || sums->abs_max <= 0)
        return m;
    /* The largest magnitude of the reference is in its record; the record may lack it, or hold an
     * infinity that both sides have. */
    double most = fmax(m.b_rms, element_size(extra->b_dtype, &extra->abs_b));
    if (isfinite(m.b_max) && isfinite(m.b_min))
        most = fmax(most, fmax(fabs(m.b_max), fabs(m.b_min)));
    m.s = fmax(tdc_ratio(sums->abs_max, most), DBL_MIN);
    /* where squares under- or overflow single elements speak for all */
    if (!(sums->bb > 0) || !isfinite(sums->bb) || !isfinite(sums->dd))
        m.r = most == 0 ? HUGE_VAL : sums->rel_max;
    else
        m.r = sums->dd > 0 ? tdc_ratio(sqrt(sums->dd), sqrt(sums->bb)) : m.s;
    return m;
}

static void compute(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                    struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    double count = (double)sums->count;
    bool apart = sums->count - sums->finite != sums->nonfinite_equal;
    fill_extra(outcome, extra);
    row->values[TDC_COSINE] = cosine(outcome, row, message);
    row->values[TDC_EUC_DIST] = tdc_value_number(outcome->norms.d);
    row->values[TDC_MAX_ABS] = tdc_value_number(sums->finite != 0 ? sums->abs_max : 0);
    row->values[TDC_MAX_REL] = tdc_value_number(sums->finite != 0 ? sums->rel_max : 0);
    row->values[TDC_ONE_THOUSANDTH] =
        tdc_value_number((double)(sums->below[0] + sums->nonfinite_equal) / count);
    row->values[TDC_FIVE_THOUSANDTHS] =
        tdc_value_number((double)(sums->below[1] + sums->nonfinite_equal) / count);
    if (apart)
        tdc_sound_say(row, message, TDC_REASON_NOT_FINITE);
    struct tdc_measure measure = measure_of(row_case, outcome, extra, apart);
    if (row_case->tolerance == NULL) {
        tdc_level_judge(&row_case->scene, &measure, row, message);
        return;
    }
    /* what the rules would say of their own limits is not said */
    struct tdc_text unsaid;
    struct tdc_row judged = *row;
    tdc_text_init(&unsaid, (size_t)1 << 12);
    tdc_level_judge(&row_case->scene, &measure, &judged, &unsaid);
    tdc_text_free(&unsaid);
    row->r = judged.r;
    row->s = judged.s;
    row->row_class = judged.row_class;
    row->excused = judged.excused;
    tdc_tolerance_judge(row_case->tolerance, outcome, row, message);
}

static void judge_outcome(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                          struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    switch (outcome->code) {
    case TDC_OUTCOME_COMPARED:
        compute(row_case, outcome, row, extra, message);
        break;
    case TDC_OUTCOME_UNREADABLE:
        tdc_sound_say_text(row, message, TDC_REASON_UNREADABLE, outcome->error.message);
        row->row_class = TDC_ROW_ERROR;
        break;
    case TDC_OUTCOME_NOT_NUMBERS:
        tdc_sound_say(row, message, TDC_REASON_NOT_NUMBERS);
        if (outcome->error.message[0] != '\0')
            tdc_sound_say_text(row, message, TDC_REASON_NOT_NUMBERS, outcome->error.message);
        row->row_class = TDC_ROW_ERROR;
        break;
    case TDC_OUTCOME_EMPTY:
        tdc_sound_empty(row_case, outcome, row, message);
        break;
    case TDC_OUTCOME_SHAPES_DIFFER:
        set_all(row, TDC_HOLDS_SHAPE);
        tdc_sound_say(row, message, TDC_REASON_SHAPE);
        row->row_class = TDC_ROW_UNMATCHED;
        break;
    }
}

/* A tensor that could not be described has no shape to be compared. */
static bool refused(const struct tdc_case *row_case)
{
    return (row_case->npu != NULL && row_case->npu->refusal != NULL) ||
           (row_case->bench != NULL && row_case->bench->refusal != NULL);
}

void tdc_sound_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                      struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message)
{
    set_all(row, TDC_HOLDS_UNSUPPORTED);
    row->row_class = TDC_ROW_NONE;
    if (outcome != NULL && refused(row_case)) {
        judge_outcome(row_case, outcome, row, extra, message);
    } else if (tdc_sound_structure(row_case, row, message)) {
        if (row_case->npu != NULL && row_case->bench != NULL)
            set_all(row, TDC_HOLDS_SHAPE);
    } else if (outcome != NULL) {
        judge_outcome(row_case, outcome, row, extra, message);
    } else if (row_case->npu->scalar) {
        tdc_sound_scalar(row_case, row, message);
    } else {
        tdc_sound_no_file(row_case, row, message);
    }
    tdc_sound_finish(row_case, row, message);
}
