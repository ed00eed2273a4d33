/* made_book.h - workbooks made of given XML, so that tests can make them as others do, or wrong. */
#ifndef TDC_TESTS_MADE_BOOK_H
#define TDC_TESTS_MADE_BOOK_H

#include <stdbool.h>
#include <string.h>

#include "io/table/zip_writer.h"

#define BOOK_RELATION "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

static const char book_sheets[] =
    "<?xml version=\"1.0\"?><workbook xmlns:r=\"" BOOK_RELATION "\"><sheets>"
    "<sheet name=\"one\" sheetId=\"1\" r:id=\"rId7\"/><sheet name='two' sheetId='2' r:id='rId8'/>"
    "</sheets></workbook>";
static const char book_relations[] =
    "<Relationships>"
    "<Relationship Id=\"rId1\" Type=\"" BOOK_RELATION "/styles\" Target=\"styles.xml\"/>"
    "<Relationship Id=\"rId2\" Type=\"" BOOK_RELATION "/sharedStrings\" Target=\"texts.xml\"/>"
    "<Relationship Id=\"rId7\" Type=\"" BOOK_RELATION "/worksheet\" Target=\"sheets/a.xml\"/>"
    "<Relationship Id=\"rId8\" Type=\"" BOOK_RELATION "/worksheet\" Target=\"/xl/b.xml\"/>"
    "</Relationships>";
static const char book_strings[] =
    "<sst><si><t>Name</t></si><si><r><t>two </t></r><r><rPh><t>aloud</t></rPh><t>parts</t></r></si>"
    "<si><t xml:space=\"preserve\"> &lt;&#65;&#x4f60;_x0009__x005F_x0041_&amp;</t></si></sst>";

struct book_part {
    const char *name, *content;
    size_t length;
};

/* False when a write failed. */
static inline bool make_book(int fd, const struct book_part *parts, size_t count)
{
    struct tdc_zip_writer zip;
    bool whole = tdc_zip_start(&zip, fd, count);
    for (size_t i = 0; whole && i < count; i++) {
        tdc_zip_begin(&zip, parts[i].name);
        whole = tdc_zip_put(&zip, parts[i].content, parts[i].length) == 0 && tdc_zip_end(&zip) == 0;
    }
    whole = whole && tdc_zip_finish(&zip) == 0;
    tdc_zip_free(&zip);
    return whole;
}

/* With these texts and this first sheet. */
static inline bool make_book_of(int fd, const char *sheet, size_t length)
{
    struct book_part parts[] = {
        {"xl/sheets/a.xml", sheet, length},
        {"xl/workbook.xml", book_sheets, sizeof book_sheets - 1},
        {"xl/_rels/workbook.xml.rels", book_relations, sizeof book_relations - 1},
        {"xl/texts.xml", book_strings, sizeof book_strings - 1},
    };
    return make_book(fd, parts, sizeof parts / sizeof *parts);
}

#endif
