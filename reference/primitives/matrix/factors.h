/*
 * factors.h - decompositions of batches of matrices, with their derivatives.
 *
 * Factors are unique only up to signs, or bases where values are equal. `choice` are tensors that
 * were recorded for the same factors, or NULL: what is open is settled so that the factors come as
 * close to them as they can, and what is judged then is whether the recorded ones are factors.
 */
#ifndef TDC_REFERENCE_FACTORS_H
#define TDC_REFERENCE_FACTORS_H

#include "reference/evaluation.h"

struct tdc_singular {
    tdc_array *u, *s, *v; /* [.., m, k or m], [.., k], [.., n, k or n]; x = u diag(s) v^T */
};
struct tdc_singular tdc_svd(tdc_evaluation *e, tdc_array *x, bool whole, const tdc_array *choice_u,
                            const tdc_array *choice_v);
struct tdc_symmetric {
    tdc_array *w, *v; /* rising */
};
struct tdc_symmetric tdc_eigh(tdc_evaluation *e, tdc_array *x, bool upper, const tdc_array *choice);
struct tdc_orthogonal {
    tdc_array *q, *r;
};
struct tdc_orthogonal tdc_qr(tdc_evaluation *e, tdc_array *x, bool whole,
                             const tdc_array *choice_r);
/* l l^T = x; *info gets int32 zeros, or the order of a minor that is not positive. */
tdc_array *tdc_lower_root(tdc_evaluation *e, tdc_array *x, tdc_array **info);
/* l and u packed in one matrix; pivots from 1 as LAPACK counts, int32. */
tdc_array *tdc_lu(tdc_evaluation *e, tdc_array *x, tdc_array **pivots);

/* The last two dimensions exchanged. */
tdc_array *tdc_turned(tdc_evaluation *e, tdc_array *x);
/* Elements on and below the diagonal `k`, or on and above it; the others are zero. */
tdc_array *tdc_below(tdc_evaluation *e, tdc_array *x, int64_t k);
tdc_array *tdc_above(tdc_evaluation *e, tdc_array *x, int64_t k);
/* Ones on the diagonal, [n, n]. */
tdc_array *tdc_unit_matrix(tdc_evaluation *e, int64_t n);
/* Permutation matrices of pivots, [.., m, m]. */
tdc_array *tdc_permutation(tdc_evaluation *e, const tdc_array *pivots, int64_t m);
/* Diagonal elements as a vector, and a vector as columns' factors. */
tdc_array *tdc_columns_times(tdc_evaluation *e, tdc_array *x, tdc_array *factors);
bool tdc_is_matrix(const tdc_array *x);

#endif
