/*
 * kernel_case.h - one kernel on buffers in memory: its speed beside a bare read and memcmp, and its
 * error.
 */
#ifndef TDC_BENCH_KERNEL_CASE_H
#define TDC_BENCH_KERNEL_CASE_H

#include "bench/tools/option_values.h"
#include "kernels/pair.h"

/* Both sides of a pair. The first elements of it, few enough for the caches, are the data "in
 * cache"; each thread has its own. */
struct tdc_kernel_data {
    struct tdc_dtype_pair pair;
    unsigned char *n, *b;
    size_t elements; /* of each side */
    size_t cached;   /* elements a thread works on in cache */
    bool equal;      /* to the bit */
};

/* bytes: of the larger side. `equal`: both sides equal to the bit, where they have one type. */
tdc_status tdc_kernel_data_make(struct tdc_kernel_data *data, const struct tdc_dtype_pair *pair,
                                bool equal, uint64_t bytes, int threads, struct tdc_error *error);
void tdc_kernel_data_free(struct tdc_kernel_data *data);

struct tdc_kernel_figures {
    double cache_speed, cache_bare;   /* GB/s of both sides */
    double memory_speed, memory_bare; /* likewise */
    double memory_memcmp;             /* likewise; 0 unless the sides are equal */
    /* Largest difference of a sum from the reference, in units of the sum of the magnitudes. */
    double error;
    bool exact; /* counts, extremes, maxima and positions are those of the reference */
};

struct tdc_kernel_setup {
    enum tdc_cpu_variant variant;
    enum tdc_relative_rule rule;
    bool extremes; /* timed with what dumps know themselves; the error always counts it */
    int threads;
    unsigned repeat;
    const struct tdc_cancel *cancel;
};

tdc_status tdc_kernel_measure(const struct tdc_kernel_setup *setup,
                              const struct tdc_kernel_data *data,
                              struct tdc_kernel_figures *figures, struct tdc_error *error);

#endif
