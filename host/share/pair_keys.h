/* pair_keys.h - what a job compares, as a key that every process finds alike. */
#ifndef TDC_SHARE_PAIR_KEYS_H
#define TDC_SHARE_PAIR_KEYS_H

#include <pthread.h>

#include "host/engine/engine.h"
#include "host/share/part_file.h"
#include "host/share/pieces.h"
#include "host/share/share_pairs.h"

struct tdc_pair_keys {
    struct tdc_share_key *keys; /* by order; NULL: not found yet */
    pthread_mutex_t lock;
};

void tdc_pair_keys_init(struct tdc_pair_keys *keys);
void tdc_pair_keys_free(struct tdc_pair_keys *keys);
/* Finds the keys of all jobs, in whatever sequence they stand, once; from any thread. False when
 * out of memory. */
bool tdc_pair_keys_find(struct tdc_pair_keys *keys, const struct tdc_job *jobs, size_t count);

struct tdc_share_key tdc_pair_piece_key(const struct tdc_share_key *job, uint32_t number,
                                        uint32_t of);
/* The two files of a job as they are now. Sides that are no files are inputs of the share. */
void tdc_pair_marks(const struct tdc_share *share, const struct tdc_job *job,
                    struct tdc_file_mark marks[2]);
/* What it weighs. Pairs that are read again when their sums are known are not cut. */
struct tdc_share_item tdc_pair_item(const struct tdc_engine *engine, const struct tdc_job *job,
                                    const struct tdc_pair_place *place);

#endif
