#include "io/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/error.h"

_Static_assert(sizeof(size_t) >= sizeof(off_t), "a whole file must fit the address space");

static tdc_status map_descriptor(int descriptor, const char *path, struct tdc_file_map *map,
                                 struct tdc_error *error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", path);
    if (!S_ISREG(status.st_mode))
        return tdc_fail(error, TDC_ERR_READ, "%s: not a regular file", path);
    if (status.st_size <= 0)
        return TDC_OK;
    size_t size = (size_t)status.st_size;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", path);
    map->data = data;
    map->size = size;
    return TDC_OK;
}

tdc_status tdc_file_map_open(const char *path, struct tdc_file_map *map, struct tdc_error *error)
{
    *map = (struct tdc_file_map){0};
    /* O_NONBLOCK: opening a pipe without a writer would wait for ever; files do not care. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int descriptor = open(path, flags | O_NOFOLLOW);
    if (descriptor < 0 && errno == ELOOP) {
        map->linked = true;
        descriptor = open(path, flags);
    }
    if (descriptor < 0) {
        tdc_status status = errno == ENOENT || errno == ENOTDIR ? TDC_ERR_NOT_FOUND : TDC_ERR_READ;
        return tdc_fail_errno(error, status, errno, "%s", path);
    }
    tdc_status status = map_descriptor(descriptor, path, map, error);
    close(descriptor); /* the map keeps the file */
    return status;
}

void tdc_file_map_close(struct tdc_file_map *map)
{
    if (map == NULL)
        return;
    if (map->data != NULL)
        munmap((void *)(uintptr_t)map->data, map->size);
    *map = (struct tdc_file_map){0};
}
