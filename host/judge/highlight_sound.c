/*
 * highlight_sound.c - colours by the documented rules (spec 16), each reason once.
 *
 * Differences from the original: NaN counts as overflow; a value that is not finite on both sides
 * alike (an attention mask) is no finding; the relative rule holds in tensor mode too, above an
 * absolute error of 0.001, and its denominator is at least 0.01 in statistics mode; failing rows
 * are red, unmatched ones and errors yellow.
 */
#include <math.h>
#include <string.h>

#include "host/judge/shade.h"

static bool finite_stat(const struct tdc_record *record, enum tdc_statistic which)
{
    if (record == NULL)
        return true;
    if (record->stat_kinds[which] == TDC_STAT_FLOAT)
        return isfinite(record->stats[which].number);
    return !(record->stat_kinds[which] == TDC_STAT_TEXT &&
             strcmp(record->stats[which].text, "Nan") == 0);
}

static bool overflowed(const struct tdc_shade_row *row, enum tdc_statistic which)
{
    return row->npu != NULL && !finite_stat(row->npu, which) && finite_stat(row->bench, which);
}

static void shade_row(tdc_mode mode, const struct tdc_shade_row *row, struct tdc_reasons *reasons)
{
    struct tdc_value error = tdc_shade_error(mode, row);
    if (overflowed(row, TDC_MAX) || overflowed(row, TDC_MIN))
        tdc_reason_add(reasons, TDC_COLOUR_RED, "maximum or minimum is nan, -inf, or inf");
    if (error.form == TDC_VALUE_NUMBER && fabs(error.number) > 1e10)
        tdc_reason_add(reasons, TDC_COLOUR_RED, "maximum absolute error exceeds 1e+10");
    if (row->row->row_class == TDC_ROW_DIFFERENT)
        reasons->colour = TDC_COLOUR_RED;
    else if (row->row->row_class == TDC_ROW_ERROR || row->row->row_class == TDC_ROW_UNMATCHED)
        reasons->colour = TDC_COLOUR_YELLOW;
}

/* The largest relative error of a row as a fraction; false when there is none. */
static bool relative_error(tdc_mode mode, const struct tdc_shade_row *row, double *error)
{
    struct tdc_value value;
    if (mode == TDC_MODE_TENSOR) {
        value = row->row->values[TDC_MAX_REL];
        *error = value.number;
        return value.form == TDC_VALUE_NUMBER;
    }
    double bench;
    value = row->row->values[TDC_DIFF + TDC_MAX];
    if (value.form != TDC_VALUE_NUMBER || !tdc_stat_number(row->bench, TDC_MAX, &bench))
        return false;
    *error = fabs(value.number) / fmax(0.01, fabs(bench));
    return true;
}

static void shade_relative(tdc_mode mode, double in, double out, struct tdc_reasons *reasons)
{
    if (mode == TDC_MODE_STATISTICS && out > 0.5)
        tdc_reason_add(reasons, TDC_COLOUR_RED, "maximum relative error exceeds 0.5");
    if (out > 0.1 && in < 0.01)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "The output's maximum relative error exceeds 0.1, "
                       "while the input/parameter's is below 0.01");
}

static void shade_ratio(double in, double out, struct tdc_reasons *reasons)
{
    if (in > 0.9 && out < 0.6)
        tdc_reason_add(reasons, TDC_COLOUR_RED,
                       "The input/parameter's one thousandth err ratio exceeds 0.9, "
                       "while the output's is below 0.6");
    else if (in - out > 0.1)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "The output's one thousandth err ratio decreases by more than 0.1 "
                       "compared to the input/parameter's");
}

static void shade_pair(tdc_mode mode, const struct tdc_shade_row *input,
                       const struct tdc_shade_row *output, struct tdc_reasons *reasons)
{
    const struct tdc_value *i = input->row->values, *o = output->row->values;
    struct tdc_value in_error = tdc_shade_error(mode, input);
    struct tdc_value out_error = tdc_shade_error(mode, output);
    if (in_error.form == TDC_VALUE_NUMBER && out_error.form == TDC_VALUE_NUMBER &&
        tdc_shade_decade(fabs(in_error.number), fabs(out_error.number)))
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "maximum absolute error of both input/parameters and output exceed 1, "
                       "with the output larger by an order of magnitude");
    double in, out;
    /* relative errors of elements near zero are large in healthy networks: without a visible
     * absolute error they are no finding */
    bool visible = out_error.form == TDC_VALUE_NUMBER && fabs(out_error.number) > 0.001;
    if ((mode == TDC_MODE_STATISTICS || visible) && relative_error(mode, input, &in) &&
        relative_error(mode, output, &out))
        shade_relative(mode, in, out, reasons);
    if (mode != TDC_MODE_TENSOR)
        return;
    if (i[TDC_ONE_THOUSANDTH].form == TDC_VALUE_NUMBER &&
        o[TDC_ONE_THOUSANDTH].form == TDC_VALUE_NUMBER)
        shade_ratio(i[TDC_ONE_THOUSANDTH].number, o[TDC_ONE_THOUSANDTH].number, reasons);
    if (i[TDC_COSINE].form == TDC_VALUE_NUMBER && o[TDC_COSINE].form == TDC_VALUE_NUMBER &&
        i[TDC_COSINE].number - o[TDC_COSINE].number > 0.1)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "The output's cosine decreases by more than 0.1 "
                       "compared to the input/parameter's");
}

static void shade_last(tdc_mode mode, const struct tdc_shade_row *row, struct tdc_reasons *reasons)
{
    (void)mode;
    if (row->npu != NULL && row->bench != NULL &&
        strcmp(row->npu->requires_grad, row->bench->requires_grad) != 0)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW, "requires_grad is inconsistent");
}

const struct tdc_highlight_rules tdc_highlight_sound = {
    .repeat_reasons = false,
    .row = shade_row,
    .pair = shade_pair,
    .last = shade_last,
};
