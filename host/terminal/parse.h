/* parse.h - option values that several commands take. */
#ifndef TDC_CLI_PARSE_H
#define TDC_CLI_PARSE_H

#include "tdcmp.h"

/* The formats of results by name, which is the ending of their files. */
struct tdc_format_name {
    tdc_format format;
    const char *name;
};
#define TDC_FORMAT_NAMES ((size_t)4)
extern const struct tdc_format_name tdc_format_names[TDC_FORMAT_NAMES];
/* "xlsx,csv": bits of tdc_format, and this one for "html", which is a page of the whole run. */
#define TDC_FORMATS_PAGE 0x10000u
bool tdc_parse_formats(const char *list, unsigned *formats);
/* The same by the ending of a file; 0 for any other. */
unsigned tdc_format_of_file(const char *path);
/* "sound", "msprobe" or "msprobe26"; and the older "compat" and "compat26" */
#define TDC_RULES_NAMES "sound, msprobe or msprobe26"
bool tdc_parse_rules(const char *name, tdc_rules_id *rules);
/* "sound", "msprobe", "msprobe26" */
const char *tdc_name_of_rules(tdc_rules_id rules);
/* "auto", "mmap", "pread" or "direct" */
bool tdc_parse_io(const char *name, tdc_io *io);
/* The same names for the precheck, and its older "extended" for "sound". Sets the profile, and with
 * "msprobe26" the standards of 26. */
bool tdc_parse_precheck_rules(const char *name, struct tdc_precheck_options *options);
/* "auto", "none" or "tested" */
bool tdc_parse_rounding(const char *name, tdc_bench_round *rounding);
/* "cosine" or "pytorch" */
bool tdc_parse_standard(const char *name, tdc_standard *standard);
/* "auto", "recorded" or "execute" */
bool tdc_parse_tested(const char *name, tdc_tested *tested);
/* "different,unmatched": bits 1 << tdc_row_class of the levels in a list; blanks may be dashes. */
bool tdc_parse_levels(const char *list, unsigned *classes);
/* The value of --io-timeout, for the process; complains about any other. */
bool tdc_take_io_timeout(const char *seconds);
/* A finite number. */
bool tdc_parse_real(const char *text, double *number);
/* A whole number of at least `least`. */
bool tdc_parse_number(const char *text, int least, int *number);

#endif
