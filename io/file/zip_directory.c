#include "io/file/zip_directory.h"

#include <string.h>

#include "io/base/little_endian.h"

#define END_SIZE       ((size_t)22) /* end of central directory */
#define END64_SIZE     ((size_t)56)
#define LOCATOR64_SIZE ((size_t)20)
#define COMMENT_LIMIT  ((size_t)65535)
#define NAME_LIMIT     ((size_t)1024)
#define EXTRA_ZIP64    1

static bool has_signature(const unsigned char *at, const char *two_bytes)
{
    return at[0] == 'P' && at[1] == 'K' && memcmp(at + 2, two_bytes, 2) == 0;
}

/* The end record is the last thing in the file but for a comment whose length it states. */
static bool find_end(const unsigned char *bytes, size_t size, size_t *end)
{
    if (size < END_SIZE)
        return false;
    size_t longest = size - END_SIZE < COMMENT_LIMIT ? size - END_SIZE : COMMENT_LIMIT;
    for (size_t comment = 0; comment <= longest; comment++) {
        const unsigned char *at = bytes + (size - END_SIZE - comment);
        if (has_signature(at, "\5\6") && tdc_le16(at + 20) == comment) {
            *end = size - END_SIZE - comment;
            return true;
        }
    }
    return false;
}

struct end {
    uint64_t disks; /* 0 if the archive is in one piece */
    uint64_t members;
    uint64_t size;
    uint64_t offset;
    size_t limit; /* the directory ends at or before this offset */
};

static void read_end(const unsigned char *at, size_t position, struct end *found)
{
    found->disks = (uint64_t)tdc_le16(at + 4) | tdc_le16(at + 6) |
                   (uint64_t)(tdc_le16(at + 8) ^ tdc_le16(at + 10));
    found->members = tdc_le16(at + 10);
    found->size = tdc_le32(at + 12);
    found->offset = tdc_le32(at + 16);
    found->limit = position;
}

/* False if there is a locator that leads nowhere. */
static bool read_end64(const unsigned char *bytes, size_t end, struct end *found)
{
    if (end < LOCATOR64_SIZE)
        return true;
    size_t locator = end - LOCATOR64_SIZE;
    if (!has_signature(bytes + locator, "\6\7"))
        return true;
    uint64_t position = tdc_le64(bytes + locator + 8);
    if (locator < END64_SIZE || position > locator - END64_SIZE)
        return false;
    const unsigned char *at = bytes + position;
    if (!has_signature(at, "\6\6"))
        return false;
    found->disks =
        (uint64_t)tdc_le32(at + 16) | tdc_le32(at + 20) | (tdc_le64(at + 24) ^ tdc_le64(at + 32));
    found->members = tdc_le64(at + 32);
    found->size = tdc_le64(at + 40);
    found->offset = tdc_le64(at + 48);
    found->limit = (size_t)position;
    return true;
}

/* Fields of 32 bits that are full stand in the zip64 extra field, in this order. */
static bool widen(struct tdc_zip_entry *entry, const unsigned char *extra, size_t length)
{
    uint64_t *fields[] = {&entry->size, &entry->stored_size, &entry->header};
    bool full = false;
    for (size_t i = 0; i < 3; i++)
        full = full || *fields[i] == UINT32_MAX;
    while (full && length >= 4) {
        unsigned tag = tdc_le16(extra);
        size_t rest = tdc_le16(extra + 2);
        if (rest > length - 4)
            return false;
        const unsigned char *at = extra + 4;
        extra += 4 + rest;
        length -= 4 + rest;
        for (size_t i = 0; tag == EXTRA_ZIP64 && i < 3; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (rest < 8)
                return false;
            *fields[i] = tdc_le64(at);
            at += 8;
            rest -= 8;
        }
        full = full && tag != EXTRA_ZIP64;
    }
    return !full;
}

bool tdc_zip_entry_read(const struct tdc_zip_directory *directory, size_t position,
                        struct tdc_zip_entry *entry)
{
    size_t rest = directory->start + directory->size - position;
    const unsigned char *at = directory->bytes + position;
    if (rest < TDC_ZIP_ENTRY || !has_signature(at, "\1\2"))
        return false;
    size_t extra_length = tdc_le16(at + 30);
    entry->name_length = tdc_le16(at + 28);
    entry->whole_length = TDC_ZIP_ENTRY + entry->name_length + extra_length + tdc_le16(at + 32);
    if (entry->whole_length > rest || entry->name_length > NAME_LIMIT)
        return false;
    entry->flags = tdc_le16(at + 8);
    entry->method = tdc_le16(at + 10);
    entry->crc = tdc_le32(at + 16);
    entry->stored_size = tdc_le32(at + 20);
    entry->size = tdc_le32(at + 24);
    entry->header = tdc_le32(at + 42);
    entry->name = at + TDC_ZIP_ENTRY;
    uint64_t least_end; /* the local header may have a longer extra field */
    return widen(entry, entry->name + entry->name_length, extra_length) &&
           !__builtin_add_overflow(entry->header, TDC_ZIP_LOCAL + entry->name_length, &least_end) &&
           !__builtin_add_overflow(least_end, entry->stored_size, &least_end) &&
           least_end <= directory->start;
}

const char *tdc_zip_directory_find(struct tdc_zip_directory *directory, const unsigned char *bytes,
                                   size_t size)
{
    size_t end;
    if (!find_end(bytes, size, &end))
        return "no zip directory at its end (truncated?)";
    struct end found;
    read_end(bytes + end, end, &found);
    if (!read_end64(bytes, end, &found))
        return "wrong zip64 record";
    if (found.disks != 0)
        return "zip archive in several parts";
    if (found.offset > found.limit || found.size > found.limit - found.offset)
        return "central directory outside the file";
    *directory = (struct tdc_zip_directory){
        .bytes = bytes,
        .start = (size_t)found.offset,
        .size = (size_t)found.size,
        .members = found.members,
    };
    return NULL;
}
