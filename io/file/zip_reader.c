#include "io/file/zip_reader.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"

#define END_SIZE        ((size_t)22) /* end of central directory */
#define END64_SIZE      ((size_t)56)
#define LOCATOR64_SIZE  ((size_t)20)
#define ENTRY_SIZE      ((size_t)46) /* entry of the central directory without its texts */
#define LOCAL_SIZE      ((size_t)30) /* local header without its texts */
#define COMMENT_LIMIT   ((size_t)65535)
#define NAME_LIMIT      ((size_t)1024)
#define MEMBER_LIMIT    ((uint64_t)1 << 16)
#define EXTRA_ZIP64     1
#define METHOD_STORED   0u
#define METHOD_DEFLATED 8u
#define FLAG_ENCRYPTED  1u
#define FLAG_DESCRIPTOR 8u /* sizes may be missing from the local header */

struct entry {
    unsigned flags;
    unsigned method;
    uint32_t crc;
    uint64_t stored_size; /* as it lies in the file */
    uint64_t size;        /* unpacked */
    uint64_t header;      /* offset of the local header */
    const unsigned char *name;
    size_t name_length;
    size_t whole_length; /* of the entry in the directory */
};

static tdc_status damaged(const struct tdc_zip *zip, struct tdc_error *error, const char *reason)
{
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: damaged %s: %s", zip->name, zip->kind.what, reason);
}

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

struct directory {
    uint64_t disks; /* 0 if the archive is in one piece */
    uint64_t members;
    uint64_t size;
    uint64_t offset;
    size_t limit; /* the directory ends at or before this offset */
};

static void read_end(const unsigned char *at, size_t position, struct directory *directory)
{
    directory->disks = (uint64_t)tdc_le16(at + 4) | tdc_le16(at + 6) |
                       (uint64_t)(tdc_le16(at + 8) ^ tdc_le16(at + 10));
    directory->members = tdc_le16(at + 10);
    directory->size = tdc_le32(at + 12);
    directory->offset = tdc_le32(at + 16);
    directory->limit = position;
}

/* False if there is a locator that leads nowhere. */
static bool read_end64(const unsigned char *bytes, size_t end, struct directory *directory)
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
    directory->disks =
        (uint64_t)tdc_le32(at + 16) | tdc_le32(at + 20) | (tdc_le64(at + 24) ^ tdc_le64(at + 32));
    directory->members = tdc_le64(at + 32);
    directory->size = tdc_le64(at + 40);
    directory->offset = tdc_le64(at + 48);
    directory->limit = (size_t)position;
    return true;
}

/* Fields of 32 bits that are full stand in the zip64 extra field, in this order. */
static bool widen(struct entry *entry, const unsigned char *extra, size_t length)
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

static bool read_entry(const struct tdc_zip *zip, size_t position, struct entry *entry)
{
    size_t rest = zip->directory + zip->directory_size - position;
    const unsigned char *at = zip->bytes + position;
    if (rest < ENTRY_SIZE || !has_signature(at, "\1\2"))
        return false;
    size_t extra_length = tdc_le16(at + 30);
    entry->name_length = tdc_le16(at + 28);
    entry->whole_length = ENTRY_SIZE + entry->name_length + extra_length + tdc_le16(at + 32);
    if (entry->whole_length > rest || entry->name_length > NAME_LIMIT)
        return false;
    entry->flags = tdc_le16(at + 8);
    entry->method = tdc_le16(at + 10);
    entry->crc = tdc_le32(at + 16);
    entry->stored_size = tdc_le32(at + 20);
    entry->size = tdc_le32(at + 24);
    entry->header = tdc_le32(at + 42);
    entry->name = at + ENTRY_SIZE;
    uint64_t least_end; /* the local header may have a longer extra field */
    return widen(entry, entry->name + entry->name_length, extra_length) &&
           !__builtin_add_overflow(entry->header, LOCAL_SIZE + entry->name_length, &least_end) &&
           !__builtin_add_overflow(least_end, entry->stored_size, &least_end) &&
           least_end <= zip->members_end;
}

static tdc_status check_entries(struct tdc_zip *zip, struct tdc_error *error)
{
    size_t position = zip->directory;
    for (size_t i = 0; i < zip->members; i++) {
        struct entry entry;
        if (!read_entry(zip, position, &entry))
            return damaged(zip, error, "wrong entry in the central directory");
        if (i == 0 && zip->kind.in_folder) {
            const unsigned char *slash = memchr(entry.name, '/', entry.name_length);
            if (slash == NULL)
                return damaged(zip, error, "its members are not in a folder");
            zip->prefix = entry.name;
            zip->prefix_length = (size_t)(slash + 1 - entry.name);
        }
        position += entry.whole_length;
    }
    return TDC_OK;
}

