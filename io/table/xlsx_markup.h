/* xlsx_markup.h - elements of the XML in a workbook, one after the other; nothing is built. */
#ifndef TDC_IO_XLSX_MARKUP_H
#define TDC_IO_XLSX_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "io/base/text.h"

/* A tag and the text between it and the next one. */
struct tdc_markup {
    const char *at, *end; /* of what is left */
    const char *name;     /* without prefix */
    size_t name_length;
    const char *attributes, *attributes_end;
    const char *text, *text_end;
    bool closes; /* </name> */
    bool empty;  /* <name/> */
};

void tdc_markup_start(struct tdc_markup *markup, const char *text, size_t length);
/* False at the end. Declarations and comments are passed over. */
bool tdc_markup_next(struct tdc_markup *markup);
bool tdc_markup_is(const struct tdc_markup *markup, const char *name);
/* The raw value of an attribute (its name with prefix); false when there is none. */
bool tdc_markup_attribute(const struct tdc_markup *markup, const char *name, const char **value,
                          size_t *length);
/* Appends text with its entities, and the escapes _xHHHH_ of workbooks, resolved. */
void tdc_markup_add_text(struct tdc_text *out, const char *text, size_t length);

#endif
