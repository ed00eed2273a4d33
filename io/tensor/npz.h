/*
 * npz.h - archives of numpy arrays, as numpy.savez and savez_compressed write them.
 *
 * Arrays that are stored are used where they lie. An archive with a compressed one is read as a
 * whole into the list's arena, whose limit bounds the file and what is inflated.
 */
#ifndef TDC_IO_NPZ_H
#define TDC_IO_NPZ_H

#include "io/file/unzip.h"
#include "io/tensor/tensor_list.h"

/* Fills the list from bytes[0..size), or sets *packed when a member is compressed. */
tdc_status tdc_npz_list(const unsigned char *bytes, size_t size, struct tdc_tensor_list *list,
                        bool *packed, struct tdc_error *error);
/* Fills the list from an archive with compressed members. Not for guarded reads: it inflates. */
tdc_status tdc_npz_unpack(const struct tdc_unzip *zip, struct tdc_tensor_list *list,
                          struct tdc_error *error);

#endif
