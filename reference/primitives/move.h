/* move.h - the same elements in another shape or order; any dtype. */
#ifndef TDC_REFERENCE_MOVE_H
#define TDC_REFERENCE_MOVE_H

#include "reference/evaluation.h"

tdc_array *tdc_reshape(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape);
/* Element (i, j, ...) of the result is x[offset + i * strides[0] + j * strides[1] + ...]; the
 * caller vouches for the range, and that no element is shown twice. Strides may be negative. */
tdc_array *tdc_view(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape,
                    const int64_t *strides, int64_t offset);
void tdc_strides(const tdc_array *x, int64_t strides[TDC_REFERENCE_RANK]);
tdc_array *tdc_permute(tdc_evaluation *e, tdc_array *x, const unsigned *order);
tdc_array *tdc_swap(tdc_evaluation *e, tdc_array *x, unsigned a, unsigned b);
tdc_array *tdc_expand(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape);
/* length elements of one dimension from start on, every step-th. */
tdc_array *tdc_slice(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t start, int64_t length,
                     int64_t step);
tdc_array *tdc_flip(tdc_evaluation *e, tdc_array *x, unsigned dim);
tdc_array *tdc_unsqueeze(tdc_evaluation *e, tdc_array *x, unsigned dim);
tdc_array *tdc_squeeze(tdc_evaluation *e, tdc_array *x, unsigned dim);
void tdc_broadcast_shape(tdc_evaluation *e, const tdc_array *a, const tdc_array *b, unsigned *rank,
                         int64_t shape[TDC_REFERENCE_RANK]);

/* Puts dimension dim last and back. */
tdc_array *tdc_dim_last(tdc_evaluation *e, tdc_array *x, unsigned dim);
tdc_array *tdc_dim_back(tdc_evaluation *e, tdc_array *x, unsigned dim);

#endif
