/*
 * mounts.h - which paths lie on storage that may not answer.
 *
 * The system's table of mounts is read once, and asks no storage. Where a path leads over a
 * symbolic link only the storage itself can tell: it is asked with patience, once for each folder.
 */
#ifndef TDC_IO_MOUNTS_H
#define TDC_IO_MOUNTS_H

#include "io/storage/patience.h"

/* Whether there is any such storage on this machine, or may be; without, all calls are made at once
 * by who wants the answer. */
bool tdc_mounts_remote(void);

/* The storage that the files of a path's folder lie on; NULL: local. Lives as long as the process.
 */
struct tdc_mount *tdc_mount_of_file(const char *path);
/* The storage by which a path itself is looked at, whatever is there; NULL: none on this machine
 * can fail to answer. */
struct tdc_mount *tdc_mount_of_path(const char *path);

#endif
