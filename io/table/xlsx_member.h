/* xlsx_member.h - an XML file inside a workbook, inflated while it is read; private to the reader.
 */
#ifndef TDC_IO_XLSX_MEMBER_H
#define TDC_IO_XLSX_MEMBER_H

#include <zlib.h>

#include "io/file/zip_reader.h"
#include "io/table/xml_reader.h"

#define TDC_INFLATED_AT_ONCE ((size_t)64 << 10)

struct tdc_xlsx_member {
    struct tdc_zip_member place;
    struct tdc_xml xml;
    z_stream stream;
    bool inflating; /* the stream is to be ended */
    bool exhausted; /* all of it was given to the xml */
    uint64_t given;
    uint32_t crc;
    const char *trouble; /* NULL: none */
    unsigned char inflated[TDC_INFLATED_AT_ONCE];
};

/* Looks for a member and begins it. TDC_ERR_NOT_FOUND, without a message, when there is none. */
tdc_status tdc_xlsx_member_begin(struct tdc_xlsx_member *member, const struct tdc_zip *zip,
                                 const char *name, struct tdc_error *error);
/* TDC_XML_END only when size and checksum were those of the directory; TDC_XML_WRONG with
 * `trouble`. */
enum tdc_xml_event tdc_xlsx_member_next(struct tdc_xlsx_member *member);
/* May be called again, and for a member that was never begun but zeroed. */
void tdc_xlsx_member_end(struct tdc_xlsx_member *member);

#endif
