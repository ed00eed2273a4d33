/* abnormal.h - NaN and infinity in the arguments of a call, as its statistics tell. */
#ifndef TDC_ANALYSIS_ABNORMAL_H
#define TDC_ANALYSIS_ABNORMAL_H

#include "io/text/json.h"

/* Is Max or Min of a direct member of the list or object NaN or infinite? Lists inside are not
 * looked into. NULL is nothing. */
bool tdc_abnormal_members(const struct tdc_json *members);

/* A call of dump.json. */
struct tdc_abnormal_call {
    bool arguments; /* in input_args or input_kwargs */
    bool input;     /* there or in input */
    bool output;
};
struct tdc_abnormal_call tdc_abnormal_call_of(const struct tdc_json *call);

/* Calls whose outputs hold whatever the memory held: torch.empty and torch.fill. */
bool tdc_abnormal_ignored(const char *name);

#endif
