#include "io/xlsx_styles_patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/error.h"
#include "io/little_endian.h"

/* All parts behind the sheets together take some 10 KB. */
#define TAIL_LIMIT   ((uint64_t)4 << 20)
#define STYLES_LIMIT ((uint64_t)1 << 20)
#define LOCAL        30u
#define END_RECORD   22u
#define END_MARK     0x06054b50u

static const char opaque[] = "rgb=\"FFFFFF00\"";
static const char transparent[] = "rgb=\"00FFFF00\"";

struct patch {
    const struct tdc_xlsx_package *package;
    struct tdc_xlsx_member styles;
    unsigned char *old_tail; /* from the local header of the styles to the directory */
    size_t old_length;
    size_t head;      /* bytes of the local header with the name */
    size_t old_entry; /* local header and content */
    char *xml;        /* of the styles, styles.size bytes */
    unsigned char *tail;
    size_t length;
    size_t entry; /* as old_entry, in tail */
    uint32_t crc;
};

static bool inflate_styles(struct patch *patch)
{
    patch->xml = malloc((size_t)patch->styles.size + 1);
    z_stream stream = {0};
    if (patch->xml == NULL || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    stream.next_in = patch->old_tail + patch->head;
    stream.avail_in = (uInt)patch->styles.compressed;
    stream.next_out = (unsigned char *)patch->xml;
    stream.avail_out = (uInt)patch->styles.size + 1;
    int result = inflate(&stream, Z_FINISH);
    bool whole = result == Z_STREAM_END && stream.avail_out == 1;
    inflateEnd(&stream);
    patch->xml[patch->styles.size] = '\0';
    return whole;
}

/* Both texts have the same length. */
static bool change_colour(struct patch *patch)
{
    _Static_assert(sizeof opaque == sizeof transparent, "replaced in place");
    bool changed = false;
    for (char *at = patch->xml; (at = strstr(at, opaque)) != NULL; changed = true)
        memcpy(at, transparent, sizeof transparent - 1);
    return changed;
}

/* Appends the compressed XML to tail; 0 on failure. */
static size_t deflate_styles(const struct patch *patch, unsigned char *to, size_t room)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    stream.next_in = (unsigned char *)patch->xml;
    stream.avail_in = (uInt)patch->styles.size;
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    int result = deflate(&stream, Z_FINISH);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? length : 0;
}

/* The directory with everything behind the styles moved, and the end record. */
static void add_directory(struct patch *patch)
{
    const struct tdc_xlsx_package *package = patch->package;
    unsigned char *directory = patch->tail + patch->length;
    memcpy(directory, package->directory, package->directory_length);
    size_t position = 0;
    struct tdc_xlsx_member member;
    while (tdc_xlsx_package_next(package, &position, &member)) {
        unsigned char *record = directory + member.record;
        if (member.offset > patch->styles.offset)
            tdc_set_le32(record + 42, (uint32_t)(member.offset - patch->old_entry + patch->entry));
        if (member.offset == patch->styles.offset) {
            tdc_set_le32(record + 16, patch->crc);
            tdc_set_le32(record + 20, (uint32_t)(patch->entry - patch->head));
        }
    }
    unsigned char *end = directory + package->directory_length;
    memset(end, 0, END_RECORD);
    tdc_set_le32(end, END_MARK);
    tdc_set_le16(end + 8, (uint16_t)package->member_count);
    tdc_set_le16(end + 10, (uint16_t)package->member_count);
    tdc_set_le32(end + 12, (uint32_t)package->directory_length);
    tdc_set_le32(end + 16, (uint32_t)(patch->styles.offset + patch->length));
    patch->length += package->directory_length + END_RECORD;
}

/* All bytes from the local header of the styles to the new end of the file. */
static bool build_tail(struct patch *patch)
{
    size_t bound = compressBound((uLong)patch->styles.size);
    size_t rest = patch->old_length - patch->old_entry;
    patch->tail =
        malloc(patch->head + bound + rest + patch->package->directory_length + END_RECORD);
    if (patch->tail == NULL)
        return false;
    size_t compressed = deflate_styles(patch, patch->tail + patch->head, bound);
    if (compressed == 0)
        return false;
    patch->crc = (uint32_t)crc32_z(0, (const unsigned char *)patch->xml, patch->styles.size);
    memcpy(patch->tail, patch->old_tail, patch->head);
    tdc_set_le32(patch->tail + 14, patch->crc);
    tdc_set_le32(patch->tail + 18, (uint32_t)compressed);
    patch->entry = patch->head + compressed;
    memcpy(patch->tail + patch->entry, patch->old_tail + patch->old_entry, rest);
    patch->length = patch->entry + rest;
    add_directory(patch);
    return true;
}

static tdc_status write_tail(const struct patch *patch, struct tdc_error *error)
{
    const struct tdc_xlsx_package *package = patch->package;
    size_t done = 0;
    while (done < patch->length) {
        ssize_t count = pwrite(package->fd, patch->tail + done, patch->length - done,
                               (off_t)(patch->styles.offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, count < 0 ? errno : EIO,
                                  "%s: cannot be written", package->label);
        done += (size_t)count;
    }
    if (ftruncate(package->fd, (off_t)(patch->styles.offset + patch->length)) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be written", package->label);
    return TDC_OK;
}

/* Is it the small change at the end that it should be? */
static bool is_simple(const struct patch *patch)
{
    const struct tdc_xlsx_package *package = patch->package;
    const struct tdc_xlsx_member *styles = &patch->styles;
    return !package->zip64 && styles->method == Z_DEFLATED && (styles->flags & 0x08) == 0 &&
           styles->size <= STYLES_LIMIT && styles->offset < package->directory_offset &&
           package->directory_offset - styles->offset <= TAIL_LIMIT &&
           package->directory_offset + TAIL_LIMIT < UINT32_MAX;
}

static tdc_status patch_simple(struct patch *patch, struct tdc_error *error)
{
    const struct tdc_xlsx_package *package = patch->package;
    uint64_t content;
    tdc_status status = tdc_xlsx_content_offset(package, &patch->styles, &content, error);
    if (status != TDC_OK)
        return status;
    patch->head = (size_t)(content - patch->styles.offset);
    /* More than the name behind the fixed part: zip64 fields, which would have to change too. */
    if (patch->head != LOCAL + patch->styles.name_length)
        return TDC_OK;
    patch->old_entry = patch->head + (size_t)patch->styles.compressed;
    patch->old_length = (size_t)(package->directory_offset - patch->styles.offset);
    patch->old_tail = malloc(patch->old_length);
    if (patch->old_tail == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", package->label);
    status =
        tdc_xlsx_read(package, patch->styles.offset, patch->old_tail, patch->old_length, error);
    if (status != TDC_OK)
        return status;
    if (!inflate_styles(patch))
        return tdc_fail(error, TDC_ERR_WRITE, "%s: its styles are damaged", package->label);
    if (!change_colour(patch))
        return TDC_OK;
    if (!build_tail(patch))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", package->label);
    return write_tail(patch, error);
}

tdc_status tdc_xlsx_patch_yellow(const struct tdc_xlsx_package *package, struct tdc_error *error)
{
    struct patch patch = {.package = package};
    if (!tdc_xlsx_package_find(package, "xl/styles.xml", &patch.styles) || !is_simple(&patch))
        return TDC_OK;
    tdc_status status = patch_simple(&patch, error);
    free(patch.old_tail);
    free(patch.xml);
    free(patch.tail);
    return status;
}
