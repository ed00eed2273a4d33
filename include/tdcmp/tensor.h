/* tensor.h - one tensor in memory: its statistics, and as a file of a dump. */
#ifndef TDCMP_TENSOR_H
#define TDCMP_TENSOR_H

#include "tdcmp/buffer.h"

TDC_INTERFACE_BEGIN

/* Bits for tdc_buffer_statistics. */
enum {
    TDC_BUFFER_CRC = 1 /* the checksum, too */
};

/* What a dump says of a tensor; of complex numbers that of their moduli. Numbers are NaN where the
 * tensor has no elements, or a NaN among them. */
struct tdc_buffer_statistics {
    uint64_t elements, nan, inf;
    double max, min, mean, norm;
    uint32_t crc; /* CRC-32 of the elements in C order, little endian */
};

/* One pass over the tensor, a second one for the checksum. Takes threads and cancel of the options.
 * The same bits whatever the number of threads; sums follow the elements in the order in which they
 * lie, so that of a transposed copy they may differ in the last bit. size: sizeof(struct
 * tdc_buffer_statistics). */
tdc_status tdc_buffer_statistics(const struct tdc_buffer *tensor, unsigned flags,
                                 const struct tdc_options *options,
                                 struct tdc_buffer_statistics *statistics, size_t size,
                                 struct tdc_error *error);

/*
 * Writes the tensor as numpy.save or torch.save would, by the ending of the path: .npy or .pt. The
 * file appears when it is complete, in a folder that exists; one of that name is replaced. It is
 * not flushed to the disk: it survives the process, and not the machine. TDC_ERR_UNSUPPORTED: the
 * format has no such elements, or has no room for 4 GiB of them (.pt).
 */
tdc_status tdc_buffer_write(const struct tdc_buffer *tensor, const char *path,
                            struct tdc_error *error);

TDC_INTERFACE_END
#endif
