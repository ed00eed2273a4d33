/*
 * platform.h - what this system can do beyond POSIX: the one place a port has to look at.
 *
 * linux.c has all of it. portable.c needs POSIX alone (the CMake option TDC_PORTABLE): what it
 * cannot do is slower or left out there, never wrong. No other file names these calls, headers or
 * files of the system (tests/docs/check_platform.py).
 */
#ifndef TDC_IO_PLATFORM_H
#define TDC_IO_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- pages ----------------------------------------------------------------------------------- */

enum tdc_page_advice {
    TDC_PAGES_NORMAL,
    TDC_PAGES_RANDOM, /* a fault brings in its page and no read-ahead */
    TDC_PAGES_NEEDED, /* map them now: one call where faults would map them in pieces of 64 KB */
    TDC_PAGES_DONE,   /* give them up; their content is in the file */
    TDC_PAGES_LARGE   /* of fresh memory: large pages */
};

/* Hints about mapped memory; `start` begins a page. What the system does not know is ignored. */
void tdc_pages_advise(void *start, size_t size, enum tdc_page_advice advice);

/* Sets one byte per page of a mapped file to 1 where the page is in memory and to 0 where it is
 * not. False when the system does not tell. */
bool tdc_pages_resident(void *start, size_t size, unsigned char *resident);

/* Moves mapped pages to a place in the address space, in place of what is there. False when the
 * system cannot, or has no room in its tables. */
bool tdc_pages_move(void *from, void *to, size_t size);

/* ---- open files ------------------------------------------------------------------------------ */

enum tdc_file_advice {
    TDC_FILE_NEEDED,     /* fetch it */
    TDC_FILE_SEQUENTIAL, /* it is read from front to back */
    TDC_FILE_WRITTEN,    /* what was written may go to the disk: a flush has less to wait for */
    TDC_FILE_FORGET      /* drop it from the page cache */
};

void tdc_file_advise(int descriptor, enum tdc_file_advice advice);

/* From now on reads go past the page cache; offset, length and memory are aligned to blocks. False
 * with errno when the file system or the platform cannot. */
bool tdc_file_bypass_cache(int descriptor);

/* Like pread, for bytes that are in the page cache: -1 with EAGAIN when it would have to wait, with
 * EOPNOTSUPP or ENOSYS when that cannot be known. */
ssize_t tdc_file_read_cached(int descriptor, void *bytes, size_t size, off_t offset);

/* Renames unless there is a file of the new name: -1 with EEXIST then, with EINVAL or ENOSYS when
 * file system or platform cannot. */
int tdc_file_rename_new(const char *from, const char *to);

/* The number by which the system knows a kind of file system. */
bool tdc_file_system_type(const char *path, unsigned long *type);

/* Where the system tells what is mounted; NULL when it does not. */
const char *tdc_mount_table(void);

/* ---- machine and process --------------------------------------------------------------------- */

/* Bytes nobody can guess; -1 with errno when there are none, EINTR when a signal came between. */
int tdc_random_bytes(void *bytes, size_t size);

/* A text that changes whenever the machine is started anew. Its length; -1 with errno when there is
 * none, EINTR when a signal came between. */
ssize_t tdc_boot_text(char *text, size_t size);

/* Processors this process may run on, at least 1. */
int tdc_processors(void);

/* What the machine calls its processor. */
bool tdc_processor_model(char *text, size_t size);

/* Where the system tells which control groups the process is in, and where these are found. False
 * when it has none. */
bool tdc_control_groups(const char **membership, const char **mounts);

/* Bytes of this process's memory that no file backs; 0 when the system does not tell. */
uint64_t tdc_memory_anonymous(void);

/* Gives what malloc holds in reserve back to the system, where that can be asked for. */
void tdc_memory_trim(void);

/* This process is killed as soon as its parent is gone, where the system can do that. */
void tdc_die_with_parent(void);

/* A path that leads to the running program, NULL when the system has none. */
const char *tdc_program_link(void);

#endif
