/* explain.h - how many rows follow from each origin. */
#ifndef TDC_HOST_ORIGIN_EXPLAIN_H
#define TDC_HOST_ORIGIN_EXPLAIN_H

#include "host/origin/calls.h"

/*
 * Fills in `explains` of all origins, which are in network order, once all rows are judged and
 * marked: rows that are different and follow from it, its own among them. Every row counts
 * for one origin at most. TDC_ERR_MEMORY.
 */
tdc_status tdc_origins_explain(const struct tdc_calls *calls, struct tdc_origin *origins,
                               size_t count);

#endif
