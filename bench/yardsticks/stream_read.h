/*
 * stream_read.h - files read front to back with system calls: the yardsticks of `bench io`.
 *
 * Buffered reading copies through the page cache into a buffer that stays in the processor's cache
 * and joins its words by exclusive or, as the mapped read of bare_read.h does. Direct reading
 * (O_DIRECT) goes past the page cache as `dd iflag=direct` does and does not look at the bytes.
 */
#ifndef TDC_BENCH_STREAM_READ_H
#define TDC_BENCH_STREAM_READ_H

#include "bench/yardsticks/bare_read.h"

enum tdc_stream {
    TDC_STREAM_BUFFERED,
    TDC_STREAM_DIRECT
};

/* Several threads take turns at the pieces of one file after the other. TDC_ERR_UNSUPPORTED when
 * the file system has no direct reads. */
tdc_status tdc_stream_read(const struct tdc_bare_files *files, enum tdc_stream stream, int threads,
                           struct tdc_bare_sum *sum, struct tdc_error *error);

#endif
