/*
 * fields.h - the numbers and texts of a table by field, not by cell.
 *
 * A whole field as one array that belongs to the table, made when it is first asked for, for
 * programs that hand it to others without copying: valid until the table is compared again or
 * freed. Fields exist for every table, whatever columns its files have; a row that has no such
 * number is marked.
 */
#ifndef TDCMP_FIELDS_H
#define TDCMP_FIELDS_H

#include "tdcmp/table.h"

TDC_INTERFACE_BEGIN

typedef enum {
    TDC_FIELD_NONE = 0,
    /* texts */
    TDC_FIELD_NPU_NAME,
    TDC_FIELD_BENCH_NAME,
    TDC_FIELD_NPU_DTYPE,
    TDC_FIELD_BENCH_DTYPE,
    TDC_FIELD_NPU_SHAPE,
    TDC_FIELD_BENCH_SHAPE,
    TDC_FIELD_NPU_FILE, /* of the tensor, below the folder of the dump */
    TDC_FIELD_BENCH_FILE,
    TDC_FIELD_NPU_DIGEST,
    TDC_FIELD_BENCH_DIGEST,
    TDC_FIELD_VERDICT,
    TDC_FIELD_MESSAGE,
    /* integers */
    TDC_FIELD_NPU_RECORD, /* numbers of the records, for tdc_dump_record_... */
    TDC_FIELD_BENCH_RECORD,
    TDC_FIELD_CLASS,      /* tdc_row_class */
    TDC_FIELD_COLOUR,     /* tdc_colour */
    TDC_FIELD_ORIGIN,     /* tdc_origin_kind */
    TDC_FIELD_ELEMENTS,   /* this and the next six: tensors, sound rules */
    TDC_FIELD_MAX_ABS_AT, /* flat index, in C order, of the largest absolute error */
    TDC_FIELD_MAX_REL_AT,
    TDC_FIELD_NPU_NAN,
    TDC_FIELD_NPU_INF,
    TDC_FIELD_BENCH_NAN,
    TDC_FIELD_BENCH_INF,
    /* numbers of tensors */
    TDC_FIELD_COSINE,
    TDC_FIELD_EUCLIDEAN,
    TDC_FIELD_MAX_ABS,
    TDC_FIELD_MAX_REL,
    TDC_FIELD_BELOW_THOUSANDTH, /* shares of elements by their relative error */
    TDC_FIELD_BELOW_FIVE_THOUSANDTHS,
    TDC_FIELD_BELOW_HUNDREDTH, /* this and the next seven: sound rules */
    TDC_FIELD_BELOW_TENTH,
    TDC_FIELD_MEAN_ABS,
    TDC_FIELD_RMSE,
    TDC_FIELD_MAX_ABS_NPU, /* the elements at MAX_ABS_AT and MAX_REL_AT; complex: real part */
    TDC_FIELD_MAX_ABS_BENCH,
    TDC_FIELD_MAX_REL_NPU,
    TDC_FIELD_MAX_REL_BENCH,
    /* numbers of all modes, sound rules */
    TDC_FIELD_DISTANCE, /* ||n-b|| / ||b|| */
    TDC_FIELD_WORST,    /* max|n-b| / max|b| */
    /* statistics of the dumps */
    TDC_FIELD_NPU_MAX,
    TDC_FIELD_NPU_MIN,
    TDC_FIELD_NPU_MEAN,
    TDC_FIELD_NPU_NORM,
    TDC_FIELD_BENCH_MAX,
    TDC_FIELD_BENCH_MIN,
    TDC_FIELD_BENCH_MEAN,
    TDC_FIELD_BENCH_NORM,
    /* statistics compared */
    TDC_FIELD_MAX_DIFF,
    TDC_FIELD_MIN_DIFF,
    TDC_FIELD_MEAN_DIFF,
    TDC_FIELD_NORM_DIFF,
    TDC_FIELD_MAX_PERCENT, /* relative differences, in percent */
    TDC_FIELD_MIN_PERCENT,
    TDC_FIELD_MEAN_PERCENT,
    TDC_FIELD_NORM_PERCENT,
    TDC_FIELDS /* how many there are in this version, the first included */
} tdc_field;

typedef enum {
    TDC_FIELD_TYPE_NONE = 0, /* no such field in this version */
    TDC_FIELD_TYPE_TEXT,
    TDC_FIELD_TYPE_INTEGER,
    TDC_FIELD_TYPE_NUMBER
} tdc_field_type;

tdc_field_type tdc_field_type_of(tdc_field field);
/* "npu_name", "max_abs_at", ...; NULL when there is no such field: count up from 1 to list them. */
const char *tdc_field_name(tdc_field field);
/* TDC_FIELD_NONE for an unknown name. */
tdc_field tdc_field_named(const char *name);

/*
 * tdc_table_rows(table) values, and as many bytes in *valid (may be NULL) that are 1 where the row
 * has one. Others are NaN among numbers and 0 among integers. Integers can be had as numbers, too.
 * TDC_ERR_ARGUMENT for a field of another type.
 */
tdc_status tdc_table_numbers(tdc_table *table, tdc_field field, const double **values,
                             const uint8_t **valid, struct tdc_error *error);
tdc_status tdc_table_integers(tdc_table *table, tdc_field field, const int64_t **values,
                              const uint8_t **valid, struct tdc_error *error);
/* The text of row i is bytes [offsets[i], offsets[i + 1]); rows without one have none. There are
 * tdc_table_rows(table) + 1 offsets, and a 0 behind the last byte. */
tdc_status tdc_table_texts(tdc_table *table, tdc_field field, const char **bytes,
                           const uint64_t **offsets, struct tdc_error *error);

/* One of them; false when the row has no such number, and *number is NaN then. May be called from
 * tdc_options.row. */
bool tdc_table_number(const tdc_table *table, size_t row, tdc_field field, double *number);
/* Likewise; "" when there is none. Lives as long as the dumps and the table; that of
 * TDC_FIELD_MESSAGE may grow when rows are coloured: ask again after tdc_compare. */
const char *tdc_table_text(const tdc_table *table, size_t row, tdc_field field);

TDC_INTERFACE_END
#endif
