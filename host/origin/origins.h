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

#include "tdcmp.h"

struct tdc_table;

struct tdc_origins;

/* NULL when out of memory. */
struct tdc_origins *tdc_origins_new(const struct tdc_table *table);
void tdc_origins_free(struct tdc_origins *origins);

/*
 * Looks at the rows [start, end) of one call; calls must come in order. Rows of other calls that
 * belong to it (the backward call of a module's gradients may stand behind them) are waited for.
 * False when the run was given up or memory is out (table->failed says which).
 */
bool tdc_origins_take(struct tdc_table *table, size_t start, size_t end);

#endif
