/*
 * storage_calls.h - open, read, look at and close files with patience.
 *
 * On a machine without remote storage these are the calls themselves. Numbers are those of errno,
 * and those of patience.h; 0 is success.
 */
#ifndef TDC_IO_STORAGE_CALLS_H
#define TDC_IO_STORAGE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct tdc_mount;

struct tdc_opened {
    int descriptor;
    struct stat info;
    bool linked; /* the path itself is a symbolic link, which was followed */
};

/* For reading, closed on exec; a pipe is not waited for. tdc_storage_close closes it. */
int tdc_storage_open(const char *path, struct tdc_opened *opened);
/* Storage may want to be asked when a file is closed: nobody waits for it. */
void tdc_storage_close(int descriptor);
/* Tells that a descriptor is of remote storage; NULL: local. */
void tdc_storage_opened(int descriptor, struct tdc_mount *mount);
/* The remote storage that tdc_storage_open found it on; NULL: local. */
struct tdc_mount *tdc_storage_mount(int descriptor);
/* A second descriptor of the same file; -1 with errno. */
int tdc_storage_again(int descriptor);

/* tdc_storage_open as one call, for a thread that serves nothing else. */
int tdc_open_plainly(const char *path, struct tdc_opened *opened);

int tdc_storage_stat(const char *path, struct stat *info);
/* Of a link itself. */
int tdc_storage_lstat(const char *path, struct stat *info);
/* For the user who runs this: R_OK and the like. */
int tdc_storage_access(const char *path, int wanted);
/* Without links; *real is freed by the caller. */
int tdc_storage_realpath(const char *path, char **real);

/* The names in a folder but . and .., in the system's order. */
struct tdc_listing {
    char **names;
    size_t count;
};
int tdc_storage_list(const char *folder, struct tdc_listing *listing);
/* By the bytes of the names. */
void tdc_listing_sort(struct tdc_listing *listing);
void tdc_listing_free(struct tdc_listing *listing);

#endif
