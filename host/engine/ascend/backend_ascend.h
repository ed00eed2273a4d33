/*
 * backend_ascend.h - chunks on one or several Ascend cards, with the CPU as the net below.
 *
 * A run holds the cards and what happened on them. Each worker thread binds itself to one card, in
 * turns, and hands its chunks to the slots that all workers of the card share (slot_pool.h). Whole
 * tiles go to the card; tails, small chunks, other types and rescued tiles are the CPU kernel's.
 *
 * Nothing a card does can lose a chunk: the data is still in the staging, and the CPU redoes it. A
 * card that fails in earnest is given up for the rest of the run. With no_fallback the run ends
 * with TDC_ERR_DEVICE instead.
 */
#ifndef TDC_ASCEND_BACKEND_H
#define TDC_ASCEND_BACKEND_H

#include "host/engine/ascend/ascend_slot.h"
#include "host/engine/device/device_run.h"

/*
 * Opens the cards with these ids and tests the kernel for f32 pairs of the rule on each. Fails with
 * TDC_ERR_NOT_FOUND when one of them is not there, with TDC_ERR_DEVICE when it cannot be used;
 * error must not be NULL. `timed`: events are taken around every hop.
 */
tdc_status tdc_ascend_run_open(const int32_t *ids, unsigned count, enum tdc_relative_rule rule,
                               bool no_fallback, bool timed, struct tdc_device_run **run,
                               struct tdc_error *error);
#endif
