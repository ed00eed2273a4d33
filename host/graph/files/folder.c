#include "host/graph/files/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/base/error.h"
#include "io/storage/storage_calls.h"

#define MOST_NAMES 1000000

static int by_name(const void *left, const void *right)
{
    const struct tdc_folder_entry *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* Room for one more; doubles within the arena, which forgets nothing until the end. */
static bool grow(struct tdc_arena *arena, struct tdc_folder *folder, size_t *capacity)
{
    if (folder->count < *capacity)
        return true;
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    struct tdc_folder_entry *entries = tdc_arena_take(arena, wanted * sizeof *entries);
    if (entries == NULL)
        return false;
    if (folder->count != 0)
        memcpy(entries, folder->entries, folder->count * sizeof *entries);
    folder->entries = entries;
    *capacity = wanted;
    return true;
}

static tdc_status add_all(struct tdc_arena *arena, const char *path,
                          const struct tdc_listing *listing, struct tdc_folder *folder)
{
    size_t capacity = 0;
    for (size_t i = 0; i < listing->count; i++) {
        struct stat info;
        char whole[PATH_MAX];
        int length = snprintf(whole, sizeof whole, "%s/%s", path, listing->names[i]);
        if (length < 0 || (size_t)length >= sizeof whole || tdc_storage_stat(whole, &info) != 0 ||
            !(S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)))
            continue;
        const char *name = tdc_arena_text(arena, listing->names[i], strlen(listing->names[i]));
        if (name == NULL || folder->count == MOST_NAMES || !grow(arena, folder, &capacity))
            return TDC_ERR_MEMORY;
        bool is_folder = S_ISDIR(info.st_mode);
        folder->entries[folder->count++] = (struct tdc_folder_entry){
            name, is_folder, is_folder || info.st_size < 0 ? 0 : (uint64_t)info.st_size};
        folder->folders += is_folder;
    }
    return TDC_OK;
}

tdc_status tdc_folder_read(struct tdc_arena *arena, const char *path, struct tdc_folder *folder,
                           struct tdc_error *error)
{
    *folder = (struct tdc_folder){0};
    struct tdc_listing listing;
    int number = tdc_storage_list(path, &listing);
    if (number != 0)
        return tdc_fail_errno(error,
                              number == ENOENT   ? TDC_ERR_NOT_FOUND
                              : number == ENOMEM ? TDC_ERR_MEMORY
                                                 : TDC_ERR_READ,
                              number, "%s", path);
    tdc_status status = add_all(arena, path, &listing, folder);
    tdc_listing_free(&listing);
    if (status != TDC_OK)
        return tdc_fail(error, status, "%s: out of memory or too many names", path);
    if (folder->count > 1)
        qsort(folder->entries, folder->count, sizeof *folder->entries, by_name);
    return TDC_OK;
}

const char *tdc_folder_path(struct tdc_arena *arena, const char *folder, const char *name)
{
    size_t first = strlen(folder), second = strlen(name);
    while (first > 1 && folder[first - 1] == '/')
        first--;
    char *path = tdc_arena_take(arena, first + second + 2);
    if (path != NULL)
        snprintf(path, first + second + 2, "%.*s/%s", (int)first, folder, name);
    return path;
}

bool tdc_all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return length != 0;
}

uint64_t tdc_folder_number(const char *text, size_t length)
{
    uint64_t number = 0;
    if (!tdc_all_digits(text, length))
        return 0;
    for (size_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return UINT64_MAX;
    return number;
}
