/* consistent.h - pairing a training run with an inference run. Internal to host/match. */
#ifndef TDC_HOST_CONSISTENT_H
#define TDC_HOST_CONSISTENT_H

#include "host/match/match.h"

/* Fills the pairs of match->consistent and puts joined records in the place of both sides.
 * TDC_ERR_UNSUPPORTED when the two orders contradict each other. */
tdc_status tdc_match_consistent(struct tdc_match *match, const struct tdc_match_rules *rules,
                                const struct tdc_options *options, struct tdc_error *error);

#endif
