/*
 * kernel_tree.h - which tensor file of one tree of kernels faces which of another.
 *
 * A tree is OPERATOR/TIME/x.npy. Operators must be the same on both sides; times and files face
 * each other by their places, each in the order of its name.
 */
#ifndef TDC_ANALYSIS_KERNEL_TREE_H
#define TDC_ANALYSIS_KERNEL_TREE_H

#include "tdcmp.h"

/* Paths below the folders of the two sides; they belong to the tree. */
struct tdc_kernel_pair {
    char *npu, *bench;
};

struct tdc_kernel_tree {
    struct tdc_kernel_pair *pairs;
    size_t count, capacity;
    size_t operators;
    size_t unpaired; /* times and files of one side alone; each was named in a message */
};

/* To be freed in any case. TDC_ERR_MISMATCH: the operators are not the same; TDC_ERR_NOTHING: there
 * is no pair. Of the options message counts. */
tdc_status tdc_kernel_tree_walk(const char *npu, const char *bench,
                                const struct tdc_options *options, struct tdc_kernel_tree *tree,
                                struct tdc_error *error);
void tdc_kernel_tree_free(struct tdc_kernel_tree *tree);

#endif
