/* precheck_summary.h - what a precheck has found, on one screen. */
#ifndef TDC_CLI_PRECHECK_SUMMARY_H
#define TDC_CLI_PRECHECK_SUMMARY_H

#include "tdcmp.h"

void tdc_print_precheck(const char *dump, const tdc_precheck *precheck);

#endif
