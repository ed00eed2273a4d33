/* step_calls.h - between the files of a step. */
#ifndef TDC_BENCH_NETWORK_STEP_CALLS_H
#define TDC_BENCH_NETWORK_STEP_CALLS_H

#include "bench/network/step.h"

/* Zeroed memory of the step, or NULL and its failure. */
void *tdc_step_take(struct tdc_step *step, size_t size);
/* Uninitialised values. */
struct tdc_step_variable *tdc_step_variable(struct tdc_step *step, tdc_dtype dtype, unsigned rank,
                                            const int64_t *shape);
void tdc_step_note(struct tdc_step *step, struct tdc_step_event event);

#endif
