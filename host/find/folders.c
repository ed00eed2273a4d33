#include "host/find/folders.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/base/error.h"
#include "io/storage/patience.h"
#include "io/storage/storage_calls.h"

/* More ranks than any cluster; a folder with more is something else. */
#define NAMES_LIMIT 1000000

bool tdc_may_be(const char *path, mode_t kind)
{
    struct stat info;
    int number = tdc_storage_stat(path, &info);
    return number == 0 ? (info.st_mode & S_IFMT) == kind
                       : number == TDC_NO_ANSWER || number == TDC_NOT_TRIED;
}

char *tdc_path_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

void tdc_find_say(const struct tdc_options *options, tdc_message_level level, const char *format,
                  ...)
{
    if (options->message == NULL)
        return;
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->message(options->context, level, text);
}

/* prefix, or prefix followed by a number without leading zeros. */
static bool numbered(const char *name, const char *prefix, long *number)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    const char *digits = name + length;
    *number = -1;
    if (*digits == '\0')
        return true;
    if (strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 9 ||
        (digits[0] == '0' && digits[1] != '\0'))
        return false;
    *number = strtol(digits, NULL, 10);
    return true;
}

static bool add_name(struct tdc_names *names, const char *name, long number)
{
    if (names->count >= NAMES_LIMIT)
        return false;
    struct tdc_numbered *grown = realloc(names->names, (names->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    names->names = grown;
    char *copy = strdup(name);
    if (copy == NULL)
        return false;
    names->names[names->count++] = (struct tdc_numbered){copy, number};
    return true;
}

static int by_number(const void *left, const void *right)
{
    long a = ((const struct tdc_numbered *)left)->number;
    long b = ((const struct tdc_numbered *)right)->number;
    return (a > b) - (a < b);
}

tdc_status tdc_folder_names(const char *folder, const char *prefix, struct tdc_names *names,
                            struct tdc_error *error)
{
    *names = (struct tdc_names){0};
    struct tdc_listing listing;
    int failure = tdc_storage_list(folder, &listing);
    if (failure != 0)
        return tdc_fail_errno(error,
                              failure == ENOENT   ? TDC_ERR_NOT_FOUND
                              : failure == ENOMEM ? TDC_ERR_MEMORY
                                                  : TDC_ERR_READ,
                              failure, "%s", folder);
    bool ok = true;
    for (size_t i = 0; ok && i < listing.count; i++) {
        long number;
        if (numbered(listing.names[i], prefix, &number)) {
            ok = add_name(names, listing.names[i], number);
        } else if (names->stranger == NULL) {
            names->stranger = strdup(listing.names[i]);
            ok = names->stranger != NULL;
        }
    }
    tdc_listing_free(&listing);
    if (!ok) {
        tdc_folder_names_free(names);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory or too many entries", folder);
    }
    if (names->count > 1)
        qsort(names->names, names->count, sizeof *names->names, by_number);
    return TDC_OK;
}

void tdc_folder_names_free(struct tdc_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i].name);
    free(names->names);
    free(names->stranger);
    *names = (struct tdc_names){0};
}
