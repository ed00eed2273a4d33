/* api_summary.h - what was found, API kind by API kind. */
#ifndef TDC_PRECHECK_API_SUMMARY_H
#define TDC_PRECHECK_API_SUMMARY_H

#include "io/base/name_table.h"
#include "host/precheck/run/call_outcome.h"

struct tdc_api_outcome {
    struct tdc_precheck_api api;
    bool worst_fails; /* the worst call is a failing one */
};

struct tdc_api_summary {
    struct tdc_arena arena;
    struct tdc_name_table names;
    struct tdc_api_outcome *apis; /* by number of the name */
    size_t count, capacity;
};

void tdc_api_summary_init(struct tdc_api_summary *summary);
void tdc_api_summary_free(struct tdc_api_summary *summary);
/* Adds one call; false when out of memory. */
bool tdc_api_summary_add(struct tdc_api_summary *summary, const struct tdc_call_outcome *outcome,
                         const char *call);
/* Worst first. Nothing may be added afterwards. */
void tdc_api_summary_sort(struct tdc_api_summary *summary);

#endif
