/* parts.h - the files that make the page, as they lie in this folder; in a C file that is made from
 * them (io/CMakeLists.txt). */
#ifndef TDC_IO_HTML_PARTS_H
#define TDC_IO_HTML_PARTS_H

#include <stddef.h>

struct tdc_html_part {
    const char *name; /* "report.html" */
    const char *text;
    const char *sha256; /* of the text, 64 hexadecimal digits */
};

extern const struct tdc_html_part tdc_html_parts[];
extern const size_t tdc_html_part_count;

#endif
