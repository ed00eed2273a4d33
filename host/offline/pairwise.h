/*
 * pairwise.h - sums of float32 numbers as numpy adds them up: blocks of 128, added pairwise.
 *
 * The order of additions depends on the number of elements alone, so a sum can be fed piece by
 * piece; it is the same to the bit as numpy's of the whole array.
 */
#ifndef TDC_HOST_PAIRWISE_H
#define TDC_HOST_PAIRWISE_H

#include <stddef.h>
#include <stdint.h>

#define TDC_PAIRWISE_BLOCK 128
#define TDC_PAIRWISE_DEPTH 64 /* halves until a block is left, of any number of elements */

struct tdc_pairwise {
    /* halves under way: elements of both, and the sum of the first once it is there */
    struct {
        uint64_t count;
        float left;
        int done; /* of its two halves */
    } halves[TDC_PAIRWISE_DEPTH];
    unsigned depth;
    float block[TDC_PAIRWISE_BLOCK];
    size_t filled, wanted; /* elements of the block under way; 0 wanted: everything is added */
    float sum;
};

/* Of so many elements, at least one. */
void tdc_pairwise_start(struct tdc_pairwise *sum, uint64_t count);
void tdc_pairwise_add(struct tdc_pairwise *sum, const float *values, size_t count);
/* When all elements were added. */
float tdc_pairwise_get(const struct tdc_pairwise *sum);

#endif
