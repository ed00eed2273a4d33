/*
 * origins.h - the calls where differences begin.
 *
 * Works on judged rows and the records behind them, call by call in network order, in linear time;
 * a writer that follows the rows asks for each call as it comes. A call is an origin when an output
 * is further off than its inputs explain: beyond a floor of rounding and beyond what an operator
 * may make of the distance of its inputs.
 */
#ifndef TDC_HOST_ORIGINS_H
#define TDC_HOST_ORIGINS_H

#include "host/origin/calls.h"

struct tdc_origins;

/* Waits until a row is judged; false when the run was given up. */
struct tdc_row_waiter {
    bool (*await)(void *context, size_t row);
    void *context;
};

/* Both must outlive the origins. NULL when out of memory. */
struct tdc_origins *tdc_origins_new(const struct tdc_calls *calls,
                                    const struct tdc_row_waiter *waiter);
void tdc_origins_free(struct tdc_origins *origins);

/*
 * Looks at the rows [start, end) of one call, which must be judged; calls must come in order. Rows
 * of other calls that belong to it (the backward call of a module's gradients may stand behind
 * them) are waited for. TDC_ERR_INTERRUPTED when the run was given up, TDC_ERR_MEMORY.
 */
tdc_status tdc_origins_take(struct tdc_origins *origins, size_t start, size_t end);

/* Counts the rows that follow from each, once the last call was taken. TDC_ERR_MEMORY. */
tdc_status tdc_origins_finish(struct tdc_origins *origins);

/* Those found so far; origins may be NULL for the number. */
size_t tdc_origins_count(const struct tdc_origins *origins);
const struct tdc_origin *tdc_origins_get(const struct tdc_origins *origins, size_t index);

#endif
