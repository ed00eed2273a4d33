/*
 * reason.h - why a row got its verdict, or what else there is to say of it: a code for programs, a
 * text for people.
 *
 * Codes are part of the json of a comparison (docs/schema): one is added at the end, none is
 * renamed without another number of the schema.
 */
#ifndef TDC_HOST_REASON_H
#define TDC_HOST_REASON_H

#include "host/judge/row.h"
#include "io/base/text.h"

enum tdc_reason {
    /* of the two records */
    TDC_REASON_NO_TEST,
    TDC_REASON_NO_REF,
    TDC_REASON_SHAPE,
    TDC_REASON_DTYPE,
    TDC_REASON_REQUIRES_GRAD,
    TDC_REASON_FUZZY,
    /* of data that is missing */
    TDC_REASON_NO_TEST_FILE,
    TDC_REASON_NO_REF_FILE,
    TDC_REASON_EMPTY,
    TDC_REASON_EMPTY_FILE,
    TDC_REASON_UNREADABLE,
    TDC_REASON_NOT_NUMBERS,
    TDC_REASON_NO_STATISTICS,
    TDC_REASON_ONE_SIDED_STATISTICS,
    TDC_REASON_NO_DIGEST,
    /* of values */
    TDC_REASON_DISTANCE,
    TDC_REASON_WORST,
    TDC_REASON_VALUES,
    TDC_REASON_NOT_FINITE,
    TDC_REASON_TEST_NOT_FINITE,
    TDC_REASON_REF_NOT_FINITE,
    TDC_REASON_TEST_ZERO,
    TDC_REASON_REF_ZERO,
    TDC_REASON_BITS,
    TDC_REASON_ARGUMENT,
    TDC_REASON_ARGUMENT_TEXT,
    /* of what enters a run */
    TDC_REASON_PARAMETER,
    TDC_REASON_RUN_INPUT,
    /* of distances that say nothing */
    TDC_REASON_MASK,
    TDC_REASON_ZERO,
    TDC_REASON_SMALLEST_HALF,
    TDC_REASON_NOT_JUDGED,
    /* of a tolerance that was given */
    TDC_REASON_ELEMENTS,
    TDC_REASON_COSINE,
    TDC_REASONS
};

/* "distance_above_limit" */
const char *tdc_reason_code(enum tdc_reason reason);

/* Notes the reason in the row and adds its text to the message, after a blank if there is one
 * already; the same text only once. */
void tdc_sound_say(struct tdc_row *row, struct tdc_text *message, enum tdc_reason reason);
/* The same with a text of its own: numbers, names of files. */
void tdc_sound_say_text(struct tdc_row *row, struct tdc_text *message, enum tdc_reason reason,
                        const char *text);

#endif
