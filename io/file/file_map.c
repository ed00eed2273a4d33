#include "io/file/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/file/retry.h"
#include "io/platform/platform.h"
#include "io/storage/ahead.h"
#include "io/storage/fetched_map.h"
#include "io/storage/patient_read.h"
#include "io/storage/storage_calls.h"

_Static_assert(sizeof(size_t) >= sizeof(off_t), "a whole file must fit the address space");

tdc_status tdc_file_begin(int folder, const char *name, const char *path, struct tdc_file *file,
                          struct tdc_error *error)
{
    *file = (struct tdc_file){.descriptor = -1};
    /* O_NONBLOCK: opening a pipe without a writer would wait for ever; files do not care. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int descriptor = TDC_RETRY(openat(folder, name, flags | O_NOFOLLOW));
    if (descriptor < 0 && errno == ELOOP) /* it may lead to storage that does not answer */
        return tdc_file_open(path, file, error);
    if (descriptor < 0) {
        tdc_status status = errno == ENOENT || errno == ENOTDIR ? TDC_ERR_NOT_FOUND : TDC_ERR_READ;
        return tdc_fail_errno(error, status, errno, "%s", path);
    }
    file->descriptor = descriptor;
    return TDC_OK;
}

tdc_status tdc_file_inspect(struct tdc_file *file, const char *path, struct tdc_error *error)
{
    struct stat info;
    tdc_status status = TDC_OK;
    if (fstat(file->descriptor, &info) != 0)
        status = tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", path);
    else if (!S_ISREG(info.st_mode))
        status = tdc_fail(error, TDC_ERR_READ, "%s: not a regular file", path);
    else
        file->size = info.st_size > 0 ? (size_t)info.st_size : 0;
    if (status != TDC_OK) {
        close(file->descriptor);
        file->descriptor = -1;
    }
    return status;
}

/* What storage said, 0 with an open file. */
static tdc_status take_opened(int number, const struct tdc_opened *opened, const char *path,
                              struct tdc_file *file, struct tdc_error *error)
{
    *file = (struct tdc_file){.descriptor = -1, .linked = opened->linked};
    if (number != 0) {
        bool absent = number == ENOENT || number == ENOTDIR;
        return tdc_fail_errno(error, absent ? TDC_ERR_NOT_FOUND : TDC_ERR_READ, number, "%s", path);
    }
    if (!S_ISREG(opened->info.st_mode)) {
        tdc_storage_close(opened->descriptor);
        return tdc_fail(error, TDC_ERR_READ, "%s: not a regular file", path);
    }
    file->descriptor = opened->descriptor;
    file->size = opened->info.st_size > 0 ? (size_t)opened->info.st_size : 0;
    return TDC_OK;
}

tdc_status tdc_file_open(const char *path, struct tdc_file *file, struct tdc_error *error)
{
    struct tdc_opened opened;
    int number = tdc_storage_open(path, &opened);
    return take_opened(number, &opened, path, file, error);
}

tdc_status tdc_file_open_expected(const char *path, struct tdc_file *file, char **bytes,
                                  struct tdc_error *error)
{
    struct tdc_ahead ahead;
    int number = tdc_ahead_take(path, &ahead);
    *bytes = ahead.bytes;
    return number < 0 ? tdc_file_open(path, file, error)
                      : take_opened(number, &ahead.opened, path, file, error);
}

void tdc_file_close(int descriptor)
{
    tdc_storage_close(descriptor);
}

#define GIB ((size_t)1 << 30)

static tdc_status load_open_file(const struct tdc_file *file, const char *path, size_t limit,
                                 char **bytes, struct tdc_error *error)
{
    size_t got;
    if (file->size > limit)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: larger than %zu %s", path,
                        limit >= GIB ? limit / GIB : limit >> 20, limit >= GIB ? "GiB" : "MiB");
    *bytes = malloc(file->size + 1);
    if (*bytes == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    int number = tdc_storage_read(file->descriptor, *bytes, file->size, 0, &got);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_READ, number, "%s", path);
    if (got < file->size)
        return tdc_fail(error, TDC_ERR_CHANGED, "%s: became shorter while it was read", path);
    (*bytes)[got] = '\0';
    return TDC_OK;
}

tdc_status tdc_file_load(const char *path, size_t limit, char **bytes, size_t *size,
                         struct tdc_error *error)
{
    struct tdc_file file;
    *bytes = NULL;
    *size = 0;
    tdc_status status = tdc_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    status = load_open_file(&file, path, limit, bytes, error);
    tdc_file_close(file.descriptor);
    if (status == TDC_OK) {
        *size = file.size;
    } else {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

tdc_status tdc_file_map_make(const struct tdc_file *file, const char *path,
                             struct tdc_file_map *map, struct tdc_error *error)
{
    *map = (struct tdc_file_map){0};
    if (file->size == 0)
        return TDC_OK;
    void *data = NULL;
    if (tdc_storage_mount(file->descriptor) != NULL)
        data = tdc_fetched_map_make(file->descriptor, file->size);
    /* where too many files are open for another one the system has to map it */
    if (data == NULL)
        data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (data == MAP_FAILED)
        return tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", path);
    map->data = data;
    map->size = file->size;
    return TDC_OK;
}

tdc_status tdc_file_map_open(const char *path, struct tdc_file_map *map, struct tdc_error *error)
{
    *map = (struct tdc_file_map){0};
    struct tdc_file file;
    tdc_status status = tdc_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    status = tdc_file_map_make(&file, path, map, error);
    tdc_file_close(file.descriptor);
    return status;
}

void tdc_file_map_close(struct tdc_file_map *map)
{
    if (map == NULL)
        return;
    if (map->data != NULL && !tdc_fetched_map_close(map->data))
        munmap((void *)(uintptr_t)map->data, map->size);
    *map = (struct tdc_file_map){0};
}

void tdc_file_map_done(void *start, size_t size)
{
    if (!tdc_fetched_map_forget(start, size))
        tdc_pages_advise(start, size, TDC_PAGES_DONE);
}
