#include "bench/tools/measure.h"

#include <time.h>

#include "io/base/error.h"

double tdc_processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static tdc_status run_once(struct tdc_work *work, struct tdc_error *error)
{
    double laps[TDC_LAPS] = {0};
    tdc_status status = work->run(work->context, laps, error);
    if (status != TDC_OK)
        return status;
    for (int i = 0; i < TDC_LAPS; i++)
        if (work->runs == 0 || laps[i] < work->best[i])
            work->best[i] = laps[i];
    work->runs++;
    return TDC_OK;
}

tdc_status tdc_measure(struct tdc_work *works, size_t count, unsigned repeat, double budget,
                       const struct tdc_cancel *cancel, struct tdc_error *error)
{
    double start = tdc_seconds();
    for (unsigned round = 0; round < repeat; round++) {
        if (round > 0 && tdc_seconds() - start > budget)
            break;
        for (size_t i = 0; i < count; i++) {
            if (tdc_cancel_is_set(cancel))
                return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
            tdc_status status = run_once(&works[i], error);
            if (status != TDC_OK)
                return status;
        }
    }
    return TDC_OK;
}
