#include "io/xlsx_package.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/error.h"
#include "io/little_endian.h"

#define END_RECORD       22u
#define END_SIGNATURE    0x06054b50u
#define LOCATOR          20u
#define LOCATOR_MARK     0x07064b50u
#define END64_RECORD     56u
#define END64_SIGNATURE  0x06064b50u
#define RECORD           46u
#define RECORD_SIGNATURE 0x02014b50u
#define LOCAL            30u
#define LOCAL_SIGNATURE  0x04034b50u
#define NARROW_MAXIMUM   0xffffffffu
/* A record takes less than 100 bytes, and there is one a sheet. */
#define DIRECTORY_LIMIT ((uint64_t)16 << 20)

static tdc_status damaged(const struct tdc_xlsx_package *package, const char *what,
                          struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_WRITE, "%s: was not written completely (%s); is the disk full?",
                    package->label, what);
}

tdc_status tdc_xlsx_read(const struct tdc_xlsx_package *package, uint64_t offset, void *data,
                         size_t length, struct tdc_error *error)
{
    unsigned char *to = data;
    if (offset > INT64_MAX || length > INT64_MAX - offset)
        return damaged(package, "offset out of range", error);
    while (length != 0) {
        ssize_t done = pread(package->fd, to, length, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be read back",
                                  package->label);
        if (done == 0)
            return damaged(package, "it ends early", error);
        to += done;
        offset += (uint64_t)done;
        length -= (size_t)done;
    }
    return TDC_OK;
}

/* Fills the place of the directory from the 64-bit end record. */
static tdc_status read_end64(struct tdc_xlsx_package *package, uint64_t end_offset,
                             uint64_t *directory_length, struct tdc_error *error)
{
    unsigned char locator[LOCATOR];
    unsigned char end[END64_RECORD];
    if (end_offset < LOCATOR)
        return damaged(package, "no directory", error);
    tdc_status status = tdc_xlsx_read(package, end_offset - LOCATOR, locator, LOCATOR, error);
    if (status != TDC_OK)
        return status;
    if (tdc_le32(locator) != LOCATOR_MARK)
        return damaged(package, "no directory", error);
    status = tdc_xlsx_read(package, tdc_le64(locator + 8), end, END64_RECORD, error);
    if (status != TDC_OK)
        return status;
    if (tdc_le32(end) != END64_SIGNATURE)
        return damaged(package, "no directory", error);
    package->zip64 = true;
    package->member_count = tdc_le64(end + 32);
    *directory_length = tdc_le64(end + 40);
    package->directory_offset = tdc_le64(end + 48);
    return TDC_OK;
}

static tdc_status read_end(struct tdc_xlsx_package *package, uint64_t *directory_length,
                           struct tdc_error *error)
{
    struct stat status;
    if (fstat(package->fd, &status) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be read back",
                              package->label);
    uint64_t size = status.st_size < 0 ? 0 : (uint64_t)status.st_size;
    unsigned char end[END_RECORD];
    if (size < END_RECORD)
        return damaged(package, "no directory", error);
    tdc_status result = tdc_xlsx_read(package, size - END_RECORD, end, END_RECORD, error);
    if (result != TDC_OK)
        return result;
    if (tdc_le32(end) != END_SIGNATURE || tdc_le16(end + 20) != 0)
        return damaged(package, "no directory", error);
    package->member_count = tdc_le16(end + 10);
    *directory_length = tdc_le32(end + 12);
    package->directory_offset = tdc_le32(end + 16);
    if (package->member_count == 0xffff || *directory_length == NARROW_MAXIMUM ||
        package->directory_offset == NARROW_MAXIMUM)
        result = read_end64(package, size - END_RECORD, directory_length, error);
    if (result == TDC_OK && (*directory_length > DIRECTORY_LIMIT || *directory_length > size ||
                             package->directory_offset > size - *directory_length))
        return damaged(package, "its directory is out of range", error);
    return result;
}

/* The fields that did not fit the record, in the order the format gives them. */
static bool read_wide_fields(const unsigned char *extra, size_t length,
                             struct tdc_xlsx_member *member)
{
    while (length >= 4) {
        size_t field = tdc_le16(extra + 2);
        if (field > length - 4)
            return false;
        if (tdc_le16(extra) == 1) {
            const unsigned char *at = extra + 4;
            uint64_t *wide[] = {&member->size, &member->compressed, &member->offset};
            for (size_t i = 0; i < 3; i++) {
                if (*wide[i] != NARROW_MAXIMUM)
                    continue;
                if (field < 8)
                    return false;
                *wide[i] = tdc_le64(at);
                at += 8;
                field -= 8;
            }
            return true;
        }
        extra += 4 + field;
        length -= 4 + field;
    }
    return false;
}

