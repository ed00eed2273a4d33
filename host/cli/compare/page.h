/* page.h - what a run found, on one page; between the files of this folder. */
#ifndef TDC_CLI_COMPARE_PAGE_H
#define TDC_CLI_COMPARE_PAGE_H

#include "host/cli/compare/page_groups.h"

struct tdc_page {
    const struct tdc_run_request *request;
    const struct tdc_run *run;
    struct tdc_run_answer answer;
    size_t width; /* columns */
    bool colour;
    const struct tdc_groups *groups;
    bool levels; /* the rules give levels, and know origins */
};

/* An escape sequence, or "" where there are no colours. */
const char *tdc_paint(const struct tdc_page *page, const char *code);
#define TDC_PAINT_RED    "\x1b[31m"
#define TDC_PAINT_YELLOW "\x1b[33m"
#define TDC_PAINT_GREEN  "\x1b[32m"
#define TDC_PAINT_BOLD   "\x1b[1m"
#define TDC_PAINT_END    "\x1b[0m"

/* Number of a row in the files that were written, which may have some rows alone. */
size_t tdc_page_sheet_row(const struct tdc_page *page, const tdc_table *table, size_t row);
/* The same at the beginning of a line; "-" for a row that they do not have. */
void tdc_page_put_row(const struct tdc_page *page, const tdc_table *table, size_t row);
/* Where differences begin, by groups of dumps; or, where nothing begins, the rows that differ most.
 */
void tdc_page_starts(const struct tdc_page *page);
/* Rows without a partner, rows that could not be read, rows without data; dumps that could not be
 * compared. */
void tdc_page_lists(const struct tdc_page *page);

#endif
