/*
 * progress.h - how far a run is, on stderr.
 *
 * On a terminal one line that is redrawn (bar, rows, GB, GB/s, time left); elsewhere a plain line
 * every ten seconds or tenth of the work, whichever is later. Nothing when quiet. NO_COLOR is
 * obeyed. tdc_progress_add may be called from any thread.
 */
#ifndef TDC_IO_PROGRESS_H
#define TDC_IO_PROGRESS_H

#include "tdcmp.h"

struct tdc_progress;

/* label: "comparing". total_bytes may be 0: then rows count. Returns NULL when quiet or out of
 * memory; all calls accept NULL. */
struct tdc_progress *tdc_progress_start(const char *label, uint64_t total_rows,
                                        uint64_t total_bytes, bool quiet);
void tdc_progress_add(struct tdc_progress *progress, uint64_t rows, uint64_t bytes);
/* Erases the bar, or ends the plain lines with a last one if there were any. No thread may add any
 * more. */
void tdc_progress_stop(struct tdc_progress *progress);

#endif
