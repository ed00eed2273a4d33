/*
 * pt_rebuild.h - what the calls and persistent ids in a tensor's pickle stand for.
 */
#ifndef TDC_IO_PT_REBUILD_H
#define TDC_IO_PT_REBUILD_H

#include "io/tensor/pickle/pt_value.h"

/* What calling `function` with the tuple `arguments` yields. */
tdc_status tdc_pickle_call(struct tdc_pickle *pickle, const struct tdc_pickle_value *function,
                           const struct tdc_pickle_value *arguments,
                           struct tdc_pickle_value *result);
/* The storage a persistent id names. */
tdc_status tdc_pickle_persistent(struct tdc_pickle *pickle, const struct tdc_pickle_value *id,
                                 struct tdc_pickle_value *storage);

#endif
