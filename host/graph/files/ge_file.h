/*
 * ge_file.h - an open dump file of the graph engine: how many tensors it has, and each of them.
 *
 * The file is mapped; what is read of its header is read guarded, so that a file that shrinks is an
 * error of its own.
 */
#ifndef TDC_HOST_GE_FILE_H
#define TDC_HOST_GE_FILE_H

#include "io/file/file_map.h"
#include "io/tensor/ge/ge_dump.h"

struct tdc_ge_file {
    struct tdc_file_map map;
    const char *path; /* the caller's */
    uint64_t counts[TDC_GE_LISTS];
};

/* Maps the file and counts. Nothing is open after a failure. */
tdc_status tdc_ge_file_open(const char *path, struct tdc_ge_file *file, struct tdc_error *error);
void tdc_ge_file_close(struct tdc_ge_file *file);

/* An item, and the tensor of its bytes, which lives as long as the file is open and must be read
 * guarded; `stored` as in tdc_ge_tensor. Of buffers and workspaces a row of bytes. */
tdc_status tdc_ge_file_tensor(const struct tdc_ge_file *file, enum tdc_ge_list list, uint64_t index,
                              bool stored, struct tdc_ge_item *item, struct tdc_tensor *tensor,
                              struct tdc_error *error);

/* How many inputs and outputs a dump file has. */
tdc_status tdc_ge_file_counts(const char *path, uint64_t counts[2], struct tdc_error *error);

#endif
