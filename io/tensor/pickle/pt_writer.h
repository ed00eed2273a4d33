/*
 * pt_writer.h - what surrounds the elements in a .pt file, as torch.save writes one dense tensor.
 *
 * A zip archive of stored members: data.pkl, byteorder, data/0 with the elements at a multiple of
 * 64 bytes, and version. Sizes and checksums follow their member, so that a file is written front
 * to back: the head, the elements little endian in C order, the tail.
 */
#ifndef TDC_IO_PT_WRITER_H
#define TDC_IO_PT_WRITER_H

#include "io/base/text.h"
#include "tdcmp.h"

/* The largest number of bytes of a tensor: sizes have 32 bits. */
#define TDC_PT_LARGEST (((uint64_t)1 << 32) - ((uint64_t)1 << 16))

#define TDC_PT_MEMBERS 4

struct tdc_pt_writer {
    const char *stem; /* folder inside the archive */
    uint64_t head;    /* bytes before the elements */
    uint64_t bytes;   /* of the elements */
    struct {
        uint64_t offset, size;
        uint32_t crc;
    } members[TDC_PT_MEMBERS];
};

/* Appends what precedes the elements to an empty text. `stem` has no '/' and must outlive the
 * writer. False when torch has no storage of the dtype, the tensor is too large or the text full.
 */
bool tdc_pt_head(struct tdc_pt_writer *writer, struct tdc_text *head, const char *stem,
                 tdc_dtype dtype, unsigned rank, const uint64_t *shape);
/* Appends what follows them; crc is their CRC-32. */
bool tdc_pt_tail(struct tdc_pt_writer *writer, struct tdc_text *tail, uint32_t crc);

#endif
