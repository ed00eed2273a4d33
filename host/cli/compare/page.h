/* page.h - what a run found, on one page; between the files of this folder. */
#ifndef TDC_CLI_COMPARE_PAGE_H
#define TDC_CLI_COMPARE_PAGE_H

#include "host/cli/shared/command.h"

struct tdc_page {
    const struct tdc_run_request *request;
    const struct tdc_run *run;
    struct tdc_run_answer answer;
    size_t width; /* columns */
    bool colour;
    bool levels; /* the rules give levels, and know origins */
};

/* An escape sequence, or "" where there are no colours. */
const char *tdc_paint(const struct tdc_page *page, const char *code);
#define TDC_PAINT_RED    "\x1b[31m"
#define TDC_PAINT_YELLOW "\x1b[33m"
#define TDC_PAINT_GREEN  "\x1b[32m"
#define TDC_PAINT_BOLD   "\x1b[1m"
#define TDC_PAINT_END    "\x1b[0m"

/* Name of a row: the test side's, or the ref's where there is none. */
const char *tdc_page_row_name(const struct tdc_run_comparison *comparison, size_t row);
/* "step0 rank3": what tells a comparison from the others of the run. At most `size` bytes. */
void tdc_page_label(const struct tdc_task *task, char *label, size_t size);

/* Where differences begin, by groups of dumps; or, where nothing begins, the rows that differ most.
 */
void tdc_page_starts(const struct tdc_page *page);
/* The comparison and the row to look at next; false when there is none. */
bool tdc_page_next(const struct tdc_page *page, const struct tdc_run_comparison **comparison,
                   size_t *row);

/* Rows without a partner, rows that could not be read, rows without data; dumps that could not be
 * compared. */
void tdc_page_lists(const struct tdc_page *page);

#endif
