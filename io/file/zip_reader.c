#include "io/file/zip_reader.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"

#define MEMBER_LIMIT ((uint64_t)1 << 16)

static tdc_status damaged(const struct tdc_zip *zip, struct tdc_error *error, const char *reason)
{
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: damaged %s: %s", zip->name, zip->kind.what, reason);
}

static tdc_status check_entries(struct tdc_zip *zip, struct tdc_error *error)
{
    size_t position = zip->directory.start;
    for (size_t i = 0; i < zip->directory.members; i++) {
        struct tdc_zip_entry entry;
        if (!tdc_zip_entry_read(&zip->directory, position, &entry))
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
    *zip = (struct tdc_zip){.kind = kind, .bytes = bytes, .name = name};
    const char *reason = tdc_zip_directory_find(&zip->directory, bytes, size);
    if (reason != NULL)
        return damaged(zip, error, reason);
    if (zip->directory.members > MEMBER_LIMIT)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: not a %s: too many zip members", name,
                        kind.what);
    if (zip->directory.members == 0)
        return damaged(zip, error, "no zip members");
    return check_entries(zip, error);
}

static bool is_called(const struct tdc_zip *zip, const struct tdc_zip_entry *entry,
                      const char *folder, const unsigned char *key, size_t key_length)
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

static bool local_size_agrees(uint32_t local, const struct tdc_zip_entry *entry, uint64_t size)
{
    if (local == UINT32_MAX || (local == 0 && (entry->flags & TDC_ZIP_DESCRIPTOR) != 0))
        return true;
    return local == size;
}

/* Checks the local header against the directory and finds the data behind it. */
static tdc_status locate(const struct tdc_zip *zip, const struct tdc_zip_entry *entry,
                         struct tdc_zip_member *member, struct tdc_error *error)
{
    if ((entry->flags & TDC_ZIP_ENCRYPTED) != 0)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: encrypted member", zip->name);
    if (entry->method != TDC_ZIP_STORED &&
        !(zip->kind.deflated && entry->method == TDC_ZIP_DEFLATED))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: compressed member (method %u)", zip->name,
                        entry->method);
    /* tdc_zip_entry_read has seen that header, name and data fit before the directory */
    const unsigned char *at = zip->bytes + entry->header;
    if (memcmp(at, "PK\3\4", 4) != 0 || tdc_le16(at + 8) != entry->method ||
        ((tdc_le16(at + 6) ^ entry->flags) & TDC_ZIP_ENCRYPTED) != 0 ||
        tdc_le16(at + 26) != entry->name_length ||
        memcmp(at + TDC_ZIP_LOCAL, entry->name, entry->name_length) != 0 ||
        !local_size_agrees(tdc_le32(at + 18), entry, entry->stored_size) ||
        !local_size_agrees(tdc_le32(at + 22), entry, entry->size) ||
        (entry->method == TDC_ZIP_STORED && entry->stored_size != entry->size))
        return damaged(zip, error, "local header and central directory differ");
    size_t data = (size_t)entry->header + TDC_ZIP_LOCAL + entry->name_length + tdc_le16(at + 28);
    if (data > zip->directory.start || entry->stored_size > zip->directory.start - data)
        return damaged(zip, error, "member outside the file");
    member->data = zip->bytes + data;
    member->stored_size = (size_t)entry->stored_size;
    member->size = (size_t)entry->size;
    member->crc = entry->crc;
    member->deflated = entry->method == TDC_ZIP_DEFLATED;
    return TDC_OK;
}

