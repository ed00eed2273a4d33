/*
 * listed_file.h - files that must not outlive the process: temporaries of results.
 *
 * Each is listed in a small table, so that a signal handler can remove them (tdc_out_files_remove,
 * tdc_out_files_end),
 * and locked while its process lives. A process that is killed cannot remove anything; the lock
 * goes with it, though, and by that a later run knows what to sweep up.
 */
#ifndef TDC_IO_LISTED_FILE_H
#define TDC_IO_LISTED_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* How many a process can have at a time. */
#define TDC_LISTED_FILES 64

struct tdc_listed_file {
    int slot; /* in the table; -1: none */
    int fd;   /* open for reading and writing; -1: closed */
};

/* What the names of all of them have in common. */
#define TDC_LISTED_PREFIX ".tdcmp-"
#define TDC_LISTED_SUFFIX ".tmp"

/* Creates a file of mode 0600 that nobody has yet. False with errno: EEXIST, also when a sweeper
 * took it for a stale one just then; EUSERS when the table is full. The path has less than PATH_MAX
 * bytes. `unique`: no other process would choose the name. */
bool tdc_listed_create(const char *path, bool unique, struct tdc_listed_file *file);
const char *tdc_listed_path(const struct tdc_listed_file *file);
/* Closes it and takes it from the table; the file itself stays if it still has that name. */
void tdc_listed_forget(struct tdc_listed_file *file);
/* Removes it, too. */
void tdc_listed_remove(struct tdc_listed_file *file);

/* 16 hexadecimal digits that all processes of this machine share until it is started anew, and no
 * others; "" when the system does not tell. Locks are trusted within these bounds: on some shared
 * file systems a lock is not seen by other machines. */
const char *tdc_boot_name(void);

/* Removes what killed processes left in a folder ("" is the current one). What may belong to a
 * living process, here or on another machine, stays. */
void tdc_listed_sweep(const char *folder);

#endif