tdc_status tdc_zip_open(struct tdc_zip *zip, struct tdc_zip_kind kind, const unsigned char *bytes,
                        size_t size, const char *name, struct tdc_error *error)
{
    *zip = (struct tdc_zip){.kind = kind, .bytes = bytes, .size = size, .name = name};
    size_t end;
    if (!find_end(bytes, size, &end))
        return damaged(zip, error, "no zip directory at its end (truncated?)");
    struct directory directory;
    read_end(bytes + end, end, &directory);
    if (!read_end64(bytes, end, &directory))
        return damaged(zip, error, "wrong zip64 record");
    if (directory.disks != 0)
        return damaged(zip, error, "zip archive in several parts");
    if (directory.members > MEMBER_LIMIT)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: not a %s: too many zip members", name,
                        kind.what);
    if (directory.members == 0)
        return damaged(zip, error, "no zip members");
    if (directory.offset > directory.limit || directory.size > directory.limit - directory.offset)
        return damaged(zip, error, "central directory outside the file");
    zip->directory = (size_t)directory.offset;
    zip->directory_size = (size_t)directory.size;
    zip->members_end = zip->directory;
    zip->members = (size_t)directory.members;
    return check_entries(zip, error);
}

static bool is_called(const struct tdc_zip *zip, const struct entry *entry, const char *folder,
                      const unsigned char *key, size_t key_length)
{
    size_t folder_length = strlen(folder);
    const unsigned char *at = entry->name;
    if (entry->name_length < zip->prefix_length ||
        entry->name_length - zip->prefix_length != folder_length + key_length)
        return false;
    return (zip->prefix_length == 0 || memcmp(at, zip->prefix, zip->prefix_length) == 0) &&
           memcmp(at + zip->prefix_length, folder, folder_length) == 0 &&
           memcmp(at + zip->prefix_length + folder_length, key, key_length) == 0;
}

static bool local_size_agrees(uint32_t local, const struct entry *entry, uint64_t size)
{
    if (local == UINT32_MAX || (local == 0 && (entry->flags & FLAG_DESCRIPTOR) != 0))
        return true;
    return local == size;
}

/* Checks the local header against the directory and finds the data behind it. */
static tdc_status locate(const struct tdc_zip *zip, const struct entry *entry,
                         struct tdc_zip_member *member, struct tdc_error *error)
{
    if ((entry->flags & FLAG_ENCRYPTED) != 0)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: encrypted member", zip->name);
    if (entry->method != METHOD_STORED && !(zip->kind.deflated && entry->method == METHOD_DEFLATED))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: compressed member (method %u)", zip->name,
                        entry->method);
    /* read_entry has seen that header, name and data fit before the directory */
    const unsigned char *at = zip->bytes + entry->header;
    if (!has_signature(at, "\3\4") || tdc_le16(at + 8) != entry->method ||
        ((tdc_le16(at + 6) ^ entry->flags) & FLAG_ENCRYPTED) != 0 ||
        tdc_le16(at + 26) != entry->name_length ||
        memcmp(at + LOCAL_SIZE, entry->name, entry->name_length) != 0 ||
        !local_size_agrees(tdc_le32(at + 18), entry, entry->stored_size) ||
        !local_size_agrees(tdc_le32(at + 22), entry, entry->size) ||
        (entry->method == METHOD_STORED && entry->stored_size != entry->size))
        return damaged(zip, error, "local header and central directory differ");
    size_t data = (size_t)entry->header + LOCAL_SIZE + entry->name_length + tdc_le16(at + 28);
    if (data > zip->members_end || entry->stored_size > zip->members_end - data)
        return damaged(zip, error, "member outside the file");
    member->data = zip->bytes + data;
    member->stored_size = (size_t)entry->stored_size;
    member->size = (size_t)entry->size;
    member->crc = entry->crc;
    member->deflated = entry->method == METHOD_DEFLATED;
    return TDC_OK;
}

/* No other member may begin inside this one or reach into it. */
static bool stands_alone(const struct tdc_zip *zip, size_t own_position, const struct entry *own,
                         const struct tdc_zip_member *member)
{
    uint64_t own_end = (uint64_t)(member->data - zip->bytes) + member->stored_size;
    size_t position = zip->directory;
    for (size_t i = 0; i < zip->members; i++) {
        struct entry other;
        if (!read_entry(zip, position, &other))
            return false;
        uint64_t other_end = other.header + LOCAL_SIZE + other.name_length + other.stored_size;
        if (position != own_position && other.header < own_end && own->header < other_end)
            return false;
        position += other.whole_length;
    }
    return true;
}

tdc_status tdc_zip_find(const struct tdc_zip *zip, const char *folder, const unsigned char *key,
                        size_t key_length, struct tdc_zip_member *member, struct tdc_error *error)
{
    *member = (struct tdc_zip_member){.found = false};
    struct entry found = {0};
    size_t found_position = 0, position = zip->directory;
    for (size_t i = 0; i < zip->members; i++) {
        struct entry entry;
        if (!read_entry(zip, position, &entry))
            return damaged(zip, error, "wrong entry in the central directory");
        if (is_called(zip, &entry, folder, key, key_length)) {
            if (member->found)
                return damaged(zip, error, "two members of the same name");
            member->found = true;
            found = entry;
            found_position = position;
        }
        position += entry.whole_length;
    }
    if (!member->found)
        return TDC_OK;
    tdc_status status = locate(zip, &found, member, error);
    if (status == TDC_OK && !stands_alone(zip, found_position, &found, member))
        return damaged(zip, error, "overlapping members");
    return status;
}
