/*
 * synthetic_chunk.h - the elements of both sides of a synthetic tensor, some blocks at a time.
 */
#ifndef TDC_BENCH_SYNTHETIC_CHUNK_H
#define TDC_BENCH_SYNTHETIC_CHUNK_H

#include "bench/synthetic/synthetic_values.h"

enum {
    TDC_SIDE_NPU,
    TDC_SIDE_BENCH,
    TDC_SIDES
};

/* Elements made before they are written: 256 KB of the widest type, which stays in the L2 cache. */
#define TDC_CHUNK_ELEMENTS (8 * TDC_VALUES_BLOCK)

struct tdc_chunk_plan {
    struct tdc_values values[TDC_SIDES];
    bool fault, rounded, noisy; /* differences of the NPU side */
    bool mixed;                 /* the sides have different types */
    bool crc;                   /* wanted */
};

/* False: the NPU side is the bench side, and its buffer and statistics are left alone. */
bool tdc_chunk_differs(const struct tdc_chunk_plan *plan);

/*
 * Makes count <= TDC_CHUNK_ELEMENTS elements of both sides, from the first of a block on, and adds
 * them to the statistics. crcs: CRC-32 of the bytes of each side, if wanted.
 */
void tdc_chunk_make(const struct tdc_chunk_plan *plan, uint64_t first, size_t count,
                    unsigned char *const buffers[TDC_SIDES],
                    struct tdc_values_statistics *const statistics[TDC_SIDES],
                    uint32_t crcs[TDC_SIDES]);

#endif
