/* kernel_pair.h - two npy files compared by msprobe's metrics, each with its own statistics. */
#ifndef TDC_HOST_KERNEL_PAIR_H
#define TDC_HOST_KERNEL_PAIR_H

#include "host/dump/dump.h"
#include "host/judge/row.h"

struct tdc_kernel_side {
    const char *path; /* FOLDER/FILE; NULL: there is none */
    const char *folder, *file;
    bool read; /* what follows is known */
    tdc_dtype dtype;
    unsigned dimensions;
    uint64_t shape[64];
    uint64_t count;
    double stats[TDC_STATISTICS];
};

struct tdc_kernel_pair {
    struct tdc_kernel_side npu, bench;
    bool strict; /* only equal shapes and types of one dimension and more are compared */
    bool compared;
    struct tdc_value values[TDC_TENSOR_VALUES];
    const char *verdict; /* "" when nothing was compared */
    char message[512];
};

/* Fills all of them. What is wrong with a file is the message of its pair. */
tdc_status tdc_kernel_pairs_compare(struct tdc_kernel_pair *pairs, size_t count,
                                    const struct tdc_options *options, struct tdc_error *error);

/* Texts as numpy has them: "(2, 3)", or "[2, 3]"; a number of the type of its tensor. */
void tdc_kernel_shape(struct tdc_text *out, const struct tdc_kernel_side *side, bool brackets);
void tdc_kernel_number(struct tdc_text *out, double number, bool narrow);

#endif
