/* portable.c - platform.h with POSIX alone. */
#include "io/platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- pages ----------------------------------------------------------------------------------- */

void tdc_pages_advise(void *start, size_t size, enum tdc_page_advice advice)
{
    static const int numbers[] = {
        [TDC_PAGES_NORMAL] = POSIX_MADV_NORMAL,
        [TDC_PAGES_RANDOM] = POSIX_MADV_RANDOM,
        [TDC_PAGES_NEEDED] = POSIX_MADV_WILLNEED,
        [TDC_PAGES_DONE] = POSIX_MADV_DONTNEED,
    };
    if (advice != TDC_PAGES_LARGE)
        (void)posix_madvise(start, size, numbers[advice]);
}

bool tdc_pages_resident(void *start, size_t size, unsigned char *resident)
{
    (void)start;
    (void)size;
    (void)resident;
    return false;
}

bool tdc_pages_move(void *from, void *to, size_t size)
{
    (void)from;
    (void)to;
    (void)size;
    return false;
}

/* ---- open files ------------------------------------------------------------------------------ */

void tdc_file_advise(int descriptor, enum tdc_file_advice advice)
{
    (void)descriptor;
    (void)advice;
}

bool tdc_file_bypass_cache(int descriptor)
{
    (void)descriptor;
    errno = EINVAL;
    return false;
}

ssize_t tdc_file_read_cached(int descriptor, void *bytes, size_t size, off_t offset)
{
    (void)descriptor;
    (void)bytes;
    (void)size;
    (void)offset;
    errno = ENOSYS;
    return -1;
}

int tdc_file_rename_new(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = ENOSYS;
    return -1;
}

const char *tdc_mount_table(void)
{
    return NULL;
}

bool tdc_file_system_type(const char *path, unsigned long *type)
{
    (void)path;
    (void)type;
    return false;
}

/* ---- machine and process --------------------------------------------------------------------- */

int tdc_random_bytes(void *bytes, size_t size)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, bytes, size);
    int number = length < 0 ? errno : EIO;
    close(fd);
    errno = number;
    return length == (ssize_t)size ? 0 : -1;
}

ssize_t tdc_boot_text(char *text, size_t size)
{
    (void)text;
    (void)size;
    errno = ENOSYS;
    return -1;
}

int tdc_processors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

bool tdc_processor_model(char *text, size_t size)
{
    (void)text;
    (void)size;
    return false;
}

bool tdc_control_groups(const char **membership, const char **mounts)
{
    (void)membership;
    (void)mounts;
    return false;
}

uint64_t tdc_memory_anonymous(void)
{
    return 0;
}

void tdc_memory_trim(void)
{
}

const char *tdc_program_link(void)
{
    return NULL;
}

void tdc_die_with_parent(void)
{
}
