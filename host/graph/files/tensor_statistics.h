/* tensor_statistics.h - one tensor by itself: extremes and sums in one pass. */
#ifndef TDC_HOST_TENSOR_STATISTICS_H
#define TDC_HOST_TENSOR_STATISTICS_H

#include "io/tensor/tensor_file.h"

/* In float64; of complex numbers the real parts. A NaN is in no extreme. */
struct tdc_tensor_statistics {
    double most, least; /* -inf and inf without elements */
    double sum, squares;
    bool nan;
};

/* False when the file shrank, the elements are no numbers or memory is out. Between tdc_guard_begin
 * and tdc_guard_end. */
bool tdc_tensor_statistics(const struct tdc_tensor *tensor,
                           struct tdc_tensor_statistics *statistics);

#endif
