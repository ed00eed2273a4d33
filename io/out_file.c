#include "io/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/error.h"

/* ---- the table of temporaries --------------------------------------------------------------- */

/* FREE -> FILLING -> LISTED -> FREE by who writes the file. tdc_out_files_remove borrows a LISTED
 * slot (-> REMOVING -> LISTED), so that the name cannot change under it. */
enum slot_state {
    SLOT_FREE,
    SLOT_FILLING,
    SLOT_LISTED,
    SLOT_REMOVING
};

#define SLOTS 64

static struct {
    atomic_int state;
    char path[PATH_MAX];
} slots[SLOTS];

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler uses the table");

/* -1 when all are taken. */
static int slot_claim(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_FILLING))
            return i;
    }
    return -1;
}

/* Waits for a tdc_out_files_remove in another thread, which takes one unlink. In the thread of the
 * signal handler itself the slot is never found borrowed: the handler has ended by then. */
static void slot_take_back(int slot, int next)
{
    int expected = SLOT_LISTED;
    while (!atomic_compare_exchange_weak(&slots[slot].state, &expected, next)) {
        expected = SLOT_LISTED;
        sched_yield();
    }
}

void tdc_out_files_remove(void)
{
    int saved = errno;
    for (int i = 0; i < SLOTS; i++) {
        int expected = SLOT_LISTED;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_REMOVING)) {
            unlink(slots[i].path);
            atomic_store(&slots[i].state, SLOT_LISTED);
        }
    }
    errno = saved;
}

/* ---- one file ------------------------------------------------------------------------------- */

/* Bytes of the folder part of a path, slash included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* The name is short, whatever the final one: that may be as long as the file system allows. */
static bool temporary_name(char name[PATH_MAX], const char *path)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    size_t folder = folder_length(path);
    int length = snprintf(name, PATH_MAX, "%.*s.tdcmp-%016llx.tmp", (int)folder, path,
                          (unsigned long long)random);
    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

/* Listed before it exists, so that no signal finds it unlisted. */
static int create_listed(int slot, const char *path)
{
    for (int attempt = 0; attempt < 16; attempt++) {
        if (!temporary_name(slots[slot].path, path))
            return -1;
        atomic_store(&slots[slot].state, SLOT_LISTED);
        int fd = open(slots[slot].path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0)
            return fd;
        int number = errno;
        slot_take_back(slot, SLOT_FILLING);
        errno = number;
        if (number != EEXIST)
            return -1;
    }
    return -1;
}

static void forget(struct tdc_out_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->slot >= 0)
        slot_take_back(file->slot, SLOT_FREE);
    free(file->path);
    free(file->temporary);
    *file = (struct tdc_out_file){.fd = -1, .slot = -1};
}

static tdc_status refuse_bad_target(const char *path, struct tdc_error *error)
{
    size_t length = strlen(path);
    if (length == 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the name of a result file is empty");
    if (length >= PATH_MAX)
        return tdc_fail_errno(error, TDC_ERR_WRITE, ENAMETOOLONG, "%s: cannot be created", path);
    struct stat status;
    if (path[length - 1] == '/' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return tdc_fail_errno(error, TDC_ERR_WRITE, EISDIR, "%s: cannot be created", path);
    return TDC_OK;
}

tdc_status tdc_out_file_open(const char *path, struct tdc_out_file *file, struct tdc_error *error)
{
    *file = (struct tdc_out_file){.fd = -1, .slot = -1};
    tdc_status status = refuse_bad_target(path, error);
    if (status != TDC_OK)
        return status;
    int slot = slot_claim();
    if (slot < 0)
        return tdc_fail(error, TDC_ERR_SYSTEM, "%s: more than %d results are being written at once",
                        path, SLOTS);
    int fd = create_listed(slot, path);
    if (fd < 0) {
        int number = errno;
        atomic_store(&slots[slot].state, SLOT_FREE);
        return tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: cannot be created", path);
    }
    file->fd = fd;
    file->slot = slot;
    file->path = strdup(path);
    file->temporary = strdup(slots[slot].path);
    if (file->path == NULL || file->temporary == NULL) {
        unlink(slots[slot].path);
        forget(file);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    if (fchmod(fd, 0640) != 0) {
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be given its mode", path);
        tdc_out_file_discard(file);
    }
    return status;
}

/* The rename itself should survive a crash too; where folders cannot be flushed, so be it. */
static void flush_folder(const char *path)
{
    size_t length = folder_length(path);
    char *folder = length == 0 ? strdup(".") : strndup(path, length);
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

tdc_status tdc_out_file_commit(struct tdc_out_file *file, struct tdc_error *error)
{
    if (file->fd < 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "a result was completed twice");
    tdc_status status = TDC_OK;
    /* EINVAL: a file system without flushing. */
    if (fsync(file->fd) != 0 && errno != EINVAL)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be written", file->path);
    /* Network file systems report a full disk only here. */
    int closed = close(file->fd);
    file->fd = -1;
    if (status == TDC_OK && closed != 0 && errno != EINTR)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be written", file->path);
    if (status == TDC_OK && rename(file->temporary, file->path) != 0)
        status =
            tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be put in place", file->path);
    if (status != TDC_OK)
        unlink(file->temporary);
    else
        flush_folder(file->path);
    forget(file);
    return status;
}

void tdc_out_file_discard(struct tdc_out_file *file)
{
    if (file->temporary == NULL)
        return;
    unlink(file->temporary);
    forget(file);
}

/* ---- folders -------------------------------------------------------------------------------- */

/* Exactly 0750 for what is made here; what exists keeps its mode. */
static tdc_status make_folder(const char *path, struct tdc_error *error)
{
    if (mkdir(path, 0750) == 0) {
        if (chmod(path, 0750) != 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be given its mode",
                                  path);
        return TDC_OK;
    }
    int number = errno;
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return TDC_OK;
        return tdc_fail(error, TDC_ERR_WRITE,
                        "%s: the folder cannot be created: a file of that name is in the way",
                        path);
    }
    return tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: the folder cannot be created", path);
}

tdc_status tdc_make_folders(const char *path, struct tdc_error *error)
{
    if (path[0] == '\0')
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the name of a folder is empty");
    char *partial = strdup(path);
    if (partial == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    tdc_status status = TDC_OK;
    for (char *at = partial + 1; status == TDC_OK; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char end = *at;
        *at = '\0';
        if (at[-1] != '/') /* doubled and trailing slashes */
            status = make_folder(partial, error);
        *at = end;
        if (end == '\0')
            break;
    }
    free(partial);
    return status;
}
