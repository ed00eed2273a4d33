/* parse.h - option values that several commands take. */
#ifndef TDC_CLI_PARSE_H
#define TDC_CLI_PARSE_H

#include "tdcmp.h"

/* "xlsx,csv" */
bool tdc_parse_formats(const char *list, unsigned *formats);
/* "sound", "compat" or "compat26" */
bool tdc_parse_rules(const char *name, tdc_rules_id *rules);
const char *tdc_name_of_rules(tdc_rules_id rules);
/* "auto", "mmap", "pread" or "direct" */
bool tdc_parse_io(const char *name, tdc_io *io);
/* "compat" or "extended" */
bool tdc_parse_profile(const char *name, tdc_profile *profile);
/* "auto", "none" or "tested" */
bool tdc_parse_rounding(const char *name, tdc_bench_round *rounding);
/* "cosine" or "pytorch" */
bool tdc_parse_standard(const char *name, tdc_standard *standard);
/* "auto", "recorded" or "execute" */
bool tdc_parse_tested(const char *name, tdc_tested *tested);
/* A finite number. */
bool tdc_parse_real(const char *text, double *number);
/* A whole number of at least `least`. */
bool tdc_parse_number(const char *text, int least, int *number);

#endif
