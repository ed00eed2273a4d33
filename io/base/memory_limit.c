#include "io/base/memory_limit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/platform/platform.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- control groups -------------------------------------------------------------------------- */

/* The number in the file folder/name; SIZE_MAX when there is none, or the word "max". */
static size_t limit_in(const char *folder, const char *name)
{
    char path[4096], text[32] = "";
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return SIZE_MAX;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    if (got == 0 || text[0] < '0' || text[0] > '9')
        return SIZE_MAX;
    unsigned long long value = strtoull(text, NULL, 10);
    return value < SIZE_MAX ? (size_t)value : SIZE_MAX;
}

/*
 * The least limit of a group and of all above it. In a container the path may be that of the host,
 * which is not there; what is mounted at the root is the container's own group then, and the walk
 * ends at it.
 */
static size_t limit_of_group(const char *mount, const char *group, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s%s", mount, group);
    size_t root = strlen(mount), limit = SIZE_MAX;
    if (length <= 0 || (size_t)length >= sizeof path)
        return limit_in(mount, name);
    for (;;) {
        limit = least(limit, limit_in(path, name));
        char *last = strrchr(path + root, '/');
        if (last == NULL)
            return limit;
        *last = '\0';
    }
}

/* "memory" in a list like "cpu,memory". */
static bool lists_memory(const char *controllers)
{
    static const char word[] = "memory";
    for (const char *at = controllers; (at = strstr(at, word)) != NULL; at += sizeof word - 1) {
        char after = at[sizeof word - 1];
        if ((at == controllers || at[-1] == ',') && (after == '\0' || after == ','))
            return true;
    }
    return false;
}

/* A line is number:controllers:group; version 2 has the number 0 and no controllers. */
static size_t limit_of_line(char *line, const char *mounts)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return SIZE_MAX;
    *group++ = '\0';
    controllers++;
    char mount[1024];
    if (lists_memory(controllers)) {
        snprintf(mount, sizeof mount, "%s/%s", mounts, controllers);
        size_t limit = limit_of_group(mount, group, "memory.limit_in_bytes");
        snprintf(mount, sizeof mount, "%s/memory", mounts);
        return least(limit, limit_of_group(mount, group, "memory.limit_in_bytes"));
    }
    if (controllers[0] != '\0')
        return SIZE_MAX;
    /* version 2 alone, or beside version 1 */
    size_t limit = limit_of_group(mounts, group, "memory.max");
    snprintf(mount, sizeof mount, "%s/unified", mounts);
    return least(limit, limit_of_group(mount, group, "memory.max"));
}

size_t tdc_memory_of_groups(const char *membership, const char *mounts)
{
    FILE *file = fopen(membership, "re");
    size_t limit = SIZE_MAX;
    if (file == NULL)
        return limit;
    char line[4096];
    while (fgets(line, sizeof line, file) != NULL)
        limit = least(limit, limit_of_line(line, mounts));
    fclose(file);
    return limit;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* "800M": a number of bytes, KiB, MiB or GiB. SIZE_MAX for anything else. */
static size_t size_of_text(const char *text)
{
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return SIZE_MAX;
    unsigned long long number = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = end[0] != '\0' ? strchr(units, end[0]) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if ((end[0] != '\0' && (unit == NULL || end[1] != '\0')) || number > SIZE_MAX >> shift)
        return SIZE_MAX;
    return (size_t)number << shift;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t of_machine = SIZE_MAX;

static void ask_machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t physical;
    if (pages > 0 && size > 0 && !__builtin_mul_overflow((size_t)pages, (size_t)size, &physical))
        of_machine = physical;
    const char *membership, *mounts;
    if (tdc_control_groups(&membership, &mounts))
        of_machine = least(of_machine, tdc_memory_of_groups(membership, mounts));
    of_machine = least(of_machine, size_of_text(getenv("TDC_MEMORY")));
}

static size_t limit_of_process(int resource)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > SIZE_MAX)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

size_t tdc_memory_limit(void)
{
    pthread_once(&once, ask_machine);
    size_t limit =
        least(of_machine, least(limit_of_process(RLIMIT_AS), limit_of_process(RLIMIT_DATA)));
    return limit > TDC_LEAST_MEMORY ? limit : TDC_LEAST_MEMORY;
}
