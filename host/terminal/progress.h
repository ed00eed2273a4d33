/*
 * progress.h - how far a run is, on stderr: one redrawn line on a terminal, a plain line now and
 * then elsewhere.
 */
#ifndef TDC_TERMINAL_PROGRESS_H
#define TDC_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tdc_progress;

/* NULL when quiet or out of memory; all calls accept NULL. total_bytes may be 0: then rows count.
 * tdc_progress_add may be called from any thread until tdc_progress_stop. */
struct tdc_progress *tdc_progress_start(const char *label, uint64_t total_rows,
                                        uint64_t total_bytes, bool quiet);
/* What the line says once all rows are done and the work is not: "writing". The text must outlive
 * the progress. */
void tdc_progress_after(struct tdc_progress *progress, const char *label);
void tdc_progress_add(struct tdc_progress *progress, uint64_t rows, uint64_t bytes);
void tdc_progress_stop(struct tdc_progress *progress);

#endif
