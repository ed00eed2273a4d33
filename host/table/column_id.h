/* column_id.h - what a column is of; shared by columns.c and cells.c. */
#ifndef TDC_HOST_COLUMN_ID_H
#define TDC_HOST_COLUMN_ID_H

#include "host/judge/row.h"

enum column_id {
    NPU_NAME,
    BENCH_NAME,
    NPU_DTYPE,
    BENCH_DTYPE,
    NPU_SHAPE,
    BENCH_SHAPE,
    NPU_GRAD,
    BENCH_GRAD,
    VALUE, /* + index into values */
    NPU_STAT = VALUE + TDC_ROW_VALUES,
    BENCH_STAT = NPU_STAT + TDC_STATISTICS,
    NPU_DIGEST = BENCH_STAT + TDC_STATISTICS,
    BENCH_DIGEST,
    CONSISTENT,
    VERDICT,
    MESSAGE,
    STACK,
    DATA_NAME,
    FOUND,
    /* of logical tensors */
    AXES,
    NPU_PARTS,
    BENCH_PARTS,
    /* extended rules */
    DISTANCE,
    WORST,
    MEAN_ABS,
    RMSE,
    BELOW_1,
    BELOW_10,
    ABS_AT,
    ABS_NPU,
    ABS_BENCH,
    REL_AT,
    REL_NPU,
    REL_BENCH,
    NPU_NAN,
    NPU_INF,
    BENCH_NAN,
    BENCH_INF,
    ELEMENTS,
    /* of a third run */
    NEARER,
    NOISE_FACTOR
};

struct tdc_column {
    enum column_id id;
    const char *name;
    double width;
};

#endif
