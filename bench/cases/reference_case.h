/* reference_case.h - one operator of the reference on made-up tensors, timed. */
#ifndef TDC_BENCH_REFERENCE_CASE_H
#define TDC_BENCH_REFERENCE_CASE_H

#include "bench/tools/measure.h"
#include "reference/reference.h"

#define TDC_CASE_ARGUMENTS 4

struct tdc_reference_case {
    const char *api;
    /* arguments: what fills a tensor, then its shape; kind null ends the list */
    struct tdc_case_argument {
        enum tdc_case_fill {
            TDC_CASE_END,
            TDC_CASE_REALS,    /* in [-1, 1) */
            TDC_CASE_POSITIVE, /* in [1, 2) */
            TDC_CASE_PLACES,   /* integers below `number` */
            TDC_CASE_INT       /* the int `number` itself */
        } fill;
        unsigned rank;
        int64_t shape[4];
        int64_t number;
    } arguments[TDC_CASE_ARGUMENTS];
    bool backward;
};

/*
 * Makes the tensors, then computes the call `repeat` times with the threads OpenMP is set to; the
 * fastest counts. The memory of results is taken anew for each, as in a run over a dump.
 */
tdc_status tdc_reference_time(const struct tdc_reference_case *wanted, unsigned repeat,
                              double budget, const struct tdc_cancel *cancel, double *seconds,
                              struct tdc_error *error);

#endif
