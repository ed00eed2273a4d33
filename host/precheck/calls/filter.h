/*
 * filter.h - calls that are left out on request: by API name, or because an earlier call of the
 * same API had the same arguments.
 */
#ifndef TDC_PRECHECK_FILTER_H
#define TDC_PRECHECK_FILTER_H

#include "host/precheck/calls/calls.h"

/* Names in the lists that neither the reference nor the dump knows are refused, as
 * "Invalid api in white_list: ['name']". */
tdc_status tdc_filter_names_check(const struct tdc_calls *calls,
                                  const struct tdc_precheck_options *options,
                                  struct tdc_error *error);
/* True when the API ("add", "linalg.norm") is in the black list, or in no white list there is. */
bool tdc_filter_leaves_out(const struct tdc_precheck_options *options, const char *name);

/*
 * Drops each call whose arguments equal those of an earlier call of its API. As msprobe compares
 * them: positional tensors and numbers without Max and Min, positional lists not at all, keywords
 * whole; NaN equals nothing.
 */
tdc_status tdc_filter_repeated(struct tdc_calls *calls, struct tdc_error *error);

#endif
