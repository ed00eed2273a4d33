/*
 * atb_file.h - tensors as ATB (the Ascend transformer boost library) saves them.
 *
 * Lines `key=value` up to and including the one of `$End`, then the elements, little-endian and in
 * C order. Keys that begin with `$` are bookkeeping; `dtype` is a number of the table in the
 * source, `dims` a list of sizes. Without them a tensor is one float32, as its own readers have it.
 */
#ifndef TDC_IO_ATB_FILE_H
#define TDC_IO_ATB_FILE_H

#include "io/tensor/tensor_file.h"

/*
 * Describes the tensor in bytes[0..size) on the terms of tdc_npy_parse. TDC_ERR_FORMAT for a
 * malformed or lying header and for data of another size than it says, TDC_ERR_UNSUPPORTED for a
 * dtype without a number here and for data in another file.
 */
tdc_status tdc_atb_parse(const unsigned char *bytes, size_t size, const char *name,
                         struct tdc_tensor *tensor, struct tdc_error *error);

#endif
