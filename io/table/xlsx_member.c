#include "io/table/xlsx_member.h"

#include <string.h>

#include "io/base/error.h"

/* A million rows of 30 cells have some 3 GiB. */
#define LARGEST_MEMBER ((uint64_t)8 << 30)

static size_t give_stored(struct tdc_xlsx_member *member, const unsigned char **bytes)
{
    *bytes = member->place.data;
    member->exhausted = true;
    return member->place.size;
}

static size_t give_inflated(struct tdc_xlsx_member *member, const unsigned char **bytes)
{
    z_stream *stream = &member->stream;
    stream->next_out = member->inflated;
    stream->avail_out = TDC_INFLATED_AT_ONCE;
    int result = inflate(stream, Z_NO_FLUSH);
    member->exhausted = result == Z_STREAM_END;
    size_t given = TDC_INFLATED_AT_ONCE - stream->avail_out;
    if ((result != Z_OK && result != Z_STREAM_END) || (given == 0 && !member->exhausted) ||
        given > member->place.size - member->given) {
        member->trouble = "a member cannot be inflated";
        return 0;
    }
    *bytes = member->inflated;
    return given;
}

/* The source of the XML. */
static size_t give(void *context, const unsigned char **bytes)
{
    struct tdc_xlsx_member *member = context;
    size_t given = 0;
    if (!member->exhausted && member->trouble == NULL)
        given = member->place.deflated ? give_inflated(member, bytes) : give_stored(member, bytes);
    if (given == 0)
        return 0;
    member->given += given;
    member->crc = (uint32_t)crc32_z(member->crc, *bytes, given);
    return given;
}

tdc_status tdc_xlsx_member_begin(struct tdc_xlsx_member *member, const struct tdc_zip *zip,
                                 const char *name, struct tdc_error *error)
{
    tdc_status status =
        tdc_zip_find(zip, "", (const unsigned char *)name, strlen(name), &member->place, error);
    if (status != TDC_OK || !member->place.found)
        return status != TDC_OK ? status : TDC_ERR_NOT_FOUND;
    if (member->place.size > LARGEST_MEMBER || member->place.stored_size > UINT32_MAX)
        return tdc_fail(error, TDC_ERR_REFUSED, "%s: too large", zip->name);
    member->exhausted = member->place.size == 0;
    member->trouble = NULL;
    member->given = 0;
    member->crc = (uint32_t)crc32(0, NULL, 0);
    if (member->place.deflated) {
        memset(&member->stream, 0, sizeof member->stream);
        member->stream.next_in = (unsigned char *)(uintptr_t)member->place.data;
        member->stream.avail_in = (uInt)member->place.stored_size;
        member->inflating = inflateInit2(&member->stream, -MAX_WBITS) == Z_OK;
        if (!member->inflating)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", zip->name);
    }
    tdc_xml_start(&member->xml, give, member);
    return TDC_OK;
}

enum tdc_xml_event tdc_xlsx_member_next(struct tdc_xlsx_member *member)
{
    enum tdc_xml_event event = tdc_xml_next(&member->xml);
    if (event == TDC_XML_WRONG && member->trouble == NULL)
        member->trouble = member->xml.reason;
    else if (event == TDC_XML_END &&
             (member->crc != member->place.crc || member->given != member->place.size))
        member->trouble = "a member differs from its checksum";
    return member->trouble != NULL ? TDC_XML_WRONG : event;
}

void tdc_xlsx_member_end(struct tdc_xlsx_member *member)
{
    tdc_xml_free(&member->xml);
    if (member->inflating)
        inflateEnd(&member->stream);
    member->inflating = false;
}
