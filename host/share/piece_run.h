/*
 * piece_run.h - some chunks of one large pair, and a pair finished from the chunks of all.
 *
 * By the CPU alone: sums of a device may differ in their last digits, and a pair is one or the
 * other's.
 */
#ifndef TDC_SHARE_PIECE_RUN_H
#define TDC_SHARE_PIECE_RUN_H

#include "host/engine/engine.h"

/* Piece `number` of `of`, as even as spans allow. */
struct tdc_piece_found {
    struct tdc_pair_sums *sums; /* of its chunks, in their order; the caller's to free */
    uint64_t first, count;      /* these of */
    uint64_t chunks;            /* all of the pair */
    bool settled;               /* there are none: the outcome was handed to engine->done */
};
tdc_status tdc_piece_find(const struct tdc_engine *engine, const struct tdc_job *job,
                          uint32_t number, uint32_t of, struct tdc_piece_found *found,
                          struct tdc_error *error);

/* Hands the outcome of a pair to engine->done, from the sums of all its chunks. */
tdc_status tdc_piece_finish(const struct tdc_engine *engine, const struct tdc_job *job,
                            const struct tdc_pair_sums *sums, uint64_t count,
                            struct tdc_error *error);

#endif
