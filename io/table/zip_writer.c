#include "io/table/zip_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "io/base/little_endian.h"

#define ROOM ((size_t)64 * 1024)

#define LOCAL_MARK     0x04034b50u
#define LOCAL_HEAD     30u
#define DIRECTORY_MARK 0x02014b50u
#define DIRECTORY_HEAD 46u
#define END_MARK       0x06054b50u
#define END_RECORD     22u
#define END64_MARK     0x06064b50u
#define END64_RECORD   56u
#define LOCATOR_MARK   0x07064b50u
#define LOCATOR        20u
#define NARROW_MAXIMUM 0xffffffffu

#define FIRST_OF_1980 0x0021u /* a date is asked for; this one says nothing */
#define VERSION       20u
#define VERSION_64    45u

/* Room behind the name for both sizes in 64 bits. Whether they are needed shows at the end of the
 * member; until then, and mostly for good, the field is the padding that the package format of
 * office files defines for this purpose. */
#define RESERVED     20u
#define WIDE_FIELD   0x0001u
#define PADDING      0xa220u
#define PADDING_MARK 0xa028u

static void set_le64(unsigned char *at, uint64_t value)
{
    tdc_set_le32(at, (uint32_t)(value & NARROW_MAXIMUM));
    tdc_set_le32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t narrow(uint64_t value)
{
    return value < NARROW_MAXIMUM ? (uint32_t)value : NARROW_MAXIMUM;
}

bool tdc_zip_start(struct tdc_zip_writer *zip, int fd, size_t members)
{
    memset(zip, 0, sizeof *zip);
    if (members > TDC_ZIP_MEMBERS || !tdc_byte_writer_start(&zip->out, fd))
        return false;
    zip->room = malloc(ROOM);
    zip->members = calloc(members + 1, sizeof *zip->members);
    zip->deflating = deflateInit2(&zip->deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                                  Z_DEFAULT_STRATEGY) == Z_OK;
    return zip->room != NULL && zip->members != NULL && zip->deflating;
}

void tdc_zip_free(struct tdc_zip_writer *zip)
{
    if (zip->deflating)
        deflateEnd(&zip->deflater);
    tdc_byte_writer_free(&zip->out);
    free(zip->room);
    free(zip->members);
    memset(zip, 0, sizeof *zip);
}

static void put(struct tdc_zip_writer *zip, const unsigned char *data, size_t length)
{
    tdc_put(&zip->out, (const char *)data, length);
}

/* Of the next byte in the file. */
static uint64_t position(const struct tdc_zip_writer *zip)
{
    return zip->out.position + zip->out.used;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool is_wide(const struct tdc_zip_written *member)
{
    return member->size >= NARROW_MAXIMUM || member->compressed >= NARROW_MAXIMUM;
}

/* What local head and directory have in common, from the version on: 26 bytes. */
static void fill_description(unsigned char *at, const struct tdc_zip_written *member,
                             unsigned extra)
{
    tdc_set_le16(at, is_wide(member) ? VERSION_64 : VERSION);
    tdc_set_le16(at + 2, 0); /* flags */
    tdc_set_le16(at + 4, Z_DEFLATED);
    tdc_set_le16(at + 6, 0); /* time */
    tdc_set_le16(at + 8, FIRST_OF_1980);
    tdc_set_le32(at + 10, member->crc);
    tdc_set_le32(at + 14, is_wide(member) ? NARROW_MAXIMUM : narrow(member->compressed));
    tdc_set_le32(at + 18, is_wide(member) ? NARROW_MAXIMUM : narrow(member->size));
    tdc_set_le16(at + 22, (uint16_t)strlen(member->name));
    tdc_set_le16(at + 24, (uint16_t)extra);
}

/* Returns the bytes of head, name and reserved field. */
static size_t fill_local(unsigned char *at, const struct tdc_zip_written *member)
{
    size_t name = strlen(member->name);
    tdc_set_le32(at, LOCAL_MARK);
    fill_description(at + 4, member, RESERVED);
    memcpy(at + LOCAL_HEAD, member->name, name);
    unsigned char *field = at + LOCAL_HEAD + name;
    memset(field, 0, RESERVED);
    tdc_set_le16(field, is_wide(member) ? WIDE_FIELD : PADDING);
    tdc_set_le16(field + 2, RESERVED - 4);
    if (is_wide(member)) {
        set_le64(field + 4, member->size);
        set_le64(field + 12, member->compressed);
    } else {
        tdc_set_le16(field + 4, PADDING_MARK);
    }
    return LOCAL_HEAD + name + RESERVED;
}

void tdc_zip_begin(struct tdc_zip_writer *zip, const char *name)
{
    struct tdc_zip_written *member = &zip->members[zip->count];
    *member = (struct tdc_zip_written){.offset = position(zip)};
    snprintf(member->name, sizeof member->name, "%s", name);
    deflateReset(&zip->deflater);
    unsigned char head[LOCAL_HEAD + TDC_ZIP_NAME + RESERVED];
    put(zip, head, fill_local(head, member));
}

/* Runs the compressor over next_in. */
static void deflate_pending(struct tdc_zip_writer *zip, int flush)
{
    z_stream *stream = &zip->deflater;
    do {
        stream->next_out = zip->room;
        stream->avail_out = (uInt)ROOM;
        (void)deflate(stream, flush); /* cannot fail with room to write to */
        size_t length = ROOM - stream->avail_out;
        put(zip, zip->room, length);
        zip->members[zip->count].compressed += length;
    } while (stream->avail_out == 0);
}

int tdc_zip_put(void *context, const char *data, size_t length)
{
    struct tdc_zip_writer *zip = context;
    struct tdc_zip_written *member = &zip->members[zip->count];
    while (length != 0 && zip->out.failure == 0) {
        size_t piece = length < TDC_BYTE_WRITER_ROOM ? length : TDC_BYTE_WRITER_ROOM;
        member->crc = (uint32_t)crc32_z(member->crc, (const unsigned char *)data, piece);
        member->size += piece;
        zip->deflater.next_in = (unsigned char *)(uintptr_t)data; /* only read */
        zip->deflater.avail_in = (uInt)piece;
        deflate_pending(zip, Z_NO_FLUSH);
        data += piece;
        length -= piece;
    }
    return zip->out.failure;
}

static int write_at(int fd, const unsigned char *data, size_t length, uint64_t offset)
{
    while (length != 0) {
        ssize_t done = pwrite(fd, data, length, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        data += done;
        length -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

int tdc_zip_end(struct tdc_zip_writer *zip)
{
    struct tdc_zip_written *member = &zip->members[zip->count];
    zip->deflater.next_in = NULL;
    zip->deflater.avail_in = 0;
    deflate_pending(zip, Z_FINISH);
    zip->count++;
    unsigned char head[LOCAL_HEAD + TDC_ZIP_NAME + RESERVED];
    size_t length = fill_local(head, member);
    if (tdc_byte_writer_flush(&zip->out))
        zip->out.failure = write_at(zip->out.fd, head, length, member->offset);
    return zip->out.failure;
}

/* ---- the directory --------------------------------------------------------------------------- */

static void put_record(struct tdc_zip_writer *zip, const struct tdc_zip_written *member)
{
    unsigned char record[DIRECTORY_HEAD + TDC_ZIP_NAME + 4 + 3 * 8] = {0};
    size_t name = strlen(member->name);
    unsigned char *field = record + DIRECTORY_HEAD + name;
    size_t extra = 0;
    if (is_wide(member)) {
        set_le64(field + 4, member->size);
        set_le64(field + 12, member->compressed);
        extra = 20;
    }
    if (member->offset >= NARROW_MAXIMUM) {
        extra = extra == 0 ? 4 : extra;
        set_le64(field + extra, member->offset);
        extra += 8;
    }
    if (extra != 0) {
        tdc_set_le16(field, WIDE_FIELD);
        tdc_set_le16(field + 2, (uint16_t)(extra - 4));
    }
    tdc_set_le32(record, DIRECTORY_MARK);
    tdc_set_le16(record + 4, VERSION_64);
    fill_description(record + 6, member, (unsigned)extra);
    if (extra != 0)
        tdc_set_le16(record + 6, VERSION_64);
    tdc_set_le32(record + 42, narrow(member->offset));
    memcpy(record + DIRECTORY_HEAD, member->name, name);
    put(zip, record, DIRECTORY_HEAD + name + extra);
}

static void put_end64(struct tdc_zip_writer *zip, uint64_t directory, uint64_t length)
{
    unsigned char end[END64_RECORD + LOCATOR] = {0};
    tdc_set_le32(end, END64_MARK);
    set_le64(end + 4, END64_RECORD - 12);
    tdc_set_le16(end + 12, VERSION_64);
    tdc_set_le16(end + 14, VERSION_64);
    set_le64(end + 24, zip->count);
    set_le64(end + 32, zip->count);
    set_le64(end + 40, length);
    set_le64(end + 48, directory);
    tdc_set_le32(end + END64_RECORD, LOCATOR_MARK);
    set_le64(end + END64_RECORD + 8, directory + length);
    tdc_set_le32(end + END64_RECORD + 16, 1); /* disks */
    put(zip, end, sizeof end);
}

int tdc_zip_finish(struct tdc_zip_writer *zip)
{
    uint64_t directory = position(zip);
    for (size_t i = 0; i < zip->count; i++)
        put_record(zip, &zip->members[i]);
    uint64_t length = position(zip) - directory;
    if (directory >= NARROW_MAXIMUM)
        put_end64(zip, directory, length);
    unsigned char end[END_RECORD] = {0};
    tdc_set_le32(end, END_MARK);
    tdc_set_le16(end + 8, (uint16_t)zip->count);
    tdc_set_le16(end + 10, (uint16_t)zip->count);
    tdc_set_le32(end + 12, (uint32_t)length);
    tdc_set_le32(end + 16, narrow(directory));
    put(zip, end, sizeof end);
    tdc_byte_writer_flush(&zip->out);
    return zip->out.failure;
}
