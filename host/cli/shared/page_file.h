/* page_file.h - the HTML page of a command that writes no tables. */
#ifndef TDC_CLI_PAGE_FILE_H
#define TDC_CLI_PAGE_FILE_H

#include "tdcmp.h"

/* A page to be filled, for the words of a command; argv[0] is its name. NULL, complained about,
 * when out of memory. */
tdc_html_report *tdc_page_new(int argc, char **argv, int threads);
/* Writes it as FOLDER/STEM_report_STAMP.html under a new name and tells that name on stdout, unless
 * it is to be quiet. False, complained about, when that cannot be done. */
bool tdc_page_write(tdc_html_report *report, const char *folder, const char *stem, bool quiet);

/* The value of an option --format that takes html alone. */
bool tdc_page_format(const char *value);

#endif
