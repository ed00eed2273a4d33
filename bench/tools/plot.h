/* plot.h - speed by tensor size as bars of characters. */
#ifndef TDC_BENCH_PLOT_H
#define TDC_BENCH_PLOT_H

#include <stddef.h>
#include <stdint.h>

struct tdc_plot_bar {
    char group[16];    /* "f32"; printed where it changes */
    uint64_t size;     /* of a tensor, bytes */
    double value, top; /* GB/s of the comparison and of the bare read */
};

/* Prints one line per bar: # for the value, dots up to the top, all on one scale. */
void tdc_plot_print(const struct tdc_plot_bar *bars, size_t count);

/* "4K", "64M"; bytes that are no round number stay bytes. */
void tdc_size_text(uint64_t size, char text[24]);

#endif
