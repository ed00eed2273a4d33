/* measure.h - how far one recorded call is from its float64 reference. */
#ifndef TDC_PRECHECK_MEASURE_H
#define TDC_PRECHECK_MEASURE_H

#include "tdcmp.h"

struct tdc_measure {
    tdc_check status; /* of the direction; TDC_CHECK_SKIP: it has no reference, or lacks data */
    double ulp;       /* of its worst output; negative: nothing was measured */
    char reason[256]; /* of a skip */
};

/* `name` is that of a call, of its direction or of an output, as tables show it; a name without a
 * direction is the forward. */
void tdc_precheck_measure(tdc_precheck *precheck, const char *name, struct tdc_measure *measure);

#endif
