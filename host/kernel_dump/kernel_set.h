/*
 * kernel_set.h - kernel dumps and folders of npy files as comparisons of records.
 *
 * One comparison for each rank and step that both sides have, or one of all npy files below two
 * folders that are no kernel dumps. Tensors that face each other get the same name.
 */
#ifndef TDC_HOST_KERNEL_SET_H
#define TDC_HOST_KERNEL_SET_H

#include "host/graph/graph_set.h"

struct tdc_kernel_set;

/* step < 0: all. TDC_ERR_NOT_FOUND when a side is neither, TDC_ERR_NOTHING when nothing is in
 * common; what has no counterpart is told. */
tdc_status tdc_kernel_set_find(const char *npu, const char *bench, int step,
                               const struct tdc_options *options, struct tdc_kernel_set **set,
                               struct tdc_error *error);
void tdc_kernel_set_free(struct tdc_kernel_set *set);
size_t tdc_kernel_set_count(const struct tdc_kernel_set *set);
const struct tdc_graph_item *tdc_kernel_set_get(const struct tdc_kernel_set *set, size_t index);
/* Ranks and steps of one side alone; each was told. */
size_t tdc_kernel_set_left_out(const struct tdc_kernel_set *set);

#endif
