/* measure.h - how far one recorded call is from its float64 reference. */
#ifndef TDC_PRECHECK_MEASURE_H
#define TDC_PRECHECK_MEASURE_H

#include "tdcmp.h"

/* An output of a call beside what it should have been. */
struct tdc_measured_output {
    double *values, *truth; /* `count` of each, in C order; NULL: not known */
    size_t count;
    tdc_dtype dtype; /* that it was recorded in */
};

struct tdc_measure {
    tdc_check status; /* of the direction; TDC_CHECK_SKIP: it has no reference, or lacks data */
    double ulp;       /* of its worst output; negative: nothing was measured */
    char reason[256]; /* of a skip */
    struct tdc_measured_output output; /* that was named */
};

/* `name` is that of a call, of its direction or of an output, as tables show it; a name without a
 * direction is the forward. */
void tdc_precheck_measure(tdc_precheck *precheck, const char *name, struct tdc_measure *measure);
void tdc_measure_free(struct tdc_measure *measure);

#endif
