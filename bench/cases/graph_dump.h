/* graph_dump.h - a tensor as a dump of GE, as FX has it and as a plain npy file, for measuring. */
#ifndef TDC_BENCH_GRAPH_DUMP_H
#define TDC_BENCH_GRAPH_DUMP_H

#include "tdcmp.h"

struct tdc_graph_paths {
    char ge[4300], fx[4300];       /* folders: dumps that face each other */
    char plain[4300], other[4300]; /* npy files of the same bytes */
};

/* Writes one float32 matrix of about `bytes` three times below a folder; `blocks`: GE stores it in
 * blocks of 16 by 16 (FRACTAL_NZ), else in rows. *size: the bytes it has. */
tdc_status tdc_graph_dump_make(const char *folder, uint64_t bytes, bool blocks,
                               struct tdc_graph_paths *paths, uint64_t *size,
                               struct tdc_error *error);

#endif
