/* aligned.h - `tdcmp match TEST REF --align FILE`. */
#ifndef TDC_CLI_ALIGNED_H
#define TDC_CLI_ALIGNED_H

#include "tdcmp.h"

/* Prints a line for each logical tensor, only those that cannot be compared if `lonely`; returns
 * the exit code. */
int tdc_show_aligned(const struct tdc_options *options, const char *rules, int step, bool lonely,
                     const char *test, const char *ref);

#endif
