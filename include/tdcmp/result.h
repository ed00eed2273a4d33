/*
 * result.h - a finished result of a comparison, read again; and a pair of tensors looked at
 * closely.
 *
 * Results are what tdc_table_write has written with any rules: xlsx, csv, json or jsonl.
 */
#ifndef TDCMP_RESULT_H
#define TDCMP_RESULT_H

#include "tdcmp/dump.h"

TDC_INTERFACE_BEGIN

typedef struct tdc_result tdc_result;

/* What is known of a row. Texts as they stand in the file. */
typedef enum {
    TDC_RESULT_NONE = 0,
    TDC_RESULT_TEST_NAME,
    TDC_RESULT_REF_NAME, /* that of the test side where the file does not repeat it */
    TDC_RESULT_VERDICT,
    TDC_RESULT_REASON,
    TDC_RESULT_STACK,
    TDC_RESULT_TEST_DTYPE,
    TDC_RESULT_REF_DTYPE,
    TDC_RESULT_TEST_SHAPE,
    TDC_RESULT_REF_SHAPE,
    TDC_RESULT_TEST_MAX,
    TDC_RESULT_REF_MAX,
    TDC_RESULT_TEST_MIN,
    TDC_RESULT_REF_MIN,
    TDC_RESULT_TEST_MEAN,
    TDC_RESULT_REF_MEAN,
    TDC_RESULT_TEST_NORM,
    TDC_RESULT_REF_NORM,
    TDC_RESULT_TEST_DIGEST,
    TDC_RESULT_REF_DIGEST,
    TDC_RESULT_COSINE,
    TDC_RESULT_EUCLIDEAN,
    TDC_RESULT_MAX_ABS,
    TDC_RESULT_MAX_REL,
    TDC_RESULT_MEAN_ABS,
    TDC_RESULT_RMSE,
    TDC_RESULT_DISTANCE,
    TDC_RESULT_WORST,
    TDC_RESULT_MAX_ABS_AT,
    TDC_RESULT_MAX_ABS_TEST,
    TDC_RESULT_MAX_ABS_REF,
    TDC_RESULT_FIELDS /* how many there are in this version */
} tdc_result_field;

/* TDC_ERR_UNSUPPORTED for a file that is no result. */
tdc_status tdc_result_open(const char *path, tdc_result **result, struct tdc_error *error);
void tdc_result_free(tdc_result *result);

size_t tdc_result_rows(const tdc_result *result);
/* "" where the file does not say. Lives as long as the result. */
const char *tdc_result_text(const tdc_result *result, size_t row, tdc_result_field field);
/* Path of the dump of a side as it was given to the comparison, and the folder that relative paths
 * start from; NULL where the file does not say, as csv. */
const char *tdc_result_side(const tdc_result *result, bool test);
const char *tdc_result_folder(const tdc_result *result);

/* ---- a pair of tensors, closely -------------------------------------------------------------- */

#define TDC_CLOSEUP_ELEMENTS 8
#define TDC_CLOSEUP_BINS     11

/* An element with a large error. */
struct tdc_closeup_element {
    char position[200];     /* "[3, 7]" */
    char test[64], ref[64]; /* the two values */
    double difference;      /* |test - ref|; infinite where one of them is not finite */
    double relative;        /* that over |ref|: 0 for equal values, infinite over 0 */
};

struct tdc_closeup {
    uint64_t elements;
    uint64_t equal; /* the same value, or both NaN, or the same infinity */
    size_t worst;   /* how many of these there are, the largest difference first */
    struct tdc_closeup_element element[TDC_CLOSEUP_ELEMENTS];
    /* Elements that are not equal, by relative error: below 1e-8, 1e-7, ... 0.1, 1; at least 1; not
     * finite on one side alone (tdc_closeup_bin) */
    uint64_t bins[TDC_CLOSEUP_BINS];
};

/* "< 1e-08", ..., ">= 1", "not finite" */
const char *tdc_closeup_bin(size_t bin);

/* Record of this row name, TDC_NO_RECORD if the dump has none. */
size_t tdc_dump_find_record(const tdc_dump *dump, const char *name);
/* The call stack of a record of a dump that was loaded from a file, from the stack.json beside it:
 * lines of the form `File F, line N, in FUNCTION, ...`. "" where there is none. To be freed; NULL:
 * out of memory. */
char *tdc_dump_record_stack(const tdc_dump *dump, size_t record);

/* Reads both tensors, once, on one thread, and keeps nothing of them. What cannot be read, or has
 * another shape than the other side, is an error. size: sizeof(struct tdc_closeup). */
tdc_status tdc_closeup_make(const tdc_dump *test, size_t test_record, const tdc_dump *ref,
                            size_t ref_record, struct tdc_closeup *closeup, size_t size,
                            struct tdc_error *error);

TDC_INTERFACE_END
#endif
