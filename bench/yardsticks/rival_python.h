/* rival_python.h - Python's json.load of the two dump.json: what reading alone costs elsewhere. */
#ifndef TDC_BENCH_RIVAL_PYTHON_H
#define TDC_BENCH_RIVAL_PYTHON_H

#include "bench/tools/measure.h"

struct tdc_python_rival {
    const char *npu, *bench; /* json files */
};

/* True when there is a python3 that runs. */
bool tdc_python_there(void);
/* For struct tdc_work; laps[0]: seconds of both json.load, without the start of Python. */
tdc_status tdc_python_load(void *rival, double laps[TDC_LAPS], struct tdc_error *error);

#endif
