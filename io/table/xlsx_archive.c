#include "io/table/xlsx_archive.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "io/base/error.h"

#define END_RECORD    22u /* bytes, without its comment */
#define ENTRY_RECORD  46u
#define MEMBER_RECORD 30u

static uint32_t read32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t read16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static tdc_status malformed(const struct tdc_xlsx_archive *archive, const char *what,
                            struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: no workbook: %s", archive->name, what);
}

tdc_status tdc_xlsx_archive_open(struct tdc_xlsx_archive *archive, const unsigned char *bytes,
                                 size_t size, const char *name, struct tdc_error *error)
{
    *archive = (struct tdc_xlsx_archive){.bytes = bytes, .size = size, .name = name};
    size_t furthest = END_RECORD + 0xffffu;
    for (size_t back = END_RECORD; back <= size && back <= furthest; back++) {
        const unsigned char *end = bytes + size - back;
        if (read32(end) != 0x06054b50u)
            continue;
        archive->directory_size = read32(end + 12);
        archive->directory = read32(end + 16);
        if (archive->directory > size - back ||
            archive->directory_size > size - back - archive->directory)
            return malformed(archive, "its directory lies outside of the file", error);
        return TDC_OK;
    }
    return malformed(archive, "it has no directory of members", error);
}

/* Inflates into memory that grows as the content comes, not as it is promised. */
static tdc_status inflate_member(const struct tdc_xlsx_archive *archive, const unsigned char *bytes,
                                 size_t size, struct tdc_xlsx_text *text, struct tdc_error *error)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", archive->name);
    stream.next_in = (unsigned char *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    size_t capacity = 0;
    int result = Z_OK;
    while (result == Z_OK || (result == Z_BUF_ERROR && stream.avail_out == 0)) {
        if (text->length + 1 >= capacity) {
            capacity = capacity != 0 ? 2 * capacity : 65536;
            char *grown = capacity <= 2 * TDC_XLSX_MEMBER ? realloc(text->data, capacity) : NULL;
            if (grown == NULL) {
                inflateEnd(&stream);
                return tdc_fail(error, TDC_ERR_MEMORY, "%s: a member is too large", archive->name);
            }
            text->data = grown;
        }
        size_t room = capacity - 1 - text->length;
        stream.next_out = (unsigned char *)text->data + text->length;
        stream.avail_out = room < (1u << 30) ? (uInt)room : 1u << 30;
        uInt before = stream.avail_out;
        result = inflate(&stream, Z_NO_FLUSH);
        text->length += before - stream.avail_out;
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END ? TDC_OK
                                  : malformed(archive, "a member cannot be unpacked", error);
}

static tdc_status take_member(const struct tdc_xlsx_archive *archive, const unsigned char *entry,
                              struct tdc_xlsx_text *text, struct tdc_error *error)
{
    uint32_t method = read16(entry + 10);
    size_t packed = read32(entry + 20), offset = read32(entry + 42);
    if (offset > archive->size || archive->size - offset < MEMBER_RECORD ||
        read32(archive->bytes + offset) != 0x04034b50u)
        return malformed(archive, "a member lies outside of the file", error);
    size_t start = offset + MEMBER_RECORD + read16(archive->bytes + offset + 26) +
                   read16(archive->bytes + offset + 28);
    if (start > archive->size || packed > archive->size - start)
        return malformed(archive, "a member lies outside of the file", error);
    tdc_status status = TDC_OK;
    if (method == 8) {
        status = inflate_member(archive, archive->bytes + start, packed, text, error);
    } else if (method == 0) {
        text->data = malloc(packed + 1);
        if (text->data == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", archive->name);
        memcpy(text->data, archive->bytes + start, packed);
        text->length = packed;
    } else {
        return malformed(archive, "a member is packed in an unknown way", error);
    }
    if (status == TDC_OK)
        text->data[text->length] = '\0';
    return status;
}

tdc_status tdc_xlsx_archive_read(const struct tdc_xlsx_archive *archive, const char *member,
                                 struct tdc_xlsx_text *text, struct tdc_error *error)
{
    *text = (struct tdc_xlsx_text){0};
    const unsigned char *at = archive->bytes + archive->directory;
    const unsigned char *end = at + archive->directory_size;
    while ((size_t)(end - at) >= ENTRY_RECORD && read32(at) == 0x02014b50u) {
        size_t name = read16(at + 28);
        size_t length = ENTRY_RECORD + name + read16(at + 30) + read16(at + 32);
        if (length > (size_t)(end - at))
            return malformed(archive, "its directory is cut", error);
        if (name == strlen(member) && memcmp(at + ENTRY_RECORD, member, name) == 0) {
            tdc_status status = take_member(archive, at, text, error);
            if (status != TDC_OK) {
                free(text->data);
                *text = (struct tdc_xlsx_text){0};
            }
            return status;
        }
        at += length;
    }
    return TDC_OK;
}
