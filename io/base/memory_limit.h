/*
 * memory_limit.h - how much memory this process may use.
 *
 * The least of what the machine has, what the control groups of the process allow (version 1 and 2,
 * its own group and all above it), its limits of address space and data, and what the environment
 * variable TDC_MEMORY says ("800M"). Every limit that depends on the machine is derived from it:
 * beyond it the system ends the process or refuses memory, however much the machine has.
 */
#ifndef TDC_IO_MEMORY_LIMIT_H
#define TDC_IO_MEMORY_LIMIT_H

#include <stddef.h>

/* Bytes, at least TDC_LEAST_MEMORY. What cannot change is found once; the process's own limits are
 * asked for each time. Any thread may call it. */
size_t tdc_memory_limit(void);
#define TDC_LEAST_MEMORY ((size_t)16 << 20)

/*
 * What control groups allow: `membership` is a file like /proc/self/cgroup, `mounts` the folder
 * under which the hierarchies are mounted, /sys/fs/cgroup. SIZE_MAX when they say nothing.
 */
size_t tdc_memory_of_groups(const char *membership, const char *mounts);

#endif
