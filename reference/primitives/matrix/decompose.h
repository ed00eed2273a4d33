/*
 * decompose.h - factors of one dense matrix in float64, row after row in memory.
 *
 * They are backward stable: the factors are those of a matrix that is within about n 2^-53 of the
 * given one, in norm. What the factors leave open (signs, bases of equal singular values) is chosen
 * here as it comes; ops/ align it with what was recorded.
 */
#ifndef TDC_REFERENCE_DECOMPOSE_H
#define TDC_REFERENCE_DECOMPOSE_H

#include "reference/evaluation.h"

/* a[m, n] = u[m, m] diag(s[k]) v[n, n]^T with k = min(m, n), s falling; by Jacobi's rotations,
 * which find small singular values to their own digits. u and v are whole orthogonal matrices. */
void tdc_singular_values(tdc_evaluation *e, const double *a, int64_t m, int64_t n, double *u,
                         double *s, double *v);
/* The symmetric matrix of a[n, n]'s lower triangle (or its upper) = v diag(w) v^T, w rising. */
void tdc_symmetric_values(tdc_evaluation *e, const double *a, int64_t n, bool upper, double *w,
                          double *v);
/* Householder's reflections as LAPACK packs them: r on and above the diagonal of a[m, n], the
 * reflectors below it, their factors in tau[min(m, n)]. In place. */
void tdc_reflect(double *a, int64_t m, int64_t n, double *tau);
/* q[m, columns] of these reflections. */
void tdc_reflected(const double *packed, int64_t m, int64_t n, const double *tau, int64_t columns,
                   double *q);
/* a[m, n] = p l u with partial pivoting, in place; pivots[i] is the row exchanged with row i. */
void tdc_eliminate(double *a, int64_t m, int64_t n, int64_t *pivots);
/* l of a[n, n] = l l^T from its lower triangle. Gives 0, or the order of the first minor that is
 * not positive. */
int64_t tdc_cholesky(const double *a, int64_t n, double *l);
/* The orthogonal matrix nearest to a[n, n], in place. */
void tdc_nearest_orthogonal(tdc_evaluation *e, double *a, int64_t n);

#endif
