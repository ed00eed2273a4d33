/* saved_tensor.h - a tensor of the reference as a .npy file of numpy or a .pt file of torch. */
#ifndef TDC_PRECHECK_SAVED_TENSOR_H
#define TDC_PRECHECK_SAVED_TENSOR_H

#include <stdio.h>

#include "reference/reference.h"

/* False when a write failed, or the format lacks the dtype. numpy has no bfloat16: it goes as
 * float32, in which it is exact. */
bool tdc_write_npy(FILE *file, const struct tdc_reference_tensor *tensor);
/* As torch.save writes a contiguous tensor: a zip archive in which nothing is compressed. `name` is
 * its folder inside, without '/'. At most TDC_PT_LARGEST bytes; torch has no storage of uint16,
 * uint32, uint64. */
bool tdc_write_pt(FILE *file, const struct tdc_reference_tensor *tensor, const char *name);
/* CRC-32 of the elements as a file of that dtype has them: what collectors call md5. */
uint32_t tdc_tensor_crc(const struct tdc_reference_tensor *tensor);

#endif
