#include "io/storage/storage_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/storage/mounts.h"

/* One call on a path. */
struct asking {
    struct tdc_call call;
    int number; /* errno; 0: success */
    int wanted; /* of access */
    struct tdc_opened opened;
    struct stat info;
    char *real;
    struct tdc_listing listing;
    char path[];
};

static void drop(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    if (asking->opened.descriptor >= 0)
        close(asking->opened.descriptor);
    free(asking->real);
    tdc_listing_free(&asking->listing);
    free(asking);
}

/* Made by another thread where `mount` is one. NULL with *number when there is no answer. */
static struct asking *ask_for(const char *path, struct tdc_mount *mount, int wanted,
                              void (*run)(struct tdc_call *call), int *number)
{
    size_t length = strlen(path) + 1;
    struct asking *asking = calloc(1, sizeof *asking + length);
    if (asking == NULL) {
        *number = ENOMEM;
        return NULL;
    }
    asking->opened.descriptor = -1;
    asking->wanted = wanted;
    memcpy(asking->path, path, length);
    asking->call = (struct tdc_call){.run = run, .drop = drop, .mount = mount};
    if (mount == NULL) {
        run(&asking->call);
    } else {
        *number = tdc_call_make(&asking->call);
        if (*number != 0)
            return NULL;
    }
    *number = asking->number;
    return asking;
}

