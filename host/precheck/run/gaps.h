/* gaps.h - what was not checked, reason by reason. */
#ifndef TDC_PRECHECK_GAPS_H
#define TDC_PRECHECK_GAPS_H

#include "io/base/name_table.h"
#include "host/precheck/run/call_outcome.h"

struct tdc_gaps {
    struct tdc_arena arena;
    struct tdc_name_table names;
    struct tdc_precheck_gap *gaps; /* by number of the reason */
    size_t count, capacity;
};

void tdc_gaps_init(struct tdc_gaps *gaps);
void tdc_gaps_free(struct tdc_gaps *gaps);
/* Notes the directions of a call that were skipped. False: out of memory. */
bool tdc_gaps_add(struct tdc_gaps *gaps, const struct tdc_call_outcome *outcome, const char *call);
/* Not of one operator: neither checked nor missed. */
bool tdc_is_module(const struct tdc_left_out *kind);
/* Notes records that are no calls to check: those of a kind ("Primitive", "Cell"). */
bool tdc_gaps_add_kind(struct tdc_gaps *gaps, const struct tdc_left_out *kind);
/* Most records first. Nothing may be added afterwards. */
void tdc_gaps_sort(struct tdc_gaps *gaps);

#endif
