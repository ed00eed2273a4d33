/*
 * measure.h - how long things take: each several times, in turns, the fastest counts.
 *
 * Turns, because the speed of a machine drifts: works compared with each other run side by side.
 * The fastest, because everything that disturbs a run only ever makes it slower.
 */
#ifndef TDC_BENCH_MEASURE_H
#define TDC_BENCH_MEASURE_H

#include "io/base/clock.h"
#include "tdcmp.h"

/* Parts of a run that are timed on their own. */
#define TDC_LAPS 6

/* Of all processors, for all threads of this process: other processes do not stretch it as they do
 * the seconds on the clock. */
double tdc_processor_seconds(void);

struct tdc_work {
    /* Does it once and fills the seconds of the laps it has; laps come zeroed. */
    tdc_status (*run)(void *context, double laps[TDC_LAPS], struct tdc_error *error);
    void *context;
    /* results */
    double best[TDC_LAPS]; /* the fastest of each lap, which may be of different runs */
    unsigned runs;
};

/*
 * Runs all works in turns, `repeat` times, but starts no further round after `budget` seconds. The
 * first failure ends it. cancel may be NULL.
 */
tdc_status tdc_measure(struct tdc_work *works, size_t count, unsigned repeat, double budget,
                       const struct tdc_cancel *cancel, struct tdc_error *error);

#endif
