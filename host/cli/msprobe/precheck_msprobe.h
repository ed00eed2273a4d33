/* precheck_msprobe.h - the precheck in msprobe's words of 26.2. */
#ifndef TDC_CLI_PRECHECK_MSPROBE_H
#define TDC_CLI_PRECHECK_MSPROBE_H

#include <stdbool.h>

/* Parses argv[0..argc), the words after `acc_check` or `multi_acc_check`, and does the work. */
int tdc_precheck_words26(const char *program, int argc, char **argv, bool multi, bool pytorch);

#endif
