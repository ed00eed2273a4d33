/* similarity_plot.h - a line over the steps, as SVG. */
#ifndef TDC_ANALYSIS_SIMILARITY_PLOT_H
#define TDC_ANALYSIS_SIMILARITY_PLOT_H

#include "io/base/text.h"

/* Similarities lie between 0 and 1; the axis shows the part of it that is needed. */
void tdc_similarity_plot(struct tdc_text *out, const char *title, const long *steps,
                         const double *similarities, size_t count);

#endif
