/* kernel_msprobe.h - kernel dumps and flat npy folders in msprobe's words. */
#ifndef TDC_CLI_KERNEL_MSPROBE_H
#define TDC_CLI_KERNEL_MSPROBE_H

#include "io/text/json.h"
#include "tdcmp.h"

/* Whether compare.json asks for one of them; *code is the exit code then. */
bool tdc_msprobe_kernel_dumps(const struct tdc_json *config, const char *npu, const char *bench,
                              const char *output, const struct tdc_options *options, int *code);

/* `compare --rank 0,1 [--step 0]` of msprobe 26; the lists may be NULL. */
int tdc_msprobe_kernel_ranks(const char *npu, const char *bench, const char *output,
                             const char *ranks, const char *steps, tdc_format format,
                             const struct tdc_options *options);

#endif
