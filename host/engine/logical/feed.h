/*
 * feed.h - a chunk of a logical tensor handed to a kernel piece by piece (kernels/pair.h).
 *
 * Where whole blocks follow each other in a part they are used where they are mapped; by kernels
 * that take them, so are groups of elements. Others are copied to a buffer that stays in the cache
 * of a core, from runs that are listed once a chunk; if there are too many of these, or elements
 * are converted or turned, the boxes are looked up for each piece.
 */
#ifndef TDC_HOST_FEED_H
#define TDC_HOST_FEED_H

#include "host/engine/logical/logical.h"
#include "kernels/pair.h"

/* What a thread keeps for one side: some hundred KB. */
struct tdc_logical_feed;
struct tdc_logical_feed *tdc_logical_feed_new(void); /* NULL when out of memory */
void tdc_logical_feed_free(struct tdc_logical_feed *feed);

/* The feed of elements [first, first + count), at most a chunk. It touches mapped memory: kernels
 * run inside tdc_guarded_read. */
struct tdc_pair_feed *tdc_logical_feed_start(struct tdc_logical_feed *feed,
                                             const struct tdc_assembled *assembled, uint64_t first,
                                             size_t count);
/* After the kernel: whether all texts were numbers. */
bool tdc_logical_feed_numbers(const struct tdc_logical_feed *feed);

#endif
