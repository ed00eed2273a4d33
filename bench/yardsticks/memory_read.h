/*
 * memory_read.h - the second yardstick: the same bytes, already in memory of the process.
 *
 * What it reads faster than the bare read of the files is what mapping costs.
 */
#ifndef TDC_BENCH_MEMORY_READ_H
#define TDC_BENCH_MEMORY_READ_H

#include "bench/yardsticks/bare_read.h"

struct tdc_held_files {
    unsigned char *bytes;
    size_t size;
};

/* Reads all files into memory. Nothing is held if that were more than half of the memory that the
 * process may use, or a file cannot be read: there is no such yardstick then. */
void tdc_held_files_load(struct tdc_held_files *held, const struct tdc_bare_files *files);
void tdc_held_files_free(struct tdc_held_files *held);

/* All 64-bit words joined by exclusive or; threads 0: all. */
uint64_t tdc_held_files_read(const struct tdc_held_files *held, int threads);

#endif
