#include "io/file/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/file/retry.h"
#include "io/platform/platform.h"
#include "io/storage/fetched_map.h"
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

tdc_status tdc_file_open(const char *path, struct tdc_file *file, struct tdc_error *error)
{
    *file = (struct tdc_file){.descriptor = -1};
    struct tdc_opened opened;
    int number = tdc_storage_open(path, &opened);
    file->linked = opened.linked;
    if (number != 0) {
        bool absent = number == ENOENT || number == ENOTDIR;
        return tdc_fail_errno(error, absent ? TDC_ERR_NOT_FOUND : TDC_ERR_READ, number, "%s", path);
    }
    if (!S_ISREG(opened.info.st_mode)) {
        tdc_storage_close(opened.descriptor);
        return tdc_fail(error, TDC_ERR_READ, "%s: not a regular file", path);
    }
    file->descriptor = opened.descriptor;
    file->size = opened.info.st_size > 0 ? (size_t)opened.info.st_size : 0;
    return TDC_OK;
}

void tdc_file_close(int descriptor)
{
    tdc_storage_close(descriptor);
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
