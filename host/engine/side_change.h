/*
 * side_change.h - a tensor that is changed before it is compared: joined from several files, rows
 * of padding cleared, multiplied by matrices. Such a tensor is held in memory as a whole; all
 * others are read span by span.
 */
#ifndef TDC_HOST_SIDE_CHANGE_H
#define TDC_HOST_SIDE_CHANGE_H

#include "io/base/text.h"
#include "io/tensor/tensor_file.h"

/* How the files of a list `a.pt;b.pt` become one tensor. */
enum tdc_join {
    TDC_JOIN_NONE, /* the name is no list */
    TDC_JOIN_FIRST,
    TDC_JOIN_AXIS_0,
    TDC_JOIN_AXIS_1
};

struct tdc_product {
    const char *matrix; /* .npy or .pt */
    bool left;          /* matrix times tensor, else tensor times matrix */
    const struct tdc_product *next;
};

struct tdc_side_change {
    enum tdc_join join;
    bool clear_padding;
    uint64_t valid_rows; /* with clear_padding: of the first axis, the rest becomes 0 */
    const struct tdc_product *products; /* in this order; one that does not fit is left out */
};

/* Axes of length 1 go. */
void tdc_tensor_squeeze(struct tdc_tensor *tensor);

/*
 * The tensor of folder/name after the change, without axes of length 1 before it. Its elements are
 * in *memory, which the caller frees after the tensor was closed. path is scratch.
 */
tdc_status tdc_side_prepare(struct tdc_text *path, const char *folder, const char *name,
                            const struct tdc_side_change *change, struct tdc_tensor *tensor,
                            void **memory, struct tdc_error *error);

/* The sum of all elements of a file of integers; false when it cannot be read or holds others. */
bool tdc_sum_integers(const char *path, int64_t *sum);

#endif
