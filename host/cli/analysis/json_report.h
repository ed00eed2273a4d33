/*
 * json_report.h - a report as one json object on the standard output, a member a line.
 *
 * Written in the order of the calls. Names are NULL for elements of lists. Running out of memory is
 * told once, by the print.
 */
#ifndef TDC_CLI_JSON_REPORT_H
#define TDC_CLI_JSON_REPORT_H

#include <stdint.h>

#include "io/base/text.h"

struct tdc_json_report {
    struct tdc_text text;
    int depth;
    bool begun; /* the list or object that is open has a member */
};

/* An object with its first two members. */
void tdc_json_report_start(struct tdc_json_report *report, const char *schema);
/* '{' or '['. */
void tdc_json_report_open(struct tdc_json_report *report, const char *name, char bracket);
void tdc_json_report_close(struct tdc_json_report *report, char bracket);
/* text may be NULL: null */
void tdc_json_report_text(struct tdc_json_report *report, const char *name, const char *text);
void tdc_json_report_number(struct tdc_json_report *report, const char *name, uint64_t number);
void tdc_json_report_bool(struct tdc_json_report *report, const char *name, bool value);
/* Closes the object, prints it and frees the report; false when there was no memory for it. */
bool tdc_json_report_print(struct tdc_json_report *report);

#endif
