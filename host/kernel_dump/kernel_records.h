/* kernel_records.h - lists of kernel tensors and npy files as the records of a dump. */
#ifndef TDC_HOST_KERNEL_RECORDS_H
#define TDC_HOST_KERNEL_RECORDS_H

#include "host/kernel_dump/kernel_list.h"

/* All npy files below a folder, sorted and numbered; keys are FOLDER/NAME below it, of files
 * NAME_DTYPE_INDEX.npy without the last two parts. TDC_ERR_MEMORY, or the error of the folder. */
tdc_status tdc_kernel_arrays_list(struct tdc_arena *arena, const char *root,
                                  struct tdc_kernel_list *list, struct tdc_error *error);

/* A dump of the tensors of a list, which is sorted. `other` is what it faces: records say how they
 * were found. Nothing of the lists is kept. */
tdc_status tdc_kernel_records(const char *root, const struct tdc_kernel_list *list,
                              const struct tdc_kernel_list *other, struct tdc_dump **dump,
                              struct tdc_error *error);

#endif
