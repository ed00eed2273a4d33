/*
 * npy.h - numpy's array files, versions 1.0, 2.0 and 3.0.
 *
 * The header is a Python dict literal; a parser for just that literal reads it, nothing is
 * evaluated. C and Fortran order become strides. Bytes after the data are ignored, as numpy does.
 */
#ifndef TDC_IO_NPY_H
#define TDC_IO_NPY_H

#include "io/tensor/tensor_file.h"

/*
 * Describes the array in bytes[0..size). Touches the bytes only by plain reads, allocates nothing
 * and formats no message out of them, so it may run in a guarded read. `name` begins messages.
 * TDC_ERR_FORMAT for a malformed or lying header, TDC_ERR_UNSUPPORTED for object, void, structured
 * and date arrays.
 */
tdc_status tdc_npy_parse(const unsigned char *bytes, size_t size, const char *name,
                         struct tdc_tensor *tensor, struct tdc_error *error);

#endif