bool tdc_xlsx_package_next(const struct tdc_xlsx_package *package, size_t *position,
                           struct tdc_xlsx_member *member)
{
    size_t room = package->directory_length - *position;
    const unsigned char *record = package->directory + *position;
    if (room < RECORD || tdc_le32(record) != RECORD_SIGNATURE)
        return false;
    size_t name = tdc_le16(record + 28);
    size_t extra = tdc_le16(record + 30);
    size_t whole = RECORD + name + extra + tdc_le16(record + 32);
    if (whole > room)
        return false;
    *member = (struct tdc_xlsx_member){
        .flags = tdc_le16(record + 8),
        .method = tdc_le16(record + 10),
        .crc = tdc_le32(record + 16),
        .compressed = tdc_le32(record + 20),
        .size = tdc_le32(record + 24),
        .offset = tdc_le32(record + 42),
        .record = *position,
        .record_length = whole,
        .name = (const char *)record + RECORD,
        .name_length = name,
    };
    bool wide = member->compressed == NARROW_MAXIMUM || member->size == NARROW_MAXIMUM ||
                member->offset == NARROW_MAXIMUM;
    if (wide && !read_wide_fields(record + RECORD + name, extra, member))
        return false;
    *position += whole;
    return true;
}

bool tdc_xlsx_package_find(const struct tdc_xlsx_package *package, const char *name,
                           struct tdc_xlsx_member *member)
{
    size_t length = strlen(name);
    size_t position = 0;
    while (tdc_xlsx_package_next(package, &position, member))
        if (member->name_length == length && memcmp(member->name, name, length) == 0)
            return true;
    return false;
}

tdc_status tdc_xlsx_content_offset(const struct tdc_xlsx_package *package,
                                   const struct tdc_xlsx_member *member, uint64_t *offset,
                                   struct tdc_error *error)
{
    unsigned char local[LOCAL];
    tdc_status status = tdc_xlsx_read(package, member->offset, local, LOCAL, error);
    if (status != TDC_OK)
        return status;
    if (tdc_le32(local) != LOCAL_SIGNATURE)
        return damaged(package, "a part is not where the directory says", error);
    *offset = member->offset + LOCAL + tdc_le16(local + 26) + tdc_le16(local + 28);
    if (*offset > package->directory_offset ||
        member->compressed > package->directory_offset - *offset)
        return damaged(package, "a part ends outside the file", error);
    return TDC_OK;
}

/* Every record whole, every member where it is said to be. */
static tdc_status check_members(struct tdc_xlsx_package *package, struct tdc_error *error)
{
    size_t position = 0;
    size_t count = 0;
    struct tdc_xlsx_member member;
    while (tdc_xlsx_package_next(package, &position, &member)) {
        uint64_t content;
        tdc_status status = tdc_xlsx_content_offset(package, &member, &content, error);
        if (status != TDC_OK)
            return status;
        if (member.size >= NARROW_MAXIMUM || member.offset >= NARROW_MAXIMUM)
            package->zip64 = true;
        count++;
    }
    if (position != package->directory_length || count != package->member_count)
        return damaged(package, "its directory is damaged", error);
    return TDC_OK;
}

tdc_status tdc_xlsx_package_open(int fd, const char *label, struct tdc_xlsx_package *package,
                                 struct tdc_error *error)
{
    *package = (struct tdc_xlsx_package){.fd = fd, .label = label};
    uint64_t length = 0;
    tdc_status status = read_end(package, &length, error);
    if (status != TDC_OK)
        return status;
    package->directory = malloc((size_t)length + 1);
    package->directory_length = (size_t)length;
    if (package->directory == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", label);
    status = tdc_xlsx_read(package, package->directory_offset, package->directory, (size_t)length,
                           error);
    if (status == TDC_OK)
        status = check_members(package, error);
    if (status != TDC_OK)
        tdc_xlsx_package_free(package);
    return status;
}

void tdc_xlsx_package_free(struct tdc_xlsx_package *package)
{
    free(package->directory);
    package->directory = NULL;
}