static struct asking *ask(const char *path, struct tdc_mount *mount,
                          void (*run)(struct tdc_call *call), int *number)
{
    return ask_for(path, mount, 0, run, number);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* The storage of descriptors; NULL: local. */
enum {
    MOST_MARKED = 1 << 16
};
static _Atomic(struct tdc_mount *) marks[MOST_MARKED];

void tdc_storage_opened(int descriptor, struct tdc_mount *mount)
{
    if (descriptor < MOST_MARKED)
        atomic_store(&marks[descriptor], mount);
}

struct tdc_mount *tdc_storage_mount(int descriptor)
{
    if (descriptor < 0 || descriptor >= MOST_MARKED)
        return NULL;
    return atomic_load(&marks[descriptor]);
}

int tdc_storage_again(int descriptor)
{
    int again = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (again >= 0)
        tdc_storage_opened(again, tdc_storage_mount(descriptor));
    return again;
}

static int open_again(const char *path, int flags)
{
    int descriptor;
    do
        descriptor = open(path, flags);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

/* O_NONBLOCK: opening a pipe without a writer would wait for ever; files do not care. */
#define READING (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int describe(struct tdc_opened *opened)
{
    if (opened->descriptor < 0)
        return errno;
    tdc_storage_opened(opened->descriptor,
                       NULL); /* whoever closed it last may have forgotten to tell */
    if (fstat(opened->descriptor, &opened->info) == 0)
        return 0;
    int number = errno;
    close(opened->descriptor);
    opened->descriptor = -1;
    return number;
}

int tdc_open_plainly(const char *path, struct tdc_opened *opened)
{
    *opened = (struct tdc_opened){.descriptor = open_again(path, READING | O_NOFOLLOW)};
    if (opened->descriptor < 0 && errno == ELOOP) {
        opened->linked = true;
        opened->descriptor = open_again(path, READING);
    }
    return describe(opened);
}

static void run_open(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->number = tdc_open_plainly(asking->path, &asking->opened);
}

static int open_patiently(const char *path, struct tdc_mount *mount, struct tdc_opened *opened)
{
    int number;
    struct asking *asking = ask(path, mount, run_open, &number);
    if (asking == NULL)
        return number;
    *opened = asking->opened;
    free(asking);
    if (number == 0)
        tdc_storage_opened(opened->descriptor, mount);
    return number;
}

int tdc_storage_open(const char *path, struct tdc_opened *opened)
{
    *opened = (struct tdc_opened){.descriptor = -1};
    struct tdc_mount *mount = tdc_mount_of_file(path);
    if (mount != NULL)
        return open_patiently(path, mount, opened);
    opened->descriptor = open_again(path, READING | O_NOFOLLOW);
    if (opened->descriptor < 0 && errno == ELOOP) {
        /* it leads anywhere */
        mount = tdc_mount_of_path(path);
        if (mount != NULL)
            return open_patiently(path, mount, opened);
        opened->linked = true;
        opened->descriptor = open_again(path, READING);
    }
    return describe(opened);
}

struct closing {
    struct tdc_call call;
    int descriptor;
};

static void run_close(struct tdc_call *call)
{
    close(((struct closing *)call)->descriptor);
}

static void drop_closing(struct tdc_call *call)
{
    free(call);
}

void tdc_storage_close(int descriptor)
{
    struct tdc_mount *mount = tdc_storage_mount(descriptor);
    struct closing *closing = mount != NULL ? calloc(1, sizeof *closing) : NULL;
    if (mount != NULL)
        tdc_storage_opened(descriptor, NULL);
    if (closing == NULL) {
        close(descriptor);
        return;
    }
    closing->descriptor = descriptor;
    closing->call = (struct tdc_call){.run = run_close, .drop = drop_closing, .mount = mount};
    tdc_call_leave(&closing->call);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void run_stat(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->number = stat(asking->path, &asking->info) == 0 ? 0 : errno;
}

static void run_lstat(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->number = lstat(asking->path, &asking->info) == 0 ? 0 : errno;
}

static int look(const char *path, void (*run)(struct tdc_call *call), struct tdc_mount *mount,
                struct stat *info)
{
    int number;
    struct asking *asking = ask(path, mount, run, &number);
    if (asking != NULL)
        *info = asking->info;
    free(asking);
    return number;
}

int tdc_storage_stat(const char *path, struct stat *info)
{
    struct tdc_mount *mount = tdc_mount_of_path(path);
    if (mount == NULL) /* takes no memory */
        return stat(path, info) == 0 ? 0 : errno;
    return look(path, run_stat, mount, info);
}

int tdc_storage_lstat(const char *path, struct stat *info)
{
    struct tdc_mount *mount = tdc_mount_of_path(path);
    if (mount == NULL)
        return lstat(path, info) == 0 ? 0 : errno;
    return look(path, run_lstat, mount, info);
}

static void run_access(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->number = access(asking->path, asking->wanted) == 0 ? 0 : errno;
}

int tdc_storage_access(const char *path, int wanted)
{
    struct tdc_mount *mount = tdc_mount_of_path(path);
    if (mount == NULL)
        return access(path, wanted) == 0 ? 0 : errno;
    int number;
    free(ask_for(path, mount, wanted, run_access, &number));
    return number;
}

static void run_realpath(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    asking->real = realpath(asking->path, NULL);
    asking->number = asking->real != NULL ? 0 : errno;
}

int tdc_storage_realpath(const char *path, char **real)
{
    int number;
    struct asking *asking = ask(path, tdc_mount_of_path(path), run_realpath, &number);
    *real = asking != NULL ? asking->real : NULL;
    free(asking);
    return number;
}

/* ---- folders --------------------------------------------------------------------------------- */

void tdc_listing_free(struct tdc_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->names[i]);
    free(listing->names);
    *listing = (struct tdc_listing){0};
}

/* The room doubles whenever the count is a power of two. */
static bool add_name(struct tdc_listing *listing, const char *name)
{
    size_t count = listing->count;
    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : 2 * count;
        char **grown = reallocarray(listing->names, room, sizeof *grown);
        if (grown == NULL)
            return false;
        listing->names = grown;
    }
    listing->names[count] = strdup(name);
    if (listing->names[count] == NULL)
        return false;
    listing->count++;
    return true;
}

static int by_bytes(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

void tdc_listing_sort(struct tdc_listing *listing)
{
    if (listing->count != 0)
        qsort(listing->names, listing->count, sizeof *listing->names, by_bytes);
}

static void run_list(struct tdc_call *call)
{
    struct asking *asking = (struct asking *)call;
    DIR *folder = opendir(asking->path);
    if (folder == NULL) {
        asking->number = errno;
        return;
    }
    const struct dirent *entry;
    while (asking->number == 0 && (errno = 0, entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !add_name(&asking->listing, entry->d_name))
            asking->number = ENOMEM;
    if (asking->number == 0)
        asking->number = errno;
    closedir(folder);
}

int tdc_storage_list(const char *folder, struct tdc_listing *listing)
{
    int number;
    struct asking *asking = ask(folder, tdc_mount_of_path(folder), run_list, &number);
    *listing = (struct tdc_listing){0};
    if (asking == NULL)
        return number;
    if (number == 0)
        *listing = asking->listing;
    else
        tdc_listing_free(&asking->listing);
    free(asking);
    return number;
}
