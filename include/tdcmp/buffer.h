/* buffer.h - two tensors in memory, compared in one call. */
#ifndef TDCMP_BUFFER_H
#define TDCMP_BUFFER_H

#include "tdcmp/device.h"
#include "tdcmp/table.h"

TDC_INTERFACE_BEGIN

/* A tensor in memory: nothing is copied or kept. */
struct tdc_buffer {
    size_t size; /* of this struct: set by tdc_buffer_init */
    tdc_dtype dtype;
    unsigned dimensions;    /* up to 64 */
    const void *data;       /* element [0, 0, ...]; any alignment, this machine's byte order */
    const int64_t *shape;   /* as many as dimensions */
    const int64_t *strides; /* likewise, in elements, may be 0 or negative; NULL: dense, C order */
};

void tdc_buffer_init(struct tdc_buffer *buffer, size_t size, const void *data, tdc_dtype dtype,
                     unsigned dimensions, const int64_t *shape, const int64_t *strides);

/* What a comparison yields. Numbers that do not exist are NaN: the cosine of one element, or of
 * zeros; all of them when nothing was computed. */
struct tdc_difference {
    tdc_row_class row_class;   /* as of a row in a table */
    bool computed;             /* false for tensors without elements, or of different shapes */
    bool located;              /* the positions mean something: some pair is finite */
    uint64_t elements, finite; /* pairs; pairs with both values finite */
    uint64_t n_nan, n_inf, b_nan, b_inf;
    double cosine, euclidean, max_abs, max_rel;      /* as in the columns of a table */
    double below_thousandth, below_five_thousandths; /* shares by relative error */
    double below_hundredth, below_tenth;             /* sound rules */
    double mean_abs, rmse;
    double distance, worst;            /* ||n-b|| / ||b||, max|n-b| / max|b|: sound rules */
    double n_min, n_max, b_min, b_max; /* over finite pairs */
    uint64_t max_abs_at, max_rel_at;   /* flat indices in C order, of the first occurrence */
    double max_abs_n, max_abs_b, max_rel_n, max_rel_b; /* the elements there; complex: real part */
    char message[1024];                                /* as Err_message of a row; may be empty */
};

/*
 * Compares a tensor under test (n) with its reference (b) on the CPU: the same code, and so the
 * same bits, as for two dumps with these tensors and their Max and Min. Takes rules, threads,
 * message and cancel of the options. Shapes that differ or texts are results, as they are for rows;
 * TDC_ERR_ARGUMENT is for what is no tensor. size: sizeof(struct tdc_difference).
 */
tdc_status tdc_compare_buffers(const struct tdc_buffer *n, const struct tdc_buffer *b,
                               const struct tdc_options *options, struct tdc_difference *difference,
                               size_t size, struct tdc_error *error);

/* The same with the tensor of a record of a dump as the reference, read from its file.
 * TDC_ERR_NOTHING: the record has none. */
tdc_status tdc_compare_record(const struct tdc_buffer *n, const tdc_dump *dump, size_t record,
                              const struct tdc_options *options, struct tdc_difference *difference,
                              size_t size, struct tdc_error *error);

/*
 * The same for tensors that lie on a device: `data` of both is what tdc_compare_device takes, and
 * the work follows the stream likewise. Of the options the rules count. TDC_ERR_UNSUPPORTED, and
 * nothing is known, for what wants a second look at all elements: views, shapes that differ,
 * tensors of one element or none, NaN, infinity, numbers whose squares leave float64. Who wants to
 * know copies the tensors and compares the copies.
 */
tdc_status tdc_compare_device_buffers(tdc_device *device, const struct tdc_buffer *n,
                                      const struct tdc_buffer *b, const struct tdc_options *options,
                                      void *stream, struct tdc_difference *difference, size_t size,
                                      struct tdc_error *error);

TDC_INTERFACE_END
#endif
