/*
 * pt.h - the two layouts of torch.save: a zip archive, and before torch 1.6 pickles in a row.
 *
 * Both hold a pickle that says how a tensor looks at a storage, and the bytes of the storage.
 */
#ifndef TDC_IO_PT_H
#define TDC_IO_PT_H

#include "io/tensor/pickle/pt_value.h"
#include "io/tensor/tensor_file.h"

/*
 * Describes the tensor in bytes[0..size). `pickle` must be initialised; it holds the messages' file
 * name and error, and all memory used, so that this may run in a guarded read.
 */
tdc_status tdc_pt_parse(const unsigned char *bytes, size_t size, struct tdc_pickle *pickle,
                        struct tdc_tensor *tensor);

/* The layout before torch 1.6; anything else is "not a torch file". */
tdc_status tdc_pt_legacy_parse(const unsigned char *bytes, size_t size, struct tdc_pickle *pickle,
                               struct tdc_tensor *tensor);

/* ---- for both layouts --------------------------------------------------------------------------
 */

/* TDC_ERR_UNSUPPORTED unless the value of a pickle is a tensor. */
tdc_status tdc_pt_require_tensor(struct tdc_pickle *pickle, const struct tdc_pickle_value *value);
/* The fields (enum tdc_pickle_storage) of the storage of a tensor value. */
const struct tdc_pickle_value *tdc_pt_storage_of(const struct tdc_pickle *pickle,
                                                 const struct tdc_pickle_value *value);
/* Bytes that one element of a storage's count stands for. */
size_t tdc_pt_storage_unit(const struct tdc_pickle_value *storage);
/* Fills the tensor from a tensor value and its storage, which has `size` bytes in the file. Every
 * element the tensor can reach is inside the storage afterwards. */
tdc_status tdc_pt_describe(struct tdc_pickle *pickle, const struct tdc_pickle_value *value,
                           const unsigned char *storage, size_t size, bool big_endian,
                           struct tdc_tensor *tensor);

#endif
