/*
 * file_state.h - warm and cold: whether files are in the page cache.
 *
 * Cold means that the operating system was asked to forget the pages (posix_fadvise DONTNEED, after
 * a sync because dirty pages stay) and that it was checked to have done so. What caches lie below
 * (the host of a virtual machine, the server of a network file system, the disk) nobody can drop.
 */
#ifndef TDC_BENCH_FILE_STATE_H
#define TDC_BENCH_FILE_STATE_H

#include "bench/yardsticks/bare_read.h"

struct tdc_drop {
    uint64_t bytes;     /* of the files */
    uint64_t resident;  /* still in the page cache afterwards */
    uint64_t unchecked; /* bytes of files whose pages this user is not told about */
};

/* Asks to forget all pages of all files. TDC_ERR_READ when a file cannot be opened. */
tdc_status tdc_files_drop(const struct tdc_bare_files *files, struct tdc_drop *drop,
                          struct tdc_error *error);

/* "cold", "cold (unchecked)" or "not cold": more than a hundredth of the bytes stayed. */
const char *tdc_drop_name(const struct tdc_drop *drop);

#endif
