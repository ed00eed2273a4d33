/* precheck_summary.h - what a precheck of one dump found, for a person to read. */
#ifndef TDC_CLI_PRECHECK_SUMMARY_H
#define TDC_CLI_PRECHECK_SUMMARY_H

#include "tdcmp.h"

/* The page on stdout. top: APIs listed, 0 for as many as fit; verbose: speed and all files too. */
void tdc_print_precheck(const char *dump, const tdc_precheck *precheck, int top, bool verbose);

/* The paths of the files that were written, one a line. */
void tdc_print_precheck_files(const tdc_precheck *precheck);

#endif
