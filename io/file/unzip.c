#include "io/file/unzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/file/file_map.h"
#include "io/storage/patient_read.h"
#include "io/file/zip_directory.h"

#define MEMBER_LIMIT ((uint64_t)1 << 20)

static tdc_status damaged(const struct tdc_unzip *zip, struct tdc_error *error, const char *reason)
{
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: damaged zip archive: %s", zip->path, reason);
}

/* ---- the directory --------------------------------------------------------------------------- */

/* False when out of memory, or for a name that is no text. */
static bool keep_entry(const struct tdc_zip_entry *entry, struct tdc_arena *arena,
                       struct tdc_unzip_member *member)
{
    if (memchr(entry->name, '\0', entry->name_length) != NULL)
        return false;
    *member = (struct tdc_unzip_member){
        .name = tdc_arena_text(arena, (const char *)entry->name, entry->name_length),
        .flags = entry->flags,
        .method = entry->method,
        .crc = entry->crc,
        .packed = entry->stored_size,
        .size = entry->size,
        .header = entry->header};
    return member->name != NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct tdc_unzip_member *x = *(const struct tdc_unzip_member *const *)a;
    const struct tdc_unzip_member *y = *(const struct tdc_unzip_member *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static tdc_status index_names(struct tdc_unzip *zip, struct tdc_arena *arena,
                              struct tdc_error *error)
{
    zip->by_name = tdc_arena_zeroed(arena, zip->count, sizeof *zip->by_name);
    if (zip->by_name == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", zip->path);
    for (size_t i = 0; i < zip->count; i++)
        zip->by_name[i] = &zip->members[i];
    qsort(zip->by_name, zip->count, sizeof *zip->by_name, by_name);
    return TDC_OK;
}

tdc_status tdc_unzip_start(const char *path, const void *bytes, size_t size,
                           struct tdc_arena *arena, struct tdc_unzip *zip, struct tdc_error *error)
{
    *zip = (struct tdc_unzip){.path = path, .bytes = bytes, .size = size};
    struct tdc_zip_directory directory;
    const char *reason = tdc_zip_directory_find(&directory, zip->bytes, size);
    if (reason != NULL)
        return damaged(zip, error, reason);
    if (directory.members > MEMBER_LIMIT || directory.members > directory.size / TDC_ZIP_ENTRY)
        return damaged(zip, error, "more members than its directory has room for");
    zip->members = tdc_arena_zeroed(arena, (size_t)directory.members, sizeof *zip->members);
    if (zip->members == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    size_t at = directory.start;
    for (size_t i = 0; i < directory.members; i++, zip->count++) {
        struct tdc_zip_entry entry;
        if (!tdc_zip_entry_read(&directory, at, &entry) ||
            !keep_entry(&entry, arena, &zip->members[i]))
            return arena->refused ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path)
                                  : damaged(zip, error, "wrong entry in the directory");
        at += entry.whole_length;
    }
    return index_names(zip, arena, error);
}

static tdc_status read_whole(int fd, const char *path, char *to, size_t size,
                             struct tdc_error *error)
{
    size_t got;
    int number = tdc_storage_read(fd, to, size, 0, &got);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_READ, number, "%s", path);
    return got == size ? TDC_OK
                       : tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
}

tdc_status tdc_unzip_open(const char *path, struct tdc_arena *arena, struct tdc_unzip *zip,
                          struct tdc_error *error)
{
    struct tdc_file file;
    *zip = (struct tdc_unzip){.path = path};
    tdc_status status = tdc_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    char *bytes = tdc_arena_take(arena, file.size);
    status = bytes != NULL ? read_whole(file.descriptor, path, bytes, file.size, error)
                           : tdc_fail(error, TDC_ERR_MEMORY, "%s: too large", path);
    tdc_file_close(file.descriptor);
    return status == TDC_OK ? tdc_unzip_start(path, bytes, file.size, arena, zip, error) : status;
}

/* ---- members --------------------------------------------------------------------------------- */

const struct tdc_unzip_member *tdc_unzip_find(const struct tdc_unzip *zip, const char *name)
{
    size_t low = 0, high = zip->count; /* the first member of a greater name is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(zip->by_name[middle]->name, name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && strcmp(zip->by_name[low - 1]->name, name) == 0 ? zip->by_name[low - 1] : NULL;
}

/* The packed bytes, behind a local header that must be where the directory says. */
static const unsigned char *locate(const struct tdc_unzip *zip,
                                   const struct tdc_unzip_member *member)
{
    /* its entry was read with it: header and name fit into the file */
    const unsigned char *at = zip->bytes + member->header;
    if (memcmp(at, "PK\3\4", 4) != 0 || tdc_le16(at + 8) != member->method)
        return NULL;
    size_t texts = (size_t)tdc_le16(at + 26) + tdc_le16(at + 28);
    size_t left = zip->size - (size_t)member->header - TDC_ZIP_LOCAL;
    if (texts > left || member->packed > left - texts)
        return NULL;
    return at + TDC_ZIP_LOCAL + texts;
}

/* Inflates all of a member into exactly its stated size. */
static bool inflate_into(const unsigned char *packed, uint64_t packed_size, char *to, uint64_t size)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    /* zlib counts in 32 bits */
    int result = Z_OK;
    while (result == Z_OK) {
        if (stream.avail_in == 0) {
            uInt piece = packed_size < UINT32_MAX ? (uInt)packed_size : UINT32_MAX;
            stream.next_in = (unsigned char *)packed;
            stream.avail_in = piece;
            packed += piece;
            packed_size -= piece;
        }
        if (stream.avail_out == 0) {
            uInt piece = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
            stream.next_out = (unsigned char *)to;
            stream.avail_out = piece;
            to += piece;
            size -= piece;
        }
        result = inflate(&stream, Z_NO_FLUSH);
    }
    bool whole = result == Z_STREAM_END && size == 0 && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}

static bool checksum_agrees(const char *content, size_t size, uint32_t crc)
{
    uLong sum = crc32(0, NULL, 0);
    return crc32_z(sum, (const unsigned char *)content, size) == crc;
}

tdc_status tdc_unzip_read(const struct tdc_unzip *zip, const struct tdc_unzip_member *member,
                          struct tdc_arena *arena, const char **content, size_t *size,
                          struct tdc_error *error)
{
    if ((member->flags & TDC_ZIP_ENCRYPTED) != 0 ||
        (member->method != TDC_ZIP_STORED && member->method != TDC_ZIP_DEFLATED))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: %s: encrypted, or packed by method %u",
                        zip->path, member->name, member->method);
    const unsigned char *packed = locate(zip, member);
    if (packed == NULL || (member->method == TDC_ZIP_STORED && member->packed != member->size))
        return damaged(zip, error, member->name);
    /* deflate makes at most 1032 times as much of what it is given */
    if (member->size > SIZE_MAX - 1 || member->size / 1040 > member->packed)
        return damaged(zip, error, member->name);
    char *room = tdc_arena_take(arena, (size_t)member->size + 1);
    if (room == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: %s: too large", zip->path, member->name);
    if (member->method == TDC_ZIP_STORED)
        memcpy(room, packed, (size_t)member->size);
    else if (!inflate_into(packed, member->packed, room, member->size))
        return damaged(zip, error, member->name);
    if (!checksum_agrees(room, (size_t)member->size, member->crc))
        return damaged(zip, error, member->name);
    room[member->size] = '\0';
    *content = room;
    *size = (size_t)member->size;
    return TDC_OK;
}
