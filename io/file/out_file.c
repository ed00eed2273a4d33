#include "io/file/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/file/byte_writer.h"
#include "io/file/retry.h"
#include "io/platform/platform.h"
#include "io/storage/looking.h"

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
    if (TDC_RETRY(tdc_random_bytes(&random, sizeof random)) != 0)
        return false;
    int length =
        snprintf(name, PATH_MAX, "%.*s" TDC_LISTED_PREFIX "%.16s-%016llx" TDC_LISTED_SUFFIX,
                 (int)folder_length(path), path, tdc_boot_name(), (unsigned long long)random);
    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

static bool create_temporary(const char *path, struct tdc_listed_file *file)
{
    char name[PATH_MAX];
    for (int attempt = 0; attempt < 16; attempt++) {
        if (!temporary_name(name, path))
            return false;
        if (tdc_listed_create(name, true, file))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static void sweep_beside(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)folder_length(path), path);
    tdc_listed_sweep(folder);
}

static void forget(struct tdc_out_file *file)
{
    tdc_listed_forget(&file->temporary);
    free(file->path);
    *file = TDC_OUT_FILE_NONE;
}

static tdc_status refuse_bad_target(const char *path, struct tdc_error *error)
{
    size_t length = strlen(path);
    if (length == 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the name of a result file is empty");
    if (length >= PATH_MAX)
        return tdc_fail_errno(error, TDC_ERR_WRITE, ENAMETOOLONG, "%s: cannot be created", path);
    if (path[length - 1] == '/' || tdc_is_folder(path))
        return tdc_fail_errno(error, TDC_ERR_WRITE, EISDIR, "%s: cannot be created", path);
    return TDC_OK;
}

static tdc_status open_file(const char *path, struct tdc_out_file *file, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    file->path = strdup(path);
    if (file->path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (!create_temporary(path, &file->temporary)) {
        int number = errno;
        forget(file);
        if (number == EUSERS)
            return tdc_fail(error, TDC_ERR_SYSTEM,
                            "%s: more than %d results are being written at once", path,
                            TDC_LISTED_FILES);
        return tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: cannot be created", path);
    }
    file->fd = file->temporary.fd;
    if (fchmod(file->fd, 0640) != 0) {
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be given its mode", path);
        tdc_out_file_discard(file);
    }
    return status;
}

tdc_status tdc_out_file_open(const char *path, struct tdc_out_file *file, struct tdc_error *error)
{
    *file = TDC_OUT_FILE_NONE;
    tdc_status status = refuse_bad_target(path, error);
    if (status != TDC_OK)
        return status;
    sweep_beside(path);
    return open_file(path, file, error);
}

tdc_status tdc_out_file_open_many(const char *path, struct tdc_out_file *file,
                                  struct tdc_error *error)
{
    *file = TDC_OUT_FILE_NONE;
    tdc_status status = refuse_bad_target(path, error);
    if (status != TDC_OK)
        return status;
    file->unflushed = true;
    return open_file(path, file, error);
}

tdc_status tdc_out_file_open_stream(const char *name, int stream, struct tdc_out_file *file,
                                    struct tdc_error *error)
{
    const char *folder = getenv("TMPDIR");
    char place[PATH_MAX];
    int length = snprintf(place, sizeof place, "%s/%s",
                          folder != NULL && folder[0] != '\0' ? folder : "/tmp", "stream");
    if (length < 0 || length >= PATH_MAX)
        return tdc_fail_errno(error, TDC_ERR_WRITE, ENAMETOOLONG, "%s: cannot be created", place);
    tdc_status status = tdc_out_file_open(place, file, error);
    char *copy = status == TDC_OK ? strdup(name) : NULL;
    if (status != TDC_OK)
        return status;
    if (copy == NULL) {
        tdc_out_file_discard(file);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", name);
    }
    free(file->path);
    file->path = copy;
    file->stream = stream;
    return TDC_OK;
}

/* 0 or an errno. */
static int copy_to_stream(const struct tdc_out_file *file)
{
    enum {
        ROOM = 1 << 16
    };
    char *room = malloc(ROOM);
    if (room == NULL)
        return ENOMEM;
    int number = 0;
    for (off_t at = 0; number == 0;) {
        ssize_t got = TDC_RETRY(pread(file->fd, room, ROOM, at));
        if (got <= 0) {
            number = got < 0 ? errno : 0;
            break;
        }
        number = tdc_write_fully(file->stream, room, (size_t)got);
        at += got;
    }
    free(room);
    return number;
}

static tdc_status commit_stream(struct tdc_out_file *file, struct tdc_error *error)
{
    int number = copy_to_stream(file);
    tdc_status status = TDC_OK;
    if (number != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: cannot be written", file->path);
    tdc_out_file_discard(file);
    return status;
}

/* The rename itself should survive a crash too; where folders cannot be flushed, so be it. */
static void flush_folder(const char *path)
{
    size_t length = folder_length(path);
    char *folder = length == 0 ? strdup(".") : strndup(path, length);
    int fd = folder == NULL ? -1 : TDC_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* Network file systems report a full disk when a descriptor is closed; the lock is to stay until
 * the file has its name. So a second descriptor of it is closed. */
static int flush_file(int fd, bool to_disk)
{
    /* EINVAL: a file system without flushing. */
    if (to_disk && TDC_RETRY(fsync(fd)) != 0 && errno != EINVAL)
        return errno;
    int second = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (second < 0)
        return errno;
    return close(second) != 0 && errno != EINTR ? errno : 0;
}

/* Not every file system has the first, nor the second; the third leaves others a moment to come
 * between. */
static int rename_exclusively(const char *from, const char *to)
{
    if (tdc_file_rename_new(from, to) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP)
        return errno;
    if (tdc_is_there(to))
        return EEXIST;
    return rename(from, to) == 0 ? 0 : errno;
}

static tdc_status commit(struct tdc_out_file *file, bool exclusive, struct tdc_error *error)
{
    if (file->fd < 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "a result was completed twice");
    if (file->stream >= 0)
        return commit_stream(file, error);
    tdc_status status = TDC_OK;
    const char *temporary = tdc_listed_path(&file->temporary);
    int number = flush_file(file->fd, !file->unflushed);
    if (number != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: cannot be written", file->path);
    if (status == TDC_OK) {
        number = exclusive                            ? rename_exclusively(temporary, file->path)
                 : rename(temporary, file->path) != 0 ? errno
                                                      : 0;
        if (number != 0)
            status = tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s: cannot be put in place",
                                    file->path);
    }
    if (status != TDC_OK)
        unlink(temporary);
    else if (!file->unflushed)
        flush_folder(file->path);
    forget(file);
    return status;
}

tdc_status tdc_out_file_commit(struct tdc_out_file *file, struct tdc_error *error)
{
    return commit(file, false, error);
}

tdc_status tdc_out_file_commit_new(struct tdc_out_file *file, struct tdc_error *error)
{
    return commit(file, true, error);
}

void tdc_out_file_discard(struct tdc_out_file *file)
{
    tdc_listed_remove(&file->temporary);
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
    if (tdc_is_folder(path))
        return TDC_OK;
    if (tdc_is_there(path))
        return tdc_fail(error, TDC_ERR_WRITE,
                        "%s: the folder cannot be created: a file of that name is in the way",
                        path);
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

tdc_status tdc_make_folder_of(const char *path, struct tdc_error *error)
{
    size_t length = folder_length(path);
    if (length == 0)
        return TDC_OK;
    char *folder = strndup(path, length);
    if (folder == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    tdc_status status = tdc_make_folders(folder, error);
    free(folder);
    return status;
}
