/*
 * gguf.h - the header of GGUF files: settings, descriptions of tensors, then data.
 *
 * Versions 2 and 3, little endian. Tensors of plain numbers can be compared; quantised ones are
 * listed with their type as the reason why not. Axes are turned round: the file has the fastest
 * first. Settings are skipped but for the alignment of the data.
 */
#ifndef TDC_IO_GGUF_H
#define TDC_IO_GGUF_H

#include "io/tensor/tensor_list.h"

/* Fills the list from bytes[0..size). */
tdc_status tdc_gguf_list(const unsigned char *bytes, size_t size, struct tdc_tensor_list *list,
                         struct tdc_error *error);

#endif
