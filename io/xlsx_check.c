/* xlsx_check.c - does a finished sheet hold the rows that were written? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/error.h"
#include "io/xlsx_package.h"

#define INPUT_ROOM  ((size_t)64 * 1024)
#define OUTPUT_ROOM ((size_t)256 * 1024)
/* After the rows come filter and page settings only. */
#define TAIL_ROOM 4096u

static const char opening[] = "<sheetData>";
static const char closing[] = "</sheetData>";
static const char end_of_sheet[] = "</worksheet>";

/* The XML passes by once, in pieces. */
struct sheet_check {
    size_t matched;     /* characters of `opening` seen */
    uint64_t remaining; /* bytes of rows still to come */
    uint32_t crc;
    size_t tail_length;
    bool tail_overflow;
    char tail[TAIL_ROOM];
};

static void take(struct sheet_check *check, const unsigned char *data, size_t length)
{
    /* "<" occurs in `opening` only at its start, so no longer partial match is ever missed. */
    while (length != 0 && check->matched != sizeof opening - 1) {
        if ((char)*data == opening[check->matched])
            check->matched++;
        else
            check->matched = (char)*data == opening[0];
        data++;
        length--;
    }
    size_t rows = length < check->remaining ? length : (size_t)check->remaining;
    check->crc = (uint32_t)crc32_z(check->crc, data, rows);
    check->remaining -= rows;
    length -= rows;
    if (length > TAIL_ROOM - check->tail_length) {
        check->tail_overflow = true;
        return;
    }
    memcpy(check->tail + check->tail_length, data + rows, length);
    check->tail_length += length;
}

static bool holds(const struct sheet_check *check, uint32_t crc)
{
    size_t begin = sizeof closing - 1;
    size_t end = sizeof end_of_sheet - 1;
    return check->matched == sizeof opening - 1 && check->remaining == 0 && check->crc == crc &&
           !check->tail_overflow && check->tail_length >= begin + end &&
           memcmp(check->tail, closing, begin) == 0 &&
           memcmp(check->tail + check->tail_length - end, end_of_sheet, end) == 0;
}

/* Feeds all of the member through take. False when the stream is damaged. */
static tdc_status inflate_member(const struct tdc_xlsx_package *package,
                                 const struct tdc_xlsx_member *member, z_stream *stream,
                                 unsigned char *room, struct sheet_check *check,
                                 struct tdc_error *error)
{
    uint64_t at;
    tdc_status status = tdc_xlsx_content_offset(package, member, &at, error);
    uint64_t left = member->compressed;
    int result = Z_OK;
    while (status == TDC_OK && left != 0 && result == Z_OK) {
        size_t piece = left < INPUT_ROOM ? (size_t)left : INPUT_ROOM;
        status = tdc_xlsx_read(package, at, room, piece, error);
        if (status != TDC_OK)
            break;
        at += piece;
        left -= piece;
        stream->next_in = room;
        stream->avail_in = (uInt)piece;
        do {
            stream->next_out = room + INPUT_ROOM;
            stream->avail_out = (uInt)OUTPUT_ROOM;
            result = inflate(stream, Z_NO_FLUSH);
            if (result == Z_OK || result == Z_STREAM_END)
                take(check, room + INPUT_ROOM, OUTPUT_ROOM - stream->avail_out);
        } while (result == Z_OK && stream->avail_out == 0);
        if (result == Z_BUF_ERROR) /* wants more input, which may be there */
            result = Z_OK;
    }
    if (status == TDC_OK && result != Z_STREAM_END)
        return tdc_fail(error, TDC_ERR_WRITE, "%s: a sheet is damaged", package->label);
    return status;
}

tdc_status tdc_xlsx_check_sheet(const struct tdc_xlsx_package *package, size_t sheet,
                                uint64_t length, uint32_t crc, struct tdc_error *error)
{
    char name[64];
    struct tdc_xlsx_member member;
    snprintf(name, sizeof name, "xl/worksheets/sheet%zu.xml", sheet);
    if (!tdc_xlsx_package_find(package, name, &member) || member.method != Z_DEFLATED)
        return tdc_fail(error, TDC_ERR_WRITE, "%s: has no %s", package->label, name);
    struct sheet_check *check = calloc(1, sizeof *check);
    unsigned char *room = malloc(INPUT_ROOM + OUTPUT_ROOM);
    z_stream stream = {0};
    if (check == NULL || room == NULL || inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        free(check);
        free(room);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", package->label);
    }
    check->remaining = length;
    tdc_status status = inflate_member(package, &member, &stream, room, check, error);
    inflateEnd(&stream);
    if (status == TDC_OK && !holds(check, crc))
        status =
            tdc_fail(error, TDC_ERR_WRITE, "%s: %s was not written completely; is the disk full?",
                     package->label, name);
    free(check);
    free(room);
    return status;
}
