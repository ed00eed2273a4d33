/*
 * slot_bound.h - the extended profile's verdict: is an element where correct arithmetic can be?
 *
 * An element passes when |t - b| <= 1.05 u |b| + max(error unit, 8 unit |b|) + q: b the float64
 * reference, not rounded, u the roundoff of the tested dtype (its last rounding), error and unit
 * the reference's own account of what an implementation loses before (reference/bounds.h), q what
 * vanishes below the smallest normal number. Where the reference has no error, t must be b rounded.
 */
#ifndef TDC_PRECHECK_SLOT_BOUND_H
#define TDC_PRECHECK_SLOT_BOUND_H

#include "reference/reference.h"

/* The element farthest beyond its bound, or nearest to it; the first of equals. */
struct tdc_bound_check {
    uint64_t beyond; /* elements that fail */
    int64_t worst;   /* -1: no elements */
    double error, bound;
    double ratio; /* error / bound; infinite when the bound is zero or only one side is finite */
};

/* What |t - b| may be for the reference b with that error. */
double tdc_element_bound(double b, double error, tdc_dtype dtype);
/* |t - b| over its bound; 0: t is right, infinite: it is not a number that arithmetic can explain.
 */
double tdc_element_ratio(double b, double t, double error, tdc_dtype dtype);

/* Both of one shape and floating. */
struct tdc_bound_check tdc_check_bound(const struct tdc_reference_tensor *reference,
                                       const struct tdc_reference_tensor *tested);

#endif
