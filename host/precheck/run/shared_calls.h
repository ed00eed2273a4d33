/* shared_calls.h - the calls of a precheck by several processes (host/share/share.h). */
#ifndef TDC_PRECHECK_SHARED_CALLS_H
#define TDC_PRECHECK_SHARED_CALLS_H

#include "host/precheck/run/call_outcome.h"
#include "host/share/pieces.h"

struct tdc_shared_calls {
    struct tdc_share *share; /* NULL: there is none */
    const struct tdc_calls *calls;
    struct tdc_pieces pieces;
    uint64_t stage;
    size_t next;   /* piece */
    bool gathered; /* the share is done, and what others of a team have found is known */
};

tdc_status tdc_shared_calls_start(struct tdc_shared_calls *shared, struct tdc_share *share,
                                  const struct tdc_calls *calls, struct tdc_error *error);
void tdc_shared_calls_end(struct tdc_shared_calls *shared);

/* Whether this process does a share before, or instead of, writing results. */
bool tdc_shared_calls_divided(const struct tdc_shared_calls *shared);
/* The next calls of its share, [*first, *first + *count); false: no more of them, or *error. */
bool tdc_shared_calls_next(struct tdc_shared_calls *shared, size_t *first, size_t *count,
                           struct tdc_error *error);
/* Ends the share, which took these times; what the others of a team have found is known then. */
tdc_status tdc_shared_calls_gather(struct tdc_shared_calls *shared, const double work[TDC_WORKS],
                                   struct tdc_error *error);
/* Adds the times of other processes. */
void tdc_shared_calls_add_work(const struct tdc_shared_calls *shared,
                               struct tdc_precheck_summary *summary);
/* Whether results are written by this process. */
bool tdc_shared_calls_delivers(const struct tdc_shared_calls *shared);

/* The outcome of a call that is known: false when it is not, or its files have changed. */
bool tdc_shared_call_known(struct tdc_shared_calls *shared, const struct tdc_call *call,
                           struct tdc_call_outcome *outcome);
void tdc_shared_call_note(struct tdc_shared_calls *shared, const struct tdc_call *call,
                          const struct tdc_call_outcome *outcome);
/* TDC_ERR_REFUSED for a call that has to be known. */
tdc_status tdc_shared_call_check(const struct tdc_shared_calls *shared, const struct tdc_call *call,
                                 struct tdc_error *error);

#endif
