/* data_names.h - the tensor files that the records of a call name, without reading the records. */
#ifndef TDC_PRECHECK_DATA_NAMES_H
#define TDC_PRECHECK_DATA_NAMES_H

#include "host/precheck/calls/calls.h"

/* Calls visit with each name, which is not ended by a NUL. Inside tdc_guarded_read: the visitor
 * must own nothing while it reads the name. */
void tdc_each_data_name(const struct tdc_record_place *place,
                        void (*visit)(void *context, const char *name, size_t length),
                        void *context);

#endif
