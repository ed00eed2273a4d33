/* linux.c - platform.h on Linux with glibc. */
#include "io/platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- pages ----------------------------------------------------------------------------------- */

void tdc_pages_advise(void *start, size_t size, enum tdc_page_advice advice)
{
    static const int numbers[] = {
        [TDC_PAGES_NORMAL] = MADV_NORMAL,        [TDC_PAGES_RANDOM] = MADV_RANDOM,
        [TDC_PAGES_DONE] = MADV_DONTNEED,        [TDC_PAGES_LARGE] = MADV_HUGEPAGE,
#ifdef MADV_POPULATE_READ
        [TDC_PAGES_NEEDED] = MADV_POPULATE_READ,
#else
        [TDC_PAGES_NEEDED] = MADV_WILLNEED,
#endif
    };
    (void)madvise(start, size, numbers[advice]);
}

bool tdc_pages_resident(void *start, size_t size, unsigned char *resident)
{
    if (mincore(start, size, resident) != 0)
        return false;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < (size + page - 1) / page; i++)
        resident[i] &= 1; /* the other bits are reserved */
    return true;
}

bool tdc_pages_move(void *from, void *to, size_t size)
{
    return mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

/* ---- open files ------------------------------------------------------------------------------ */

void tdc_file_advise(int descriptor, enum tdc_file_advice advice)
{
    static const int numbers[] = {
        [TDC_FILE_NEEDED] = POSIX_FADV_WILLNEED,
        [TDC_FILE_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL,
        [TDC_FILE_FORGET] = POSIX_FADV_DONTNEED,
    };
    if (advice == TDC_FILE_WRITTEN)
        (void)sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
    else
        (void)posix_fadvise(descriptor, 0, 0, numbers[advice]);
}

bool tdc_file_bypass_cache(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_DIRECT) == 0;
}

ssize_t tdc_file_read_cached(int descriptor, void *bytes, size_t size, off_t offset)
{
    struct iovec part = {bytes, size};
    return preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
}

int tdc_file_rename_new(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

const char *tdc_mount_table(void)
{
    return "/proc/self/mountinfo";
}

bool tdc_file_system_type(const char *path, unsigned long *type)
{
    struct statfs state;
    if (statfs(path, &state) != 0)
        return false;
    *type = (unsigned long)state.f_type & 0xffffffffUL;
    return true;
}

/* ---- machine and process --------------------------------------------------------------------- */

int tdc_random_bytes(void *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -1;
}

ssize_t tdc_boot_text(char *text, size_t size)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, size);
    int number = errno;
    close(fd);
    errno = number;
    return length;
}

int tdc_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a set holds */
    return online > 0 ? (int)online : 1;
}

/* The text behind the colon of the first line of a file that begins with a key. */
static bool line_of(const char *path, const char *key, char *value, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || colon == NULL)
            continue;
        char *start = colon + 1 + strspn(colon + 1, " \t");
        start[strcspn(start, "\n")] = '\0';
        snprintf(value, size, "%s", start);
        found = true;
    }
    fclose(file);
    return found;
}

bool tdc_processor_model(char *text, size_t size)
{
    return line_of("/proc/cpuinfo", "model name", text, size);
}

bool tdc_control_groups(const char **membership, const char **mounts)
{
    *membership = "/proc/self/cgroup";
    *mounts = "/sys/fs/cgroup";
    return true;
}

uint64_t tdc_memory_anonymous(void)
{
    char text[64];
    unsigned long long kilobytes;
    if (!line_of("/proc/self/status", "RssAnon", text, sizeof text) ||
        sscanf(text, "%llu kB", &kilobytes) != 1)
        return 0;
    return (uint64_t)kilobytes << 10;
}

void tdc_memory_trim(void)
{
    malloc_trim(0);
}

const char *tdc_program_link(void)
{
    return "/proc/self/exe";
}

void tdc_die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}
