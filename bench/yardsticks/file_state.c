#include "bench/yardsticks/file_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/platform/platform.h"

/* Pages asked about in one call: 256 MB of 4 KB pages. */
#define WINDOW_PAGES ((size_t)1 << 16)

static size_t page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

/* Counts the resident bytes of a file; false when the kernel does not say. */
static bool count_resident(int fd, uint64_t size, uint64_t *resident)
{
    size_t page = page_size();
    unsigned char *pages = malloc(WINDOW_PAGES);
    bool told = pages != NULL;
    for (uint64_t offset = 0; told && offset < size; offset += WINDOW_PAGES * page) {
        uint64_t left = size - offset;
        size_t length = left < WINDOW_PAGES * page ? (size_t)left : WINDOW_PAGES * page;
        void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)offset);
        told = map != MAP_FAILED && tdc_pages_resident(map, length, pages);
        for (size_t i = 0; told && i < (length + page - 1) / page; i++)
            *resident += pages[i] != 0 ? page : 0;
        if (map != MAP_FAILED)
            munmap(map, length);
    }
    free(pages);
    return told;
}

/* A page from the middle, only if it is in memory already. */
static bool middle_is_resident(int fd, uint64_t size)
{
    char bytes[16];
    return tdc_file_read_cached(fd, bytes, sizeof bytes, (off_t)(size / 2)) > 0;
}

/* mincore tells the truth only to those who might write the file, and "all resident" to others. */
static bool may_ask(const char *path, const struct stat *state)
{
    if (state->st_uid == geteuid() || geteuid() == 0)
        return true;
    return access(path, W_OK) == 0;
}

static void check(const char *path, int fd, const struct stat *state, struct tdc_drop *drop)
{
    uint64_t size = (uint64_t)state->st_size, resident = 0;
    if (may_ask(path, state) && count_resident(fd, size, &resident))
        drop->resident += resident < size ? resident : size;
    else if (middle_is_resident(fd, size))
        drop->resident += size;
    else
        drop->unchecked += size;
    drop->bytes += size;
}

static tdc_status drop_file(const char *path, struct tdc_drop *drop, struct tdc_error *error)
{
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &state) != 0) {
        int number = errno;
        if (fd >= 0)
            close(fd);
        return tdc_fail_errno(error, TDC_ERR_READ, number, "%s", path);
    }
    if (state.st_size > 0) {
        fdatasync(fd);
        tdc_file_advise(fd, TDC_FILE_FORGET);
        check(path, fd, &state, drop);
    }
    close(fd);
    return TDC_OK;
}

tdc_status tdc_files_drop(const struct tdc_bare_files *files, struct tdc_drop *drop,
                          struct tdc_error *error)
{
    *drop = (struct tdc_drop){0};
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < files->count && status == TDC_OK; i++)
        status = drop_file(files->paths[i], drop, error);
    return status;
}

const char *tdc_drop_name(const struct tdc_drop *drop)
{
    if (drop->resident > drop->bytes / 100)
        return "not cold";
    return drop->unchecked > 0 ? "cold (unchecked)" : "cold";
}
