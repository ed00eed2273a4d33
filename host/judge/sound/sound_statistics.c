/*
 * sound_statistics.c - statistics and md5 mode, judged soundly.
 *
 * The distances of two tensors cannot be told from Max, Min, Mean and Norm, but bounds from below
 * can: the norms differ by at most the norm of the difference, the means by at most that over
 * sqrt(n) (Cauchy-Schwarz), the extremes by at most the largest difference. A row judged by them is
 * never worse than one judged by its data, and a mean of rounding noise around zero is measured at
 * the scale of its tensor.
 */
#include <math.h>
#include <string.h>

#include "host/judge/sound/level.h"
#include "host/judge/sound/sound.h"
#include "io/text/pytext.h"

static bool is_nan_text(const struct tdc_record *record, int which)
{
    return record->stat_kinds[which] == TDC_STAT_TEXT &&
           strcmp(record->stats[which].text, "Nan") == 0;
}

/* What the four statistics of a row say together. */
struct sums {
    double difference[TDC_STATISTICS]; /* magnitudes; NaN: not two numbers */
    bool equal;                        /* all four */
    bool apart;                        /* NaN or infinity on one side, or of other signs */
};

/* Fills the two cells of a statistic. */
static void compare_stat(const struct tdc_case *row_case, int which, struct tdc_row *row,
                         struct sums *sums, struct tdc_text *message)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    struct tdc_value *difference = &row->values[TDC_DIFF + which];
    struct tdc_value *relative = &row->values[TDC_RELATIVE + which];
    double x, y;
    bool x_number = tdc_stat_number(npu, (enum tdc_statistic)which, &x);
    bool y_number = tdc_stat_number(bench, (enum tdc_statistic)which, &y);
    bool x_bad = is_nan_text(npu, which) || (x_number && isinf(x));
    bool y_bad = is_nan_text(bench, which) || (y_number && isinf(y));
    sums->difference[which] = (double)NAN;
    if (x_bad || y_bad) {
        bool same = x_number == y_number && (!x_number || x == y);
        *difference = *relative = same ? tdc_value_number(0) : tdc_value_of(TDC_HOLDS_NAN);
        if (same) {
            relative->form = TDC_HOLDS_PERCENT;
            return;
        }
        sums->equal = false;
        sums->apart = true;
        tdc_sound_say(row, message, x_bad ? TDC_REASON_TEST_NOT_FINITE : TDC_REASON_REF_NOT_FINITE);
        return;
    }
    if (!x_number || !y_number) {
        bool left_out = tdc_sound_left_out(npu, which) || tdc_sound_left_out(bench, which);
        sums->equal &= left_out || tdc_stat_same(npu, bench, (enum tdc_statistic)which);
        return;
    }
    double d;
    tdc_stat_difference(npu, bench, (enum tdc_statistic)which, &d);
    double e = d == 0 ? 0 : y == 0 ? 1 : fabs(d / y);
    *difference = tdc_value_number(d);
    *relative = (struct tdc_value){.number = e * 100, .form = TDC_HOLDS_PERCENT};
    sums->difference[which] = fabs(d);
    sums->equal &= d == 0;
}

static double stat_or_nan(const struct tdc_record *record, enum tdc_statistic which)
{
    double number;
    return tdc_stat_number(record, which, &number) ? number : (double)NAN;
}

static struct tdc_measure measure_of(const struct tdc_case *row_case, const struct sums *sums)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    struct tdc_measure m = {
        .n_rms = (double)NAN,
        .b_rms = (double)NAN,
        .b_max = stat_or_nan(bench, TDC_MAX),
        .b_min = stat_or_nan(bench, TDC_MIN),
        .n_min = stat_or_nan(npu, TDC_MIN),
        .half = tdc_precision_of(npu->dtype) == TDC_PRECISION_F16 ||
                tdc_precision_of(bench->dtype) == TDC_PRECISION_F16,
        .apart = sums->apart,
    };
    double root = sqrt(tdc_shape_elements(bench->shape));
    double norm = stat_or_nan(bench, TDC_NORM);
    tdc_record_rms(npu, &m.n_rms);
    tdc_record_rms(bench, &m.b_rms);
    /* fmax passes over what is not known */
    double distance = fmax(sums->difference[TDC_NORM], sums->difference[TDC_MEAN] * fmax(1, root));
    double worst = fmax(sums->difference[TDC_MAX], sums->difference[TDC_MIN]);
    double most = fmax(fabs(m.b_max), fabs(m.b_min));
    m.d_rms = fmax(root > 0 ? distance / root : 0, worst / fmax(1, root));
    m.s = isnan(worst) ? 0 : tdc_ratio(worst, most);
    m.r = isnan(distance) || isnan(norm) ? m.s : tdc_ratio(distance, norm);
    if (sums->apart || (m.r == 0 && m.s == 0 && !sums->equal))
        m.r = m.s = HUGE_VAL;
    return m;
}

static void judge_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                             struct tdc_text *message)
{
    struct sums sums = {.equal = true};
    for (int i = 0; i < TDC_STATISTICS; i++)
        compare_stat(row_case, i, row, &sums, message);
    if (row_case->npu->scalar) {
        tdc_sound_scalar(row_case, row, message);
        return;
    }
    struct tdc_measure measure = measure_of(row_case, &sums);
    tdc_level_judge(&row_case->scene, &measure, row, message);
}

void tdc_sound_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                          struct tdc_text *message)
{
    for (int i = 0; i < TDC_ROW_VALUES; i++)
        row->values[i] = tdc_value_of(TDC_HOLDS_NA);
    if (!tdc_sound_structure(row_case, row, message) &&
        !tdc_sound_no_statistics(row_case, row, message))
        judge_statistics(row_case, row, message);
    tdc_sound_finish(row_case, row, message);
}

/* Equal texts are equal bits. Other texts say no more than that: who dumps them asks for bits. */
static void judge_digest(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message)
{
    if (row_case->npu->scalar) {
        tdc_sound_scalar(row_case, row, message);
        return;
    }
    struct tdc_measure measure = {.apart = true};
    if (strcmp(row_case->npu->digest, row_case->bench->digest) != 0) {
        measure.r = measure.s = HUGE_VAL;
        tdc_sound_say(row, message, TDC_REASON_BITS);
    }
    tdc_level_judge(&row_case->scene, &measure, row, message);
}

void tdc_sound_digest(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message)
{
    if (!tdc_sound_structure(row_case, row, message) &&
        !tdc_sound_no_digest(row_case, row, message))
        judge_digest(row_case, row, message);
    tdc_sound_finish(row_case, row, message);
}
