/*
 * safetensors.h - the header of safetensors files: eight bytes of length, JSON, then data.
 *
 * Gaps between tensors and tensors that share bytes are accepted, as data that is not aligned; a
 * header of more than 100 MiB, offsets that leave the file, sizes that do not fit shape and type,
 * and a name that comes twice are not.
 */
#ifndef TDC_IO_SAFETENSORS_H
#define TDC_IO_SAFETENSORS_H

#include "io/tensor/tensor_list.h"

/* Fills the list from bytes[0..size). */
tdc_status tdc_safetensors_list(const unsigned char *bytes, size_t size,
                                struct tdc_tensor_list *list, struct tdc_error *error);

#endif
