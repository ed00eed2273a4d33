/*
 * synthetic.h - two dumps of the same made-up network, to measure, demonstrate and test with.
 *
 * The same settings give the same bytes on every machine, with any number of threads. The NPU side
 * is the bench side with two kinds of difference: the last bit of every eighth float, as machines
 * round differently (within tolerance), and in a share of the tensors faults that every rule set
 * condemns.
 */
#ifndef TDC_BENCH_SYNTHETIC_H
#define TDC_BENCH_SYNTHETIC_H

#include "bench/synthetic/synthetic_file.h"
#include "tdcmp.h"

struct tdc_synthetic {
    uint64_t tensors;      /* of each dump (rank and step) */
    uint64_t elements;     /* of each tensor, at least 1 */
    tdc_dtype dtype;       /* as tdc_values_supported has them */
    tdc_dtype bench_dtype; /* of the bench side, of the same kind; TDC_DTYPE_NONE: as dtype. Sides
                              of different types hold the same values, each rounded to its type */
    uint64_t distinct;     /* tensor i is a hard link to tensor i % distinct; 0: all are files */
    tdc_mode task;         /* what the dumps hold */
    enum tdc_synthetic_layout layout;
    double share;    /* of tensors with a fault, spread evenly: 0 to 1 */
    bool rounding;   /* not applied to md5, nor to the statistics of 16-bit floats, whose mean it
                        could move too far */
    bool noise;      /* in the place of rounding: see tdc_values_disturb; only with tensor files */
    bool stacks;     /* write stack.json too */
    unsigned ranks;  /* 0: folder/npu/dump.json; else folder/npu/step0/rank0/dump.json, ... */
    unsigned steps;  /* with ranks; 0 counts as 1 */
    unsigned indent; /* blanks per level of the json: collectors use 1 or 4 */
    uint64_t seed;
    int threads; /* 0: all */
    const struct tdc_cancel
        *cancel; /* non-zero ends the work with TDC_ERR_INTERRUPTED; NULL: never */
};

struct tdc_synthetic_totals {
    uint64_t dumps;      /* pairs */
    uint64_t rows;       /* of all comparisons: tensors and scalars */
    uint64_t tensors;    /* pairs */
    uint64_t different;  /* pairs with a fault */
    uint64_t data_bytes; /* of tensors, both sides; what was made, if not written */
    uint64_t json_bytes; /* of dump.json, both sides */
};

/* 200 tensors of 4096 f32 as .pt, 5 % with faults, rounding and stacks, no ranks, indent 1. */
void tdc_synthetic_init(struct tdc_synthetic *settings);

/*
 * Writes folder/npu and folder/bench, neither of which may exist; folder is created if needed.
 * TDC_ERR_ARGUMENT for settings out of range, TDC_ERR_WRITE, TDC_ERR_MEMORY,
 * TDC_ERR_INTERRUPTED. After a failure files may be left behind. totals may be NULL.
 */
tdc_status tdc_synthetic_make(const struct tdc_synthetic *settings, const char *folder,
                              struct tdc_synthetic_totals *totals, struct tdc_error *error);

#endif
