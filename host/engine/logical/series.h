/*
 * series.h - the error of a pair of tensors for each index of an axis: per token, head, expert.
 *
 * Sums of a slice are kept apart in float64 and grow in the order of the elements, from the chunks
 * that are compared anyway.
 */
#ifndef TDC_HOST_SERIES_H
#define TDC_HOST_SERIES_H

#include "kernels/pair.h"

struct tdc_series {
    const char *axis; /* its name */
    uint64_t length;  /* indices */
    uint64_t inner;   /* elements behind one index */
    struct tdc_series_sums {
        uint64_t count, finite;
        double nb, nn, bb, dd;
        double abs_max;
    } * sums; /* by index, zeroed */
    /* of a token axis, by index, else NULL: the sequence and the place in it */
    const uint32_t *sequence, *position;
    const struct tdc_series *next;
};

/* Adds `count` elements from `first` on, dense and in native order, to all series of the list. */
void tdc_series_add(const struct tdc_series *series, const struct tdc_pair_plan *plan,
                    uint64_t first, const void *n, const void *b, size_t count);

#endif
