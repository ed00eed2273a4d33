/* parse.h - option values that several commands take. */
#ifndef TDC_CLI_PARSE_H
#define TDC_CLI_PARSE_H

#include "tdcmp.h"

/* "xlsx,csv" */
bool tdc_parse_formats(const char *list, unsigned *formats);
/* "sound" or "compat" */
bool tdc_parse_rules(const char *name, tdc_rules_id *rules);
/* "auto", "mmap", "pread" or "direct" */
bool tdc_parse_io(const char *name, tdc_io *io);
/* A whole number of at least `least`. */
bool tdc_parse_number(const char *text, int least, int *number);

#endif
