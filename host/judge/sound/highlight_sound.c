/*
 * highlight_sound.c - the colours of the sound rules: the judgement of the row, and nothing else.
 *
 * Red is what makes the exit code 1: different rows and origins. Yellow is worth a look.
 */
#include <string.h>

#include "host/judge/colours.h"

tdc_severity tdc_sound_severity(const struct tdc_coloured_row *row)
{
    const struct tdc_row *held = row->row;
    if (held->origin != TDC_ORIGIN_NONE)
        return TDC_SEVERITY_START;
    if (held->row_class == TDC_ROW_DIFFERENT)
        return TDC_SEVERITY_DIFFERENT;
    bool other_grad = row->npu != NULL && row->bench != NULL &&
                      strcmp(row->npu->requires_grad, row->bench->requires_grad) != 0;
    bool look = held->row_class == TDC_ROW_ERROR || held->row_class == TDC_ROW_UNMATCHED ||
                held->row_class == TDC_ROW_CLOSE || held->enters || other_grad;
    return look ? TDC_SEVERITY_LOOK : TDC_SEVERITY_NONE;
}

static void colour_row(tdc_mode mode, const struct tdc_coloured_row *row,
                       struct tdc_reasons *reasons)
{
    static const char *const origins[] = {
        [TDC_ORIGIN_OPERATOR] =
            "Differences begin here: the inputs of this call do not explain it.",
        [TDC_ORIGIN_ENTRY] = "Differences begin here: no call before has produced it.",
        [TDC_ORIGIN_ARGUMENT] = "Differences begin here: the argument is not the same.",
        [TDC_ORIGIN_RANDOM] =
            ("Differences begin here: a random operator, in another state. What follows from it "
             "cannot be compared."),
    };
    (void)mode;
    const struct tdc_row *held = row->row;
    if (held->origin != TDC_ORIGIN_NONE)
        tdc_reason_add(reasons, TDC_COLOUR_RED, origins[held->origin]);
    tdc_severity severity = tdc_sound_severity(row);
    reasons->colour = severity >= TDC_SEVERITY_DIFFERENT ? TDC_COLOUR_RED
                      : severity == TDC_SEVERITY_LOOK    ? TDC_COLOUR_YELLOW
                                                         : TDC_COLOUR_NONE;
}

const struct tdc_highlight_rules tdc_highlight_sound = {
    .repeat_reasons = false,
    .row = colour_row,
};
