/* consistent.h - pairing a training run with an inference run. Internal to host/match. */
#ifndef TDC_HOST_CONSISTENT_H
#define TDC_HOST_CONSISTENT_H

#include "host/match/match.h"

/* Fills the pairs of match->consistent and puts joined records in the place of both sides.
 * TDC_ERR_UNSUPPORTED when the two orders contradict each other. */
tdc_status tdc_match_consistent(struct tdc_match *match, const struct tdc_match_rules *rules,
                                const struct tdc_options *options, struct tdc_error *error);

/* ---- its parts ------------------------------------------------------------------------------- */

struct tdc_consistent_side {
    const struct tdc_dump *dump;
    bool training;
    const char **keys; /* by record; NULL: takes no part */
};

/* Fills the keys: call, rest of the row's name, layer and module. False when out of memory. */
bool tdc_consistent_keys(struct tdc_arena *arena, struct tdc_consistent_side *side,
                         tdc_consistent backend, const struct tdc_match_rules *rules);

/* Makes one record of several of a dump; `separator` stands between names. False when out of
 * memory. */
bool tdc_consistent_join(struct tdc_arena *arena, const char *separator,
                         const struct tdc_dump *dump, const uint32_t *numbers, size_t count,
                         struct tdc_record *joined);

#endif
