/*
 * pt_quantised.h - tensors whose elements stand for (stored - zero) * scale.
 */
#ifndef TDC_IO_PT_QUANTISED_H
#define TDC_IO_PT_QUANTISED_H

#include "io/tensor/pickle/pt.h"

/* Where the storages of a file are. */
struct tdc_pt_storages {
    tdc_status (*find)(const void *context, const struct tdc_pickle_value *key,
                       const unsigned char **data, size_t *size, struct tdc_pickle *pickle);
    const void *context;
    bool big_endian;
};

/* Fills tensor->affine of a tensor that tdc_pt_describe has filled; others stay as they are.
 * Without storages (NULL) there is one scale for all. */
tdc_status tdc_pt_quantiser(struct tdc_pickle *pickle, const struct tdc_pickle_value *value,
                            const struct tdc_pt_storages *storages, struct tdc_tensor *tensor);

#endif
