/* outcome_record.h - the outcome of a job as bytes, and back; nothing in the bytes is believed. */
#ifndef TDC_SHARE_OUTCOME_RECORD_H
#define TDC_SHARE_OUTCOME_RECORD_H

#include "host/engine/engine.h"

/* Appends what was found of a job, its series included. */
void tdc_outcome_put(struct tdc_text *bytes, const struct tdc_job *job,
                     const struct tdc_outcome *outcome);
/* Fills the outcome and the series of the job. False for bytes that cannot be of this job. */
bool tdc_outcome_take(const unsigned char *bytes, size_t size, const struct tdc_job *job,
                      struct tdc_outcome *outcome);

/* Sums of the chunks [first, first + count) of a pair that has `chunks` of them. */
struct tdc_piece_sums {
    uint64_t chunks, first, count;
    const struct tdc_pair_sums *sums;
};
void tdc_piece_put(struct tdc_text *bytes, const struct tdc_piece_sums *piece);
/* Reads the numbers; the sums go to `sums`, which has room for `room` of them (0: none are read).
 * False for bytes that hold something else. */
bool tdc_piece_take(const unsigned char *bytes, size_t size, struct tdc_piece_sums *piece,
                    struct tdc_pair_sums *sums, uint64_t room);

#endif
