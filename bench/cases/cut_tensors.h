/*
 * cut_tensors.h - one matrix as two runs store it: whole, or cut up over ranks.
 *
 * Every side is a folder of rank folders with a safetensors file each. The values of the two sides
 * differ in the last bit of every eighth element, whichever way they are cut.
 */
#ifndef TDC_BENCH_CUT_TENSORS_H
#define TDC_BENCH_CUT_TENSORS_H

#include "tdcmp.h"

enum tdc_cut {
    TDC_CUT_WHOLE,
    TDC_CUT_ROWS,    /* each rank has rows that follow each other */
    TDC_CUT_ZIGZAG,  /* of twice as many chunks of rows each rank has two, one from either end */
    TDC_CUT_COLUMNS, /* each rank has a piece of every row */
    TDC_CUT_TURNED,  /* whole, but stored column after column */
    TDC_CUT_SHARDS   /* files of one folder with names of their own, some rows in each */
};

struct tdc_cut_side {
    enum tdc_cut cut;
    tdc_dtype dtype; /* f32 or bf16 */
    unsigned ranks;  /* files; 1 for whole and turned */
    uint64_t rows, columns;
    bool other; /* the other side's values */
};

/* Writes the files of a side below a folder, which is made. Rows are a multiple of twice the ranks,
 * columns one of the ranks. */
tdc_status tdc_cut_make(const struct tdc_cut_side *side, const char *folder,
                        const struct tdc_cancel *cancel, struct tdc_error *error);

#endif
