/* step_files.h - a computed step as a dump: what msprobe's collector writes of PyTorch. */
#ifndef TDC_BENCH_NETWORK_STEP_FILES_H
#define TDC_BENCH_NETWORK_STEP_FILES_H

#include "bench/network/step.h"
#include "bench/synthetic/synthetic_file.h"
#include "tdcmp.h"

enum tdc_step_level {
    TDC_STEP_L0 = 1, /* modules */
    TDC_STEP_L1 = 2, /* calls */
    TDC_STEP_MIX = 3
};

struct tdc_step_files {
    tdc_mode task;
    enum tdc_step_level level;
    enum tdc_synthetic_layout layout;
};

/* Writes dump.json, stack.json, construct.json and, for tensors, dump_tensor_data into an empty
 * folder. */
tdc_status tdc_step_write(const struct tdc_step *step, const struct tdc_step_files *files,
                          const char *folder, struct tdc_error *error);

#endif
