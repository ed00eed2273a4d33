/*
 * xml_reader.h - XML as a stream of tags and texts, for machine-made files.
 *
 * Takes bytes as they come and holds one tag at a time. Comments and processing instructions are
 * passed over; a document type is refused, and with it every entity but the five of XML. Prefixes
 * of names ("x:row") are dropped. That tags close in order is checked by their number alone.
 */
#ifndef TDC_IO_XML_READER_H
#define TDC_IO_XML_READER_H

#include "io/base/text.h"
#include "tdcmp.h"

/* The next bytes, as many as there are; 0 at the end, and after a failure that the source keeps. */
typedef size_t tdc_xml_source(void *context, const unsigned char **bytes);

enum tdc_xml_event {
    TDC_XML_OPEN,  /* <name attribute="value"> and the beginning of <name/> */
    TDC_XML_CLOSE, /* </name> and the end of <name/> */
    TDC_XML_END,   /* of the document */
    TDC_XML_WRONG  /* `reason` says why; nothing follows */
};

struct tdc_xml {
    tdc_xml_source *source;
    void *context;
    const unsigned char *at, *end;
    struct tdc_text tag;   /* name, then name and value of each attribute, all terminated */
    struct tdc_text *text; /* what stands between tags is appended here; NULL: passed over */
    const char *name;      /* of the event's tag */
    size_t attributes;     /* where they begin in the tag */
    unsigned depth;        /* tags that are open */
    bool closes;           /* <name/>: its end is the next event */
    const char *reason;
};

void tdc_xml_start(struct tdc_xml *xml, tdc_xml_source *source, void *context);
void tdc_xml_free(struct tdc_xml *xml);
enum tdc_xml_event tdc_xml_next(struct tdc_xml *xml);
/* The value of an attribute of the tag that was opened last, until the next event; NULL: none. */
const char *tdc_xml_attribute(const struct tdc_xml *xml, const char *name);

#endif
