/* highlight_compat.c - msprobe's colours (docs/msprobe.md#colours). */
#include <math.h>
#include <string.h>

#include "host/judge/rules.h"

/* MaxAbsErr in tensor mode, Max diff in statistics mode. */
static struct tdc_value error_of(tdc_mode mode, const struct tdc_coloured_row *row)
{
    return row->row->values[mode == TDC_MODE_TENSOR ? (int)TDC_MAX_ABS : (int)TDC_DIFF];
}

/* The magnitudes of errors of an input and an output: both above 1, the output a decade larger. */
static bool grows_by_a_decade(double input, double output)
{
    if (input > output || input <= 1 || output <= 1)
        return false;
    return log10(output) - log10(input) >= 1;
}

/* "inf" or "-inf", as number or text; NaN is shown as "Nan" and not recognised. */
static bool overflowed(const struct tdc_record *record, enum tdc_statistic which)
{
    if (record->stat_kinds[which] == TDC_STAT_FLOAT)
        return isinf(record->stats[which].number);
    if (record->stat_kinds[which] != TDC_STAT_TEXT)
        return false;
    const char *text = record->stats[which].text;
    return strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0;
}

static void colour_row(tdc_mode mode, const struct tdc_coloured_row *row,
                       struct tdc_reasons *reasons)
{
    struct tdc_value error = error_of(mode, row);
    if (overflowed(row->npu, TDC_MAX) || overflowed(row->npu, TDC_MIN))
        tdc_reason_add(reasons, TDC_COLOUR_RED, "maximum or minimum is nan, -inf, or inf");
    else if (error.form == TDC_HOLDS_NUMBER && fabs(error.number) > 1e10)
        tdc_reason_add(reasons, TDC_COLOUR_RED, "maximum absolute error exceeds 1e+10");
}

/* Booleans are numbers in Python. */
static bool stat_is_number(const struct tdc_record *record, enum tdc_statistic which)
{
    return record != NULL && record->stat_kinds[which] != TDC_STAT_TEXT;
}

static bool measurable(tdc_mode mode, const struct tdc_coloured_row *row)
{
    return stat_is_number(row->npu, TDC_MAX) && stat_is_number(row->bench, TDC_MAX) &&
           error_of(mode, row).form == TDC_HOLDS_NUMBER;
}

static bool both_numbers(const struct tdc_coloured_row *input,
                         const struct tdc_coloured_row *output, int which, double *in, double *out)
{
    struct tdc_value i = input->row->values[which], o = output->row->values[which];
    *in = i.number;
    *out = o.number;
    return i.form == TDC_HOLDS_NUMBER && o.form == TDC_HOLDS_NUMBER;
}

static void colour_ratios(const struct tdc_coloured_row *input,
                          const struct tdc_coloured_row *output, struct tdc_reasons *reasons)
{
    double in, out;
    if (both_numbers(input, output, TDC_ONE_THOUSANDTH, &in, &out)) {
        if (in > 0.9 && out < 0.6)
            tdc_reason_add(reasons, TDC_COLOUR_RED,
                           "The input/parameter's one thousandth err ratio exceeds 0.9, "
                           "while the output's is below 0.6");
        else if (in - out > 0.1)
            tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                           "The output's one thousandth err ratio decreases by more than 0.1 "
                           "compared to the input/parameter's");
    }
    if (both_numbers(input, output, TDC_COSINE, &in, &out) && in - out > 0.1)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "The output's cosine decreases by more than 0.1 "
                       "compared to the input/parameter's");
}

static void colour_relative(const struct tdc_coloured_row *input,
                            const struct tdc_coloured_row *output, struct tdc_reasons *reasons)
{
    struct tdc_value in = input->row->values[TDC_RELATIVE + TDC_MAX];
    struct tdc_value out = output->row->values[TDC_RELATIVE + TDC_MAX];
    if (out.form != TDC_HOLDS_PERCENT)
        return;
    if (out.number / 100 > 0.5)
        tdc_reason_add(reasons, TDC_COLOUR_RED, "maximum relative error exceeds 0.5");
    if (in.form == TDC_HOLDS_PERCENT && out.number / 100 > 0.1 && in.number / 100 < 0.01)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "The output's maximum relative error exceeds 0.1, "
                       "while the input/parameter's is below 0.01");
}

static void colour_pair(tdc_mode mode, const struct tdc_coloured_row *input,
                        const struct tdc_coloured_row *output, struct tdc_reasons *reasons)
{
    if (!measurable(mode, output) || !measurable(mode, input))
        return;
    if (grows_by_a_decade(fabs(error_of(mode, input).number), fabs(error_of(mode, output).number)))
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW,
                       "maximum absolute error of both input/parameters and output exceed 1, "
                       "with the output larger by an order of magnitude");
    if (mode == TDC_MODE_TENSOR)
        colour_ratios(input, output, reasons);
    else
        colour_relative(input, output, reasons);
}

static void colour_last(tdc_mode mode, const struct tdc_coloured_row *row,
                        struct tdc_reasons *reasons)
{
    (void)mode;
    if (strcmp(tdc_requires_grad(row->npu), tdc_requires_grad(row->bench)) != 0)
        tdc_reason_add(reasons, TDC_COLOUR_YELLOW, "requires_grad is inconsistent");
}

const struct tdc_highlight_rules tdc_highlight_compat = {
    .repeat_reasons = true,
    .row = colour_row,
    .pair = colour_pair,
    .last = colour_last,
};
