/*
 * anon_memory.h - how much memory of its own a piece of work takes at its peak.
 *
 * Counts anonymous pages (RssAnon): what the process allocated and touched. Pages of mapped files
 * belong to the page cache and do not count; getrusage counts them, which is why it is of no use
 * here.
 */
#ifndef TDC_BENCH_ANON_MEMORY_H
#define TDC_BENCH_ANON_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>

#include "tdcmp.h"

struct tdc_anon_watch {
    pthread_t thread;
    atomic_bool stop;
    bool running;
    uint64_t before, peak; /* bytes */
};

/* Anonymous bytes of this process now; 0 when the system does not say. */
uint64_t tdc_anon_bytes(void);

/* Gives back what malloc holds in reserve, then looks every half millisecond in a thread of its
 * own: for runs that are not timed. */
void tdc_anon_watch_start(struct tdc_anon_watch *watch);
/* Returns the bytes the peak was above the start. */
uint64_t tdc_anon_watch_stop(struct tdc_anon_watch *watch);

#endif