/* No other member may begin inside this one or reach into it. */
static bool stands_alone(const struct tdc_zip *zip, size_t own_position,
                         const struct tdc_zip_entry *own, const struct tdc_zip_member *member)
{
    uint64_t own_end = (uint64_t)(member->data - zip->bytes) + member->stored_size;
    size_t position = zip->directory.start;
    for (size_t i = 0; i < zip->directory.members; i++) {
        struct tdc_zip_entry other;
        if (!tdc_zip_entry_read(&zip->directory, position, &other))
            return false;
        uint64_t other_end = other.header + TDC_ZIP_LOCAL + other.name_length + other.stored_size;
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
    struct tdc_zip_entry found = {0};
    size_t found_position = 0, position = zip->directory.start;
    for (size_t i = 0; i < zip->directory.members; i++) {
        struct tdc_zip_entry entry;
        if (!tdc_zip_entry_read(&zip->directory, position, &entry))
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

/* ---- all members ----------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct tdc_zip_item *x = *(const struct tdc_zip_item *const *)a;
    const struct tdc_zip_item *y = *(const struct tdc_zip_item *const *)b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int compare_names(const unsigned char *a, size_t a_length, const unsigned char *b,
                         size_t b_length)
{
    size_t common = a_length < b_length ? a_length : b_length;
    int order = common != 0 ? memcmp(a, b, common) : 0;
    return order != 0 ? order : a_length < b_length ? -1 : a_length > b_length;
}

static int by_name(const void *a, const void *b)
{
    const struct tdc_zip_item *x = *(const struct tdc_zip_item *const *)a;
    const struct tdc_zip_item *y = *(const struct tdc_zip_item *const *)b;
    return compare_names(x->name, x->name_length, y->name, y->name_length);
}

/* Until overlaps are looked for the name is that of the local header, which lies before the data:
 * members in the order of their names are members in the order of the file. */
static tdc_status check_order(const struct tdc_zip *zip, const struct tdc_zip_list *list,
                              struct tdc_arena *arena, struct tdc_error *error)
{
    qsort(list->by_name, list->count, sizeof *list->by_name, by_place);
    for (size_t i = 1; i < list->count; i++) {
        const struct tdc_zip_member *before = &list->by_name[i - 1]->member;
        if (before->data + before->stored_size > list->by_name[i]->name - TDC_ZIP_LOCAL)
            return damaged(zip, error, "overlapping members");
    }
    for (size_t i = 0; i < list->count; i++) {
        struct tdc_zip_item *item = &list->items[i];
        if (item->name_length < zip->prefix_length ||
            (zip->prefix_length != 0 && memcmp(item->name, zip->prefix, zip->prefix_length) != 0))
            return damaged(zip, error, "its members are not in one folder");
        item->name_length -= zip->prefix_length;
        item->name = (const unsigned char *)tdc_arena_text(
            arena, (const char *)item->name + zip->prefix_length, item->name_length);
        if (item->name == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", zip->name);
    }
    qsort(list->by_name, list->count, sizeof *list->by_name, by_name);
    for (size_t i = 1; i < list->count; i++)
        if (by_name(&list->by_name[i - 1], &list->by_name[i]) == 0)
            return damaged(zip, error, "two members of the same name");
    return TDC_OK;
}

tdc_status tdc_zip_list_make(const struct tdc_zip *zip, struct tdc_arena *arena,
                             struct tdc_zip_list *list, struct tdc_error *error)
{
    size_t members = (size_t)zip->directory.members, position = zip->directory.start;
    *list = (struct tdc_zip_list){
        .items = tdc_arena_zeroed(arena, members, sizeof *list->items),
        .by_name = tdc_arena_zeroed(arena, members, sizeof *list->by_name),
    };
    if (list->items == NULL || list->by_name == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", zip->name);
    for (size_t i = 0; i < members; i++) {
        struct tdc_zip_entry entry;
        if (!tdc_zip_entry_read(&zip->directory, position, &entry))
            return damaged(zip, error, "wrong entry in the central directory");
        position += entry.whole_length;
        if (entry.name_length == 0 || entry.name[entry.name_length - 1] == '/')
            continue;
        struct tdc_zip_item *item = &list->items[list->count];
        tdc_status status = locate(zip, &entry, &item->member, error);
        if (status != TDC_OK)
            return status;
        item->member.found = true;
        item->name = zip->bytes + entry.header + TDC_ZIP_LOCAL;
        item->name_length = entry.name_length;
        list->by_name[list->count++] = item;
    }
    return check_order(zip, list, arena, error);
}

const struct tdc_zip_item *tdc_zip_list_find(const struct tdc_zip_list *list, const char *folder,
                                             const unsigned char *key, size_t key_length)
{
    size_t folder_length = strlen(folder), low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tdc_zip_item *item = list->by_name[middle];
        size_t first = item->name_length < folder_length ? item->name_length : folder_length;
        int order = compare_names(item->name, first, (const unsigned char *)folder, folder_length);
        if (order == 0)
            order = compare_names(item->name + folder_length, item->name_length - folder_length,
                                  key, key_length);
        if (order == 0)
            return item;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
