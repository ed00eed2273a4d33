/*
 * bare_read.h - the yardstick: what reading the same mapped files costs and nothing else.
 *
 * All 64-bit words of all files are joined by exclusive or, by the same number of threads. Opening,
 * mapping, page faults and unmapping count, as they do in a comparison.
 */
#ifndef TDC_BENCH_BARE_READ_H
#define TDC_BENCH_BARE_READ_H

#include "tdcmp.h"

struct tdc_bare_files {
    char **paths;
    size_t count, capacity;
};

/* Adds all tensor files (.pt, .npy, .safetensors) below a folder, in a fixed order. */
tdc_status tdc_bare_files_add(struct tdc_bare_files *files, const char *folder,
                              struct tdc_error *error);
void tdc_bare_files_free(struct tdc_bare_files *files);

struct tdc_bare_sum {
    uint64_t word;  /* all words joined; makes the reading observable */
    uint64_t bytes; /* read */
};

/* All 64-bit words joined by exclusive or, the last one filled up with zeros. */
uint64_t tdc_join_words(const void *bytes, size_t size);

/* threads 0: all. */
tdc_status tdc_bare_read(const struct tdc_bare_files *files, int threads, struct tdc_bare_sum *sum,
                         struct tdc_error *error);

#endif
