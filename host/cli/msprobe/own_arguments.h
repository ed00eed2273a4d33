/* own_arguments.h - what tdcmp adds to the words of both versions of msprobe's compare. */
#ifndef TDC_CLI_OWN_ARGUMENTS_H
#define TDC_CLI_OWN_ARGUMENTS_H

#include "host/cli/msprobe/argparse.h"
#include "host/cli/shared/command.h"

/* As they were given, each at its place among the command's arguments. */
struct tdc_own_arguments {
    const struct tdc_argument *rules, *format, *threads, *device, *no_fallback;
};

/* False after a line that says which values are wrong. */
bool tdc_apply_own_arguments(const struct tdc_own_arguments *own, struct tdc_run_request *request);

/* An argument whose file may be left out. */
struct tdc_mapping tdc_mapping_of(const struct tdc_argument *argument);

#endif
