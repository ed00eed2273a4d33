/* copy_view.h - elements picked out of a tensor by strides. */
#ifndef TDC_REFERENCE_COPY_VIEW_H
#define TDC_REFERENCE_COPY_VIEW_H

#include "reference/evaluation.h"

/* Element (i, j, ...) of a view is element offset + i * strides[0] + j * strides[1] + ... */
struct tdc_view_place {
    int64_t strides[TDC_REFERENCE_RANK];
    int64_t offset;
};

/* to, dense and of view's shape, gets the elements of `from` the view shows. Any dtype. */
void tdc_copy_view(const tdc_array *view, const struct tdc_view_place *place, const int64_t *from,
                   int64_t *to);
/* to[place] += from, for float64 views that show no element twice; sums rounded as `e` says. */
void tdc_add_view(const tdc_evaluation *e, const tdc_array *view,
                  const struct tdc_view_place *place, const double *from, double *to);

#endif
