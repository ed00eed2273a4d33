/* beginning.h - what a search found, as callers get it. */
#ifndef TDC_ANALYSIS_BEGINNING_H
#define TDC_ANALYSIS_BEGINNING_H

#include "tdcmp.h"

struct tdc_comm_result;

struct tdc_beginning {
    size_t count;
    long rank;
    char *call;
    char *file;
};

/* The findings of a search, without a file; NULL when out of memory. */
tdc_beginning *tdc_beginning_new(const struct tdc_comm_result *result);

#endif
