/* read_ahead.h - asks the system for the tensor files of a call before it is checked, so that the
 * disk works while the processors do. */
#ifndef TDC_PRECHECK_READ_AHEAD_H
#define TDC_PRECHECK_READ_AHEAD_H

#include "host/precheck/calls/calls.h"

/* Does not wait for the disk; whatever goes wrong shows when the call is checked. Inside
 * tdc_guard_begin. */
void tdc_read_ahead(const struct tdc_calls *calls, const struct tdc_call *call);

#endif
