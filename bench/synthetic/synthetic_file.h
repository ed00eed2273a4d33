/*
 * synthetic_file.h - one tensor file written front to back: `.pt` as torch.save writes it, or
 * `.npy`.
 */
#ifndef TDC_BENCH_SYNTHETIC_FILE_H
#define TDC_BENCH_SYNTHETIC_FILE_H

#include "io/tensor/pickle/pt_writer.h"
#include "tdcmp.h"

struct tdc_synthetic_shape {
    tdc_dtype dtype;
    unsigned dimensions; /* 1 or 2 */
    uint64_t sizes[2];
};

enum tdc_synthetic_layout {
    TDC_LAYOUT_PT,
    TDC_LAYOUT_NPY
};

struct tdc_synthetic_file {
    int fd;
    enum tdc_synthetic_layout layout;
    char path[4096];
    struct tdc_pt_writer pt;
    uint32_t crc; /* of the data */
};

/* Creates folder/stem.pt or .npy, which must not exist, and writes what precedes the data. stem
 * must outlive the file. */
tdc_status tdc_synthetic_file_open(struct tdc_synthetic_file *file, const char *folder,
                                   const char *stem, enum tdc_synthetic_layout layout,
                                   const struct tdc_synthetic_shape *shape,
                                   struct tdc_error *error);
/* Appends elements; crc is the CRC-32 of these bytes alone. */
tdc_status tdc_synthetic_file_add(struct tdc_synthetic_file *file, const void *bytes, size_t size,
                                  uint32_t crc, struct tdc_error *error);
/* Writes what follows the data and closes, on failure too. */
tdc_status tdc_synthetic_file_close(struct tdc_synthetic_file *file, struct tdc_error *error);
/* Closes a file that will not be finished. */
void tdc_synthetic_file_drop(struct tdc_synthetic_file *file);

#endif
