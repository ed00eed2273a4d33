/*
 * backend_ascend.h - chunks on one or several Ascend cards, with the CPU as the net below.
 *
 * A run holds the cards and what happened on them. Each worker thread binds itself to one card, in
 * turns, and keeps several slots under way: a chunk is copied while those before it compute. Whole
 * tiles go to the card; tails, small chunks, other types and rescued tiles are the CPU kernel's.
 *
 * Nothing a card does can lose a chunk: the data is still in the staging, and the CPU redoes it. A
 * card that fails in earnest is given up for the rest of the run. With no_fallback the run ends
 * with TDC_ERR_DEVICE instead.
 */
#ifndef TDC_ASCEND_BACKEND_H
#define TDC_ASCEND_BACKEND_H

#include "host/engine/ascend/ascend_slot.h"
#include "host/engine/backend.h"

#define TDC_ASCEND_CARDS 64
/* Three copy and compute in turns; the fourth is being filled. */
#define TDC_ASCEND_SLOTS 4

struct tdc_ascend_figures {
    uint64_t tiles, rescued;          /* computed by cards; of these again by the CPU */
    uint64_t device_chunks;           /* computed by cards */
    uint64_t cpu_chunks;              /* not meant for a card: small, other types */
    uint64_t fallbacks;               /* meant for a card, redone by the CPU */
    double h2d, kernel, d2h, staging; /* seconds on the cards and copying; only when timed */
    uint64_t bytes;                   /* sent to the cards */
};

struct tdc_ascend_run;

/*
 * Opens the cards with these ids and tests the kernel for f32 pairs of the rule on each. Fails with
 * TDC_ERR_NOT_FOUND when one of them is not there, with TDC_ERR_DEVICE when it cannot be used;
 * error must not be NULL. `timed`: events are taken around every hop.
 */
tdc_status tdc_ascend_run_open(const int32_t *ids, unsigned count, enum tdc_relative_rule rule,
                               bool no_fallback, bool timed, struct tdc_ascend_run **run,
                               struct tdc_error *error);
/* For tdc_engine. */
const struct tdc_backend *tdc_ascend_run_backend(struct tdc_ascend_run *run);
/* Of the cards: "Ascend910B3". */
const char *tdc_ascend_run_soc(const struct tdc_ascend_run *run);
struct tdc_ascend_figures tdc_ascend_run_figures(struct tdc_ascend_run *run);
/* "" or the one line about what went wrong. Valid until close. */
const char *tdc_ascend_run_trouble(struct tdc_ascend_run *run);
/* With no_fallback: the work was not done as asked. */
bool tdc_ascend_run_failed(struct tdc_ascend_run *run);
void tdc_ascend_run_close(struct tdc_ascend_run *run);

/* tdc_compare_device, with the rule for relative errors. */
tdc_status tdc_ascend_compare(tdc_device *device, const void *n, tdc_dtype n_dtype, const void *b,
                              tdc_dtype b_dtype, uint64_t count, enum tdc_relative_rule rule,
                              void *stream, struct tdc_device_sums *sums, struct tdc_error *error);

#endif
