/*
 * kernel_check.h - a device kernel on the twin against the CPU kernels.
 */
#ifndef TDC_TESTS_TWIN_KERNEL_CHECK_H
#define TDC_TESTS_TWIN_KERNEL_CHECK_H

#include "kernels/pair.h"
#include "tests/twin/kernel_runner.h"

struct tdc_kernel_case {
    tdc_dtype n_dtype, b_dtype;
    enum tdc_relative_rule rule;
    unsigned flavour; /* enum tile_flavour */
    size_t tiles;
    uint32_t blocks;
    uint64_t data_seed;
    struct tdc_twin_settings settings;
    bool registers; /* the kernel of architecture 3510 */
};

struct tdc_kernel_outcome {
    char why[512]; /* what is wrong; empty if nothing is */
    size_t rescued;
    double worst_sum; /* error of a sum by its sum of magnitudes, the largest */
    struct tdc_twin_report report;
};

/* The dtype pairs there are kernels for. */
#define TDC_KERNEL_TYPES 5
extern const tdc_dtype tdc_kernel_types[TDC_KERNEL_TYPES][2];

/*
 * Runs the kernel of the case. Demands: no complaint of the twin; records which the host uses agree
 * with the CPU kernel tile by tile; the merged result equals the CPU's to the bit, and its sums are
 * within 2^-46 of the sum of magnitudes. `records`, if not NULL, receives a copy of the records.
 */
bool tdc_kernel_check(const struct tdc_kernel_case *c, struct tdc_kernel_outcome *outcome,
                      float *records);

#endif
