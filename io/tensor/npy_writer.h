/* npy_writer.h - what precedes the elements in an .npy file. */
#ifndef TDC_IO_NPY_WRITER_H
#define TDC_IO_NPY_WRITER_H

#include "io/base/text.h"
#include "tdcmp.h"

/* Appends the header of an array in C order; the elements follow as they lie in memory, little
 * endian. False when numpy has no such dtype or the text is full. */
bool tdc_npy_head(struct tdc_text *head, tdc_dtype dtype, unsigned rank, const uint64_t *shape);

#endif
