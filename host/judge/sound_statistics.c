/*
 * sound_statistics.c - statistics and md5 mode, judged soundly.
 *
 * Differences are exact to a double. The relative error is |x - y| / |y|, 0 where both are equal
 * and 1 where only y is 0, as in tensor mode. NaN or infinity on one side only is suspicious, on
 * both sides equal.
 */
#include <math.h>
#include <string.h>

#include "host/judge/sound.h"
#include "io/pytext.h"

bool tdc_stat_number(const struct tdc_record *record, enum tdc_statistic which, double *number)
{
    switch ((enum tdc_stat_kind)record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
    case TDC_STAT_INTEGER:
        *number = record->stats[which].number;
        return true;
    case TDC_STAT_BIG_INTEGER:
        return tdc_float_parse(record->stats[which].text, strlen(record->stats[which].text),
                               number);
    case TDC_STAT_TEXT:
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        break;
    }
    return false;
}

static bool is_nan_text(const struct tdc_record *record, int which)
{
    return record->stat_kinds[which] == TDC_STAT_TEXT &&
           strcmp(record->stats[which].text, "Nan") == 0;
}

/* Fills the two cells; true when the statistic makes the row suspicious. */
static bool compare_stat(const struct tdc_case *row_case, int which, struct tdc_row *row,
                         struct tdc_text *message)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    struct tdc_value *difference = &row->values[TDC_DIFF + which];
    struct tdc_value *relative = &row->values[TDC_RELATIVE + which];
    double x, y;
    bool x_number = tdc_stat_number(npu, (enum tdc_statistic)which, &x);
    bool y_number = tdc_stat_number(bench, (enum tdc_statistic)which, &y);
    bool x_bad = is_nan_text(npu, which) || (x_number && isinf(x));
    bool y_bad = is_nan_text(bench, which) || (y_number && isinf(y));
    if (x_bad || y_bad) {
        bool same = x_number == y_number && (!x_number || x == y);
        *difference = *relative = same ? tdc_value_number(0) : tdc_value_of(TDC_VALUE_NAN);
        if (same)
            relative->form = TDC_VALUE_PERCENT;
        else
            tdc_sound_say(message, x_bad ? "NaN or infinity in NPU statistics."
                                         : "NaN or infinity in bench statistics.");
        return !same;
    }
    if (!x_number || !y_number)
        return false;
    double d;
    tdc_stat_difference(npu, bench, (enum tdc_statistic)which, &d);
    double e = d == 0 ? 0 : y == 0 ? 1 : fabs(d / y);
    *difference = tdc_value_number(d);
    *relative = (struct tdc_value){.number = e * 100, .form = TDC_VALUE_PERCENT};
    /* a mean of rounding noise around zero is no finding */
    return e > 0.5 && fabs(d) > 1e-10;
}

void tdc_sound_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                          struct tdc_text *message)
{
    for (int i = 0; i < TDC_ROW_VALUES; i++)
        row->values[i] = tdc_value_of(TDC_VALUE_NA);
    if (tdc_sound_structure(row_case, row, message) ||
        tdc_sound_no_statistics(row_case, row, message))
        return;
    bool suspicious = false;
    for (int i = 0; i < TDC_STATISTICS; i++)
        suspicious |= compare_stat(row_case, i, row, message);
    row->row_class = suspicious ? TDC_ROW_DIFFERENT : TDC_ROW_SAME;
    if (row_case->npu->scalar)
        tdc_sound_scalar(row_case, row, message);
    else if (suspicious)
        tdc_sound_say(message, "Need double check api accuracy.");
    row->verdict = row->row_class == TDC_ROW_DIFFERENT ? TDC_VERDICT_WARNING : TDC_VERDICT_EMPTY;
}

void tdc_sound_digest(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message)
{
    if (tdc_sound_structure(row_case, row, message) || tdc_sound_no_digest(row_case, row, message))
        return;
    bool same = strcmp(row_case->npu->digest, row_case->bench->digest) == 0;
    row->row_class = same ? TDC_ROW_SAME : TDC_ROW_DIFFERENT;
    if (row_case->npu->scalar)
        tdc_sound_scalar(row_case, row, message);
    row->verdict = row->row_class == TDC_ROW_SAME ? TDC_VERDICT_PASS : TDC_VERDICT_DIFFERENT;
}
