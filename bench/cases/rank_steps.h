/*
 * rank_steps.h - one step of many ranks that communicate, to search in.
 *
 * Statistics only. Ranks stand in groups of eight that reduce among themselves in every layer, and
 * now and then all of them do. One call of one rank of the NPU side gives NaN, which its group gets
 * with the next reduction. The ranks of a group have the same file, by hard links: what is read is
 * as much as without, what lies on the disk is not.
 */
#ifndef TDC_BENCH_RANK_STEPS_H
#define TDC_BENCH_RANK_STEPS_H

#include "tdcmp.h"

/* Writes folder/npu/rank<N> and folder/bench/rank<N> (dump.json, construct.json); the folder must
 * exist. *culprit is the name of the call, *json_bytes what both sides' dump.json have in all. */
tdc_status tdc_rank_steps_make(const char *folder, unsigned ranks, unsigned calls,
                               char culprit[128], uint64_t *json_bytes,
                               const struct tdc_cancel *cancel, struct tdc_error *error);

#endif
