/*
 * scratch.h - a temporary folder that does not outlive the command, and the signals that end it.
 *
 * A tree cannot be removed from a signal handler. So the first SIGINT, SIGTERM, SIGHUP or SIGPIPE
 * only sets a flag, which all long work looks at; the command then cleans up and dies of the
 * signal. A second one kills at once, unless it comes with the first: some senders reach a process
 * twice.
 */
#ifndef TDC_BENCH_SCRATCH_H
#define TDC_BENCH_SCRATCH_H

#include "tdcmp.h"

struct tdc_scratch {
    char path[4096];
};

/* Creates parent/tdcmp-bench-XXXXXX (mode 0700); parent NULL: $TMPDIR or /tmp. */
tdc_status tdc_scratch_open(const char *parent, struct tdc_scratch *scratch,
                            struct tdc_error *error);
/* Removes the folder and everything in it. Links are not followed. */
void tdc_scratch_close(const struct tdc_scratch *scratch);
/* Removes a file or folder below it, given relative to it. */
void tdc_scratch_remove(const struct tdc_scratch *scratch, const char *name);

/* From now on the flag catches signals; returns it. */
const struct tdc_cancel *tdc_interrupt_watch(void);
/* Dies of the signal that was caught, if there was one. */
void tdc_interrupt_obey(void);

#endif
