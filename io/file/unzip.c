#include "io/file/unzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/file/file_map.h"

#define END_SIZE       ((size_t)22)
#define END64_SIZE     ((size_t)56)
#define LOCATOR64_SIZE ((size_t)20)
#define ENTRY_SIZE     ((size_t)46)
#define LOCAL_SIZE     ((size_t)30)
#define COMMENT_LIMIT  ((size_t)65535)
#define MEMBER_LIMIT   ((uint64_t)1 << 20)
#define EXTRA_ZIP64    1u
#define FLAG_ENCRYPTED 1u
#define STORED         0u
#define DEFLATED       8u

static tdc_status damaged(const struct tdc_unzip *zip, struct tdc_error *error, const char *reason)
{
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: damaged zip archive: %s", zip->path, reason);
}

static bool has_signature(const unsigned char *at, unsigned char third, unsigned char fourth)
{
    return at[0] == 'P' && at[1] == 'K' && at[2] == third && at[3] == fourth;
}

/* ---- the directory --------------------------------------------------------------------------- */

struct directory {
    uint64_t members, size, offset;
    bool in_parts;
};

/* The end record is the last thing in the file but for a comment whose length it states. */
static bool find_end(const struct tdc_unzip *zip, size_t *end)
{
    if (zip->size < END_SIZE)
        return false;
    size_t longest = zip->size - END_SIZE < COMMENT_LIMIT ? zip->size - END_SIZE : COMMENT_LIMIT;
    for (size_t comment = 0; comment <= longest; comment++) {
        const unsigned char *at = zip->bytes + (zip->size - END_SIZE - comment);
        if (has_signature(at, 5, 6) && tdc_le16(at + 20) == comment) {
            *end = zip->size - END_SIZE - comment;
            return true;
        }
    }
    return false;
}

/* Where the fields of the end record are full, a zip64 record before it has them. */
static bool read_end(const struct tdc_unzip *zip, size_t end, struct directory *directory)
{
    const unsigned char *at = zip->bytes + end;
    *directory = (struct directory){.members = tdc_le16(at + 10),
                                    .size = tdc_le32(at + 12),
                                    .offset = tdc_le32(at + 16),
                                    .in_parts = tdc_le16(at + 4) != tdc_le16(at + 6)};
    if (end < LOCATOR64_SIZE || !has_signature(at - LOCATOR64_SIZE, 6, 7))
        return true;
    uint64_t position = tdc_le64(at - LOCATOR64_SIZE + 8);
    if (end - LOCATOR64_SIZE < END64_SIZE || position > end - LOCATOR64_SIZE - END64_SIZE)
        return false;
    at = zip->bytes + position;
    if (!has_signature(at, 6, 6))
        return false;
    *directory = (struct directory){.members = tdc_le64(at + 32),
                                    .size = tdc_le64(at + 40),
                                    .offset = tdc_le64(at + 48),
                                    .in_parts = tdc_le32(at + 16) != tdc_le32(at + 20)};
    return true;
}

/* Fields of 32 bits that are full stand in the zip64 extra field, in this order. */
static bool widen(struct tdc_unzip_member *member, const unsigned char *extra, size_t length)
{
    uint64_t *fields[] = {&member->size, &member->packed, &member->header};
    while (length >= 4) {
        size_t rest = tdc_le16(extra + 2);
        if (rest > length - 4)
            return false;
        const unsigned char *at = extra + 4;
        for (size_t i = 0, left = rest; tdc_le16(extra) == EXTRA_ZIP64 && i < 3; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (left < 8)
                return false;
            *fields[i] = tdc_le64(at);
            at += 8;
            left -= 8;
        }
        extra += 4 + rest;
        length -= 4 + rest;
    }
    return true;
}

/* One entry of the directory; *at moves behind it. False when it does not fit. */
static bool read_entry(const struct tdc_unzip *zip, size_t *at, size_t end, struct tdc_arena *arena,
                       struct tdc_unzip_member *member)
{
    const unsigned char *entry = zip->bytes + *at;
    if (end - *at < ENTRY_SIZE || !has_signature(entry, 1, 2))
        return false;
    size_t name = tdc_le16(entry + 28), extra = tdc_le16(entry + 30);
    size_t whole = ENTRY_SIZE + name + extra + tdc_le16(entry + 32);
    if (whole > end - *at || memchr(entry + ENTRY_SIZE, '\0', name) != NULL)
        return false;
    *member = (struct tdc_unzip_member){
        .name = tdc_arena_text(arena, (const char *)entry + ENTRY_SIZE, name),
        .flags = tdc_le16(entry + 8),
        .method = tdc_le16(entry + 10),
        .crc = tdc_le32(entry + 16),
        .packed = tdc_le32(entry + 20),
        .size = tdc_le32(entry + 24),
        .header = tdc_le32(entry + 42)};
    *at += whole;
    return member->name != NULL && widen(member, entry + ENTRY_SIZE + name, extra);
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
    struct directory directory;
    size_t end;
    if (!find_end(zip, &end))
        return damaged(zip, error, "no directory at its end (truncated?)");
    if (!read_end(zip, end, &directory) || directory.offset > end ||
        directory.size > end - directory.offset)
        return damaged(zip, error, "directory outside the file");
    if (directory.in_parts)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: zip archive in several parts", path);
    if (directory.members > MEMBER_LIMIT || directory.members > directory.size / ENTRY_SIZE)
        return damaged(zip, error, "more members than its directory has room for");
    zip->members = tdc_arena_zeroed(arena, (size_t)directory.members, sizeof *zip->members);
    if (zip->members == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    size_t at = (size_t)directory.offset;
    size_t stop = at + (size_t)directory.size;
    for (size_t i = 0; i < directory.members; i++, zip->count++)
        if (!read_entry(zip, &at, stop, arena, &zip->members[i]))
            return arena->refused ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path)
                                  : damaged(zip, error, "wrong entry in the directory");
    return index_names(zip, arena, error);
}

static tdc_status read_whole(int fd, const char *path, char *to, size_t size,
                             struct tdc_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, to + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", path);
        if (got == 0)
            return tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
        done += (size_t)got;
    }
    return TDC_OK;
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
    close(file.descriptor);
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
    if (zip->size < LOCAL_SIZE || member->header > zip->size - LOCAL_SIZE)
        return NULL;
    const unsigned char *at = zip->bytes + member->header;
    if (!has_signature(at, 3, 4) || tdc_le16(at + 8) != member->method)
        return NULL;
    size_t texts = (size_t)tdc_le16(at + 26) + tdc_le16(at + 28);
    size_t left = zip->size - (size_t)member->header - LOCAL_SIZE;
    if (texts > left || member->packed > left - texts)
        return NULL;
    return at + LOCAL_SIZE + texts;
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
    if ((member->flags & FLAG_ENCRYPTED) != 0 ||
        (member->method != STORED && member->method != DEFLATED))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: %s: encrypted, or packed by method %u",
                        zip->path, member->name, member->method);
    const unsigned char *packed = locate(zip, member);
    if (packed == NULL || (member->method == STORED && member->packed != member->size))
        return damaged(zip, error, member->name);
    /* deflate makes at most 1032 times as much of what it is given */
    if (member->size > SIZE_MAX - 1 || member->size / 1040 > member->packed)
        return damaged(zip, error, member->name);
    char *room = tdc_arena_take(arena, (size_t)member->size + 1);
    if (room == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: %s: too large", zip->path, member->name);
    if (member->method == STORED)
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
