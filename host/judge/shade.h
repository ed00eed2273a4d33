/* shade.h - what both sets of colour rules ask of a row. */
#ifndef TDC_HOST_SHADE_H
#define TDC_HOST_SHADE_H

#include "host/judge/rules.h"

/* MaxAbsErr in tensor mode, Max diff in statistics mode. */
static inline struct tdc_value tdc_shade_error(tdc_mode mode, const struct tdc_shade_row *row)
{
    return row->row->values[mode == TDC_MODE_TENSOR ? (int)TDC_MAX_ABS : (int)TDC_DIFF];
}

/* The magnitudes of errors of an input and an output: both above 1, the output a decade larger. */
bool tdc_shade_decade(double input, double output);

#endif
