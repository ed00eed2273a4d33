/* window_arguments.h - what convolutions and poolings read from their arguments. */
#ifndef TDC_REFERENCE_WINDOW_ARGUMENTS_H
#define TDC_REFERENCE_WINDOW_ARGUMENTS_H

#include "reference/primitives/window/windows.h"

/* One number for all n dimensions or one for each; `least` is the smallest allowed. */
void tdc_read_sizes(tdc_evaluation *e, const char *name, unsigned n, int64_t *to, int64_t least);
/* Sets w->count from all else. */
void tdc_count_windows(tdc_evaluation *e, struct tdc_windows *w, bool ceil_mode);
/* kernel_size, stride (the kernel's when absent), padding and dilation, over an image of `size`. */
void tdc_read_window(tdc_evaluation *e, struct tdc_windows *w, const int64_t *size, bool ceil_mode);

/* Adds the batch dimension when it is missing, and takes it away again. */
tdc_array *tdc_batched(tdc_evaluation *e, tdc_array *x, unsigned n, bool *single);
void tdc_give_batched(tdc_evaluation *e, tdc_array *y, bool single);

#endif
