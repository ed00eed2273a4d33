/* record_numbers.h - what the state, the statistics and the shape of a record say. */
#ifndef TDC_HOST_RECORD_NUMBERS_H
#define TDC_HOST_RECORD_NUMBERS_H

#include "host/dump/dump.h"

static inline bool tdc_state_is_output(uint8_t state)
{
    return state == TDC_STATE_OUTPUT || state == TDC_STATE_PARAMETERS_GRAD;
}

/* A statistic that is a number; false for texts and booleans. */
bool tdc_stat_number(const struct tdc_record *record, enum tdc_statistic which, double *number);

/* Elements of a shape text: 1 for "[]". */
double tdc_shape_elements(const char *shape);
/* "[2, 0]": a tensor without elements. */
bool tdc_shape_is_empty(const char *shape);

/* Root mean square by the record's Norm; false when it has none. */
bool tdc_record_rms(const struct tdc_record *record, double *rms);

#endif
