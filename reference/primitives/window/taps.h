/*
 * taps.h - an unfolded image as the right operand of a product, packed without being stored.
 *
 * A convolution meets elements of an image by places and taps: tap t of place p, a tuple of
 * coordinates, is the element at p * stride + offset[t], 0 where that lies outside. The forward
 * product of a convolution has windows for places and kernel elements for taps. Its adjoint has the
 * elements of the image for places, as many sets of them as the strides have residues, and for taps
 * the kernel elements that can meet them.
 */
#ifndef TDC_REFERENCE_TAPS_H
#define TDC_REFERENCE_TAPS_H

#include "reference/primitives/matrix/panels.h"
#include "reference/primitives/window/windows.h"

struct tdc_taps {
    unsigned n; /* spatial dimensions */
    int64_t count[3], stride[3], size[3];
    int64_t places, plane; /* products of count and of size */
    int64_t taps;
    int64_t (*offset)[3]; /* of each tap */
};

/* The taps of windows, one per kernel element; offsets are the arena's. */
struct tdc_taps tdc_window_taps(tdc_evaluation *e, const struct tdc_windows *w);

/* The elements of the image that are first + place * stride, by the kernel elements that meet them:
 * kernel[t] is the number of tap t. */
struct tdc_phase {
    struct tdc_taps taps;
    int64_t first[3];
    int64_t *kernel;
};

/* All phases that have taps and places, at most one for each kernel element; the arena's. */
struct tdc_phase *tdc_window_phases(tdc_evaluation *e, const struct tdc_windows *w, int64_t *count);

/* Places [place, place + places), at most a tile's columns, of the channels' taps [start, start +
 * depth), channel by channel; `to` gets tdc_strip_columns() * depth elements, and has room for
 * TDC_STRIP_SLACK more. */
#define TDC_STRIP_SLACK 32
void tdc_pack_places(const struct tdc_tile *t, const struct tdc_taps *taps, const double *image,
                     int64_t channels, int64_t place, int64_t places, int64_t start, int64_t depth,
                     double *to);

#endif
