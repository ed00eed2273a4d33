/* progress_line.h - what the progress display says; private to progress.c. No clock, no terminal.
 */
#ifndef TDC_TERMINAL_PROGRESS_LINE_H
#define TDC_TERMINAL_PROGRESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdc_progress_view {
    const char *label;
    uint64_t rows;
    uint64_t total_rows;
    uint64_t bytes;
    uint64_t total_bytes; /* 0: rows measure the work */
    double seconds;       /* since the start */
};

/* Room enough for any line. */
#define TDC_PROGRESS_LINE 512

/* Share of the work that is done, 0 to 1. */
double tdc_progress_share(const struct tdc_progress_view *view);

/* "comparing [=====>    ]  52%  1234/2400 rows  1.2/2.3 GB  0.85 GB/s  0:01:12 left" in at most
 * width columns: the last parts are dropped first, the bar shrinks. Terminated, no line end.
 * colour: escape sequences around the bar, which take no columns. Returns the length. */
size_t tdc_progress_bar(const struct tdc_progress_view *view, size_t width, bool colour,
                        char line[TDC_PROGRESS_LINE]);
/* The same without bar and width, ended by "\n". */
size_t tdc_progress_plain(const struct tdc_progress_view *view, char line[TDC_PROGRESS_LINE]);

/* Is it time for another plain line? Both ten seconds and a tenth of the work must have passed. */
bool tdc_progress_plain_due(double seconds_since, double share_since);

#endif
