/* precision_compare_msprobe.h - `api_precision_compare` in msprobe's words of any year. */
#ifndef TDC_CLI_PRECISION_COMPARE_MSPROBE_H
#define TDC_CLI_PRECISION_COMPARE_MSPROBE_H

#include "tdcmp.h"

/* Parses argv[0..argc) and does the work. `program` begins the messages about wrong words. */
int tdc_precision_compare_words(const char *program, tdc_rules_id rules, int argc, char **argv);

#endif
