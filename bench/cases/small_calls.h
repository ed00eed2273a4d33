/* small_calls.h - a dump of many API calls on small tensors, for measuring precheck. */
#ifndef TDC_BENCH_SMALL_CALLS_H
#define TDC_BENCH_SMALL_CALLS_H

#include "tdcmp.h"

/*
 * Writes folder/dump.json of a MindSpore dump (task tensor) and its files: `calls` calls of mint
 * functions on float32 matrices of some hundred elements, forward and, for every other one,
 * backward; the recorded results are the reference's, rounded. The folder must exist and be empty.
 */
tdc_status tdc_small_calls_make(const char *folder, int calls, struct tdc_error *error);

#endif
