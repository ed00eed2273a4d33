/*
 * complex_parts.h - complex tensors: pairs of float64 numbers.
 *
 * A complex tensor is an array whose last dimension of two holds the real and the imaginary part,
 * with `complex` set: what view_as_real shows. A gradient has the same form; its parts are the
 * derivatives by the two parts, which is the frameworks' convention.
 *
 * An operator does not meet complex arrays unawares: a call with one is computed by another table
 * (tdc_complex_variant), and is refused when its name is not there.
 */
#ifndef TDC_REFERENCE_COMPLEX_PARTS_H
#define TDC_REFERENCE_COMPLEX_PARTS_H

#include "kernels/dtype.h"
#include "reference/evaluation.h"

struct tdc_parts {
    tdc_array *re, *im; /* of one shape; im is NULL for real numbers */
};

/* One of the two in the last dimension, as a real tensor. */
tdc_array *tdc_part(tdc_evaluation *e, tdc_array *x, int which);
struct tdc_parts tdc_split(tdc_evaluation *e, tdc_array *x);
/* Broadcast to one shape; a NULL part is zero. */
tdc_array *tdc_join(tdc_evaluation *e, struct tdc_parts parts);
struct tdc_parts tdc_parts_argument(tdc_evaluation *e, const char *name);
/* Gives a complex tensor, or a real one when im is NULL. */
void tdc_give_parts(tdc_evaluation *e, struct tdc_parts parts);

#endif
