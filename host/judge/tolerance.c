#include "host/judge/tolerance.h"

#include <inttypes.h>
#include <stdio.h>

#include "host/judge/reason.h"

static bool is_judged(const struct tdc_row *row)
{
    return row->row_class >= TDC_ROW_IDENTICAL && row->row_class <= TDC_ROW_DIFFERENT;
}

void tdc_tolerance_judge(const struct tdc_tolerance *tolerance, const struct tdc_outcome *outcome,
                         struct tdc_row *row, struct tdc_text *message)
{
    char text[160];
    if (!is_judged(row))
        return;
    const struct tdc_value *cosine = &row->values[TDC_COSINE];
    bool beyond = tolerance->elements && outcome->beyond != 0;
    bool turned = tolerance->use_cosine && cosine->form == TDC_HOLDS_NUMBER &&
                  cosine->number < tolerance->cosine;
    if (beyond) {
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " elements beyond %g + %g * |ref|.",
                 outcome->beyond, outcome->sums.count, tolerance->atol, tolerance->rtol);
        tdc_sound_say_text(row, message, TDC_REASON_ELEMENTS, text);
    }
    if (turned) {
        snprintf(text, sizeof text, "Cosine below %g.", tolerance->cosine);
        tdc_sound_say_text(row, message, TDC_REASON_COSINE, text);
    }
    if (beyond || turned)
        row->row_class = TDC_ROW_DIFFERENT;
    else if (row->row_class == TDC_ROW_DIFFERENT)
        row->row_class = TDC_ROW_CLOSE;
}
