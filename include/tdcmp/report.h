/* report.h - the results of a run as one HTML page. */
#ifndef TDCMP_REPORT_H
#define TDCMP_REPORT_H

#include "tdcmp/dump.h"
#include "tdcmp/precheck.h"
#include "tdcmp/table.h"

TDC_INTERFACE_BEGIN

/* Rows that a page holds. Of more than these it has those that are not the same, worst first, and
 * the numbers of the others by module. */
#define TDC_REPORT_ROWS 200000u

typedef struct tdc_html_report tdc_html_report;

/* Bits of tdc_html_report_options.flags. */
enum {
    TDC_REPORT_ALLOW_UNMATCHED = 1 /* rows without a partner do not count for the answer */
};

struct tdc_html_report_options {
    size_t size; /* of this struct: set by tdc_html_report_options_init */
    unsigned flags;
    int threads;         /* to pack with; 0: as many as the machine has */
    size_t rows;         /* that the page holds at most; TDC_REPORT_ROWS */
    unsigned classes;    /* rows of these alone: bits 1 << tdc_row_class; 0: all */
    const char *command; /* that made it, to be shown; NULL: none */
    const char *time;    /* when, to be shown; NULL: not told */
};

void tdc_html_report_options_init(struct tdc_html_report_options *options, size_t size);

tdc_status tdc_html_report_new(const struct tdc_html_report_options *options,
                               tdc_html_report **report, struct tdc_error *error);
void tdc_html_report_free(tdc_html_report *report);

/* All rows of a compared table, which may be freed afterwards. csv: a file that has all of them
 * too, for the page to name; NULL: none. */
tdc_status tdc_html_report_add_table(tdc_html_report *report, const struct tdc_task *task,
                                     tdc_table *table, const char *csv, struct tdc_error *error);
/* A comparison that could not be done. */
tdc_status tdc_html_report_add_failure(tdc_html_report *report, const struct tdc_task *task,
                                       const char *reason, struct tdc_error *error);

/* What tdc_match_suggest returned, to be shown beside what has no partner. */
tdc_status tdc_html_report_add_suggestion(tdc_html_report *report, const char *yaml,
                                          struct tdc_error *error);

/* A slot that was judged: for tdc_precheck_options.row, from any thread. Out of memory is told by
 * the next function that can fail. */
void tdc_html_report_precheck_row(tdc_html_report *report, const struct tdc_precheck_row *row);
/* A precheck that has run; the slots since the last one are its. dump: path of its dump.json. */
tdc_status tdc_html_report_add_precheck(tdc_html_report *report, const char *dump,
                                        const tdc_precheck *precheck, struct tdc_error *error);

/* Writes the page; complete or not at all. flags: of tdc_output. */
tdc_status tdc_html_report_write(tdc_html_report *report, const char *path, unsigned flags,
                                 struct tdc_error *error);

TDC_INTERFACE_END
#endif
