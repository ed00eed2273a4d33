/*
 * convolution.h - the three products of a convolution and its gradients.
 *
 * `image` stands for [samples, groups * channels, size...], `map` for [samples, groups * rows,
 * windows], weights for [groups * rows, channels, kernel...].
 */
#ifndef TDC_REFERENCE_CONVOLUTION_H
#define TDC_REFERENCE_CONVOLUTION_H

#include "reference/primitives/window/taps.h"

struct tdc_convolution;
/* One of the products, of an image or a map and weights, or of both; `to` comes zeroed. */
typedef void tdc_conv_product(const struct tdc_convolution *c, const double *x, const double *y,
                              double *to);

struct tdc_convolution {
    tdc_conv_product *correlate; /* map = weight * unfolded image */
    tdc_conv_product *spread;    /* image = folded(weight^T * map) */
    tdc_conv_product *weigh;     /* weight = map * unfolded image^T */
    struct tdc_windows w;
    int64_t samples, groups, channels, rows; /* channels and rows of one group */
    int64_t kernels, depth, windows, plane;
    int teams; /* threads that may work at once */
    /* float64: packed from images and maps */
    const struct tdc_tile *tile;
    struct tdc_taps taps;
    struct tdc_phase *phases;
    int64_t phase_count;
    double *packed, *turned; /* weights */
    double *strips;          /* strip_size elements per thread */
    int64_t strip_size;
    double *partial; /* sums of weights by `parts`, where there are several */
    int64_t parts;
    /* narrow: pieces are unfolded, small enough to stay in the cache */
    int64_t piece, pieces;
    double *room;
};

/* Chooses the products and takes the memory they need: in float64, with the same bits for any
 * number of threads; or with sums in float32. */
void tdc_plan_products(tdc_evaluation *e, struct tdc_convolution *c);
void tdc_plan_narrow_products(tdc_evaluation *e, struct tdc_convolution *c);

#endif
