/* gather.h - elements fetched from places and brought to them; any dtype. */
#ifndef TDC_REFERENCE_GATHER_H
#define TDC_REFERENCE_GATHER_H

#include "reference/evaluation.h"

/* result[i] = x[map[i]], or fill where map[i] < 0. The map must outlive the evaluation. */
tdc_array *tdc_mapped(tdc_evaluation *e, tdc_array *x, const int64_t *map, unsigned rank,
                      const int64_t *shape, double fill);
/* result = 0; result[map[i]] += x[i] where map[i] >= 0. */
tdc_array *tdc_scatter_add(tdc_evaluation *e, tdc_array *x, const int64_t *map, unsigned rank,
                           const int64_t *shape);
/* x with x[map[i]] = src[i]; of several writes to a place the last wins. */
tdc_array *tdc_overwritten(tdc_evaluation *e, tdc_array *x, tdc_array *src, const int64_t *map);
enum tdc_join {
    TDC_JOIN_SUM,
    TDC_JOIN_PRODUCT,
    TDC_JOIN_MEAN,
    TDC_JOIN_LARGEST,
    TDC_JOIN_SMALLEST
};
/* x with what src brings to its places joined to it (scatter_reduce.c); without `self`, what was
 * there is replaced by the first. map has no negative entries; both float64. */
tdc_array *tdc_scatter_joined(tdc_evaluation *e, enum tdc_join how, tdc_array *x, tdc_array *src,
                              const int64_t *map, bool self);
tdc_array *tdc_concatenate(tdc_evaluation *e, tdc_array *const *pieces, size_t count, unsigned dim);

#endif
