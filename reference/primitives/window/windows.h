/*
 * windows.h - the windows a convolution or a pooling slides over one to three spatial dimensions.
 *
 * Images are [samples, channels, size...]. An unfolded image has one row for each channel and
 * kernel element and one column for each window: [channels * kernel, windows].
 */
#ifndef TDC_REFERENCE_WINDOWS_H
#define TDC_REFERENCE_WINDOWS_H

#include "reference/evaluation.h"

struct tdc_windows {
    unsigned n; /* spatial dimensions */
    int64_t size[3], kernel[3], stride[3], before[3], after[3], dilation[3];
    int64_t count[3]; /* windows */
};

/* Products of the n entries; INT64_MAX when that overflows. */
int64_t tdc_window_product(const struct tdc_windows *w, const int64_t *v);

/* Windows [from, to) of kernel element k over one channel's plane; zeros where a window leaves it.
 */
void tdc_unfold_row(const struct tdc_windows *w, const double *plane, int64_t k, int64_t from,
                    int64_t to, double *row);
/* Columns [from, to) of some channels unfolded; zeros where a window leaves the image. */
void tdc_unfold_columns(const struct tdc_windows *w, const double *image, int64_t channels,
                        int64_t from, int64_t to, double *columns);
/* The adjoint: adds the columns to the image they were taken from, each sum rounded to `sums`. */
void tdc_fold_columns(const struct tdc_windows *w, const double *columns, int64_t channels,
                      int64_t from, int64_t to, double *image, tdc_dtype sums);

/* [N, C, size...] to [N, C * kernel, windows] and back, summing. */
tdc_array *tdc_unfold(tdc_evaluation *e, tdc_array *x, const struct tdc_windows *w);
tdc_array *tdc_fold(tdc_evaluation *e, tdc_array *x, const struct tdc_windows *w);

/*
 * Correlation of images with kernels, weight [groups * rows, channels / groups, kernel...], giving
 * [N, groups * rows, windows]; and its adjoint, from [N, groups * rows, windows] to images of
 * `channels` channels. Unfolds a bounded piece at a time.
 */
tdc_array *tdc_convolve(tdc_evaluation *e, tdc_array *x, tdc_array *weight,
                        const struct tdc_windows *w, int64_t groups);
tdc_array *tdc_convolve_back(tdc_evaluation *e, tdc_array *x, tdc_array *weight,
                             const struct tdc_windows *w, int64_t groups);

#endif
