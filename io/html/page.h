/*
 * page.h - one self-contained HTML file: the page of this folder with rows and facts in it.
 *
 * Scripts and styles stand in it as they lie here; what comes from dumps is packed (pack.h) and
 * never part of the markup. The page's policy allows the scripts and styles it has, by their
 * digests, and no request whatever.
 */
#ifndef TDC_IO_HTML_PAGE_H
#define TDC_IO_HTML_PAGE_H

#include "io/html/sheet.h"

struct tdc_html_page {
    const char *path;
    bool exclusive; /* fail if it exists; else it is replaced */
    const char
        *members; /* `"name": value` with commas between, of the JSON object with the facts */
    const struct tdc_html_sheet *const *sheets;
    size_t sheet_count;
    int threads; /* to pack with, at least 1 */
};

/* Complete or not at all. */
tdc_status tdc_html_write(const struct tdc_html_page *page, struct tdc_error *error);

#endif
