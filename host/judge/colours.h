/* colours.h - the rules that colour rows: which reasons a row has to be red or yellow. */
#ifndef TDC_HOST_JUDGE_COLOURS_H
#define TDC_HOST_JUDGE_COLOURS_H

#include "host/judge/row.h"
#include "io/base/text.h"

/* A row as the colour rules see it. */
struct tdc_coloured_row {
    const struct tdc_row *row;
    const struct tdc_record *npu, *bench;
};

struct tdc_reasons {
    struct tdc_text red, yellow;
    tdc_colour colour; /* without a reason to tell: the row's own message says enough */
    bool once;         /* a reason given before is not repeated */
};

/* What the sound rules make of a row; its colour follows from it. */
tdc_severity tdc_sound_severity(const struct tdc_coloured_row *row);

void tdc_reason_add(struct tdc_reasons *reasons, tdc_colour colour, const char *text);

struct tdc_highlight_rules {
    bool repeat_reasons;
    void (*row)(tdc_mode mode, const struct tdc_coloured_row *row, struct tdc_reasons *reasons);
    /* an output with each input; NULL: rows are coloured alone */
    void (*pair)(tdc_mode mode, const struct tdc_coloured_row *input,
                 const struct tdc_coloured_row *output, struct tdc_reasons *reasons);
    /* after the pairs; may be NULL */
    void (*last)(tdc_mode mode, const struct tdc_coloured_row *row, struct tdc_reasons *reasons);
};

extern const struct tdc_highlight_rules tdc_highlight_compat, tdc_highlight_sound;

#endif
