/*
 * factors.h - decompositions of batches of matrices, with their derivatives.
 *
 * Factors are unique only up to signs, or bases where values are equal. `choice` are tensors that
 * were recorded for the same factors, or NULL: what is open is settled so that the factors come as
 * close to them as they can, and what is judged then is whether the recorded ones are factors.
 */
#ifndef TDC_REFERENCE_FACTORS_H
#define TDC_REFERENCE_FACTORS_H

#include "reference/primitives/primitives.h"

struct tdc_singular {
    array *u, *s, *v; /* [.., m, k or m], [.., k], [.., n, k or n]; x = u diag(s) v^T */
};
struct tdc_singular tdc_svd(evaluation *e, array *x, bool whole, const array *choice_u,
                            const array *choice_v);
struct tdc_symmetric {
    array *w, *v; /* rising */
};
struct tdc_symmetric tdc_eigh(evaluation *e, array *x, bool upper, const array *choice);
struct tdc_orthogonal {
    array *q, *r;
};
struct tdc_orthogonal tdc_qr(evaluation *e, array *x, bool whole, const array *choice_r);
/* l l^T = x; *info gets int32 zeros, or the order of a minor that is not positive. */
array *tdc_lower_root(evaluation *e, array *x, array **info);
/* l and u packed in one matrix; pivots from 1 as LAPACK counts, int32. */
array *tdc_lu(evaluation *e, array *x, array **pivots);

/* The last two dimensions exchanged. */
array *tdc_turned(evaluation *e, array *x);
/* Elements on and below the diagonal `k`, or on and above it; the others are zero. */
array *tdc_below(evaluation *e, array *x, int64_t k);
array *tdc_above(evaluation *e, array *x, int64_t k);
/* Ones on the diagonal, [n, n]. */
array *tdc_unit_matrix(evaluation *e, int64_t n);
/* Permutation matrices of pivots, [.., m, m]. */
array *tdc_permutation(evaluation *e, const array *pivots, int64_t m);
/* Diagonal elements as a vector, and a vector as columns' factors. */
array *tdc_columns_times(evaluation *e, array *x, array *factors);
bool tdc_is_matrix(const array *x);

#endif
