/* call_outcome.h - what remains of a checked call until it is written: texts and a few numbers. */
#ifndef TDC_PRECHECK_CALL_OUTCOME_H
#define TDC_PRECHECK_CALL_OUTCOME_H

#include "host/precheck/check/check.h"

struct tdc_call_outcome {
    struct tdc_text details, result, json, log;
    struct tdc_text rows; /* what options->row was told, for another process */
    char api[128];
    tdc_check statuses[TDC_DIRECTIONS];
    bool recorded[TDC_DIRECTIONS]; /* the dump has a record */
    bool unsupported;
    uint64_t slots, failed_slots;
    double worst_ulp, worst_abs; /* negative: nothing measured */
    double error, limit;         /* the largest beyond a bound, and that bound; negative: none is */
    struct tdc_reason reasons[TDC_DIRECTIONS]; /* of a SKIP */
    bool no_memory;                            /* the system has none left, or a text was lost */
    bool unreadable;                           /* a tensor file exists and cannot be read */
};

void tdc_call_outcome_init(struct tdc_call_outcome *outcome);
void tdc_call_outcome_free(struct tdc_call_outcome *outcome);
/* Takes over what the check has found. */
void tdc_call_outcome_take(struct tdc_call_outcome *outcome, const struct tdc_call_check *check);

/* Hands each judged slot to options->row, if there is one. */
void tdc_call_tell_rows(const struct tdc_call_check *check);

/* The verdict of a call: the worst of its directions, SKIP only when nothing else was judged. */
tdc_check tdc_call_verdict(const tdc_check statuses[TDC_DIRECTIONS]);

#endif
