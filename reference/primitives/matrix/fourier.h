/* fourier.h - discrete Fourier transforms. */
#ifndef TDC_REFERENCE_FOURIER_H
#define TDC_REFERENCE_FOURIER_H

#include "reference/evaluation.h"

/* sum over j of x[j] exp(sign 2 pi i j k / n) along the last dimension (fourier.c); x complex or
 * real, the result complex. sign is 1 or -1. */
tdc_array *tdc_transform(tdc_evaluation *e, tdc_array *x, int sign);

#endif
