/*
 * share_pairs.h - pairs of tensors by several processes: between who lists jobs and the engine.
 *
 * A job is known by what it compares, not by its number: a dump that one process could not read
 * does not move the others. What is known is handed on as if the engine had found it.
 */
#ifndef TDC_SHARE_PAIRS_H
#define TDC_SHARE_PAIRS_H

#include "host/engine/engine.h"
#include "tdcmp/share.h"

/* Where a job belongs: what is shared out is not cut within a call. */
struct tdc_pair_place {
    uint32_t unit; /* the pair of dumps, counted from 0 */
    bool first_of_call;
};

/*
 * tdc_engine_run, for the jobs that are this process's to do; share NULL: for all of them. Orders
 * of jobs are 0, 1, ... without gaps; places stand by order. With TDC_SHARE_PART, and with
 * TDC_SHARE_TEAM in all processes but 0, no job is handed on. TDC_ERR_REFUSED with TDC_SHARE_MERGE:
 * something is not known.
 */
tdc_status tdc_share_run(tdc_share *share, const struct tdc_engine *engine, struct tdc_job *jobs,
                         const struct tdc_pair_place *places, size_t count,
                         struct tdc_error *error);
/* Whether this process does a share and has no results. */
bool tdc_share_is_part(const tdc_share *share);
/* What a merge adds to its own time: that of the process that took longest; 0 for others. */
double tdc_share_seconds(const tdc_share *share);

#endif
