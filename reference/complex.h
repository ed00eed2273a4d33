/*
 * complex.h - complex tensors: pairs of float64 numbers.
 *
 * A complex tensor is an array whose last dimension of two holds the real and the imaginary part,
 * with `complex` set: what view_as_real shows. A gradient has the same form; its parts are the
 * derivatives by the two parts, which is the frameworks' convention.
 *
 * An operator does not meet complex arrays unawares: a call with one is computed by another table
 * (tdc_complex_variant), and is refused when its name is not there.
 */
#ifndef TDC_REFERENCE_COMPLEX_H
#define TDC_REFERENCE_COMPLEX_H

#include "kernels/dtype.h"
#include "reference/primitives/primitives.h"

struct tdc_parts {
    array *re, *im; /* of one shape; im is NULL for real numbers */
};

struct tdc_parts tdc_split(evaluation *e, array *x);
/* Broadcast to one shape; a NULL part is zero. */
array *tdc_join(evaluation *e, struct tdc_parts parts);
struct tdc_parts tdc_parts_argument(evaluation *e, const char *name);
/* Gives a complex tensor, or a real one when im is NULL. */
void tdc_give_parts(evaluation *e, struct tdc_parts parts);

/* The row of the same name for complex arguments, NULL when there is none. A row without `compute`
 * moves or adds elements: f(a + i b) = f(a) + i f(b). */
const struct tdc_operator *tdc_complex_variant(const struct tdc_operator *definition);

/* sum over j of x[j] exp(sign 2 pi i j k / n) along the last dimension (fourier.c); x complex or
 * real, the result complex. sign is 1 or -1. */
array *tdc_transform(evaluation *e, array *x, int sign);

#endif
