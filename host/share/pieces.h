/*
 * pieces.h - work divided into pieces that processes take, the same for all of them.
 *
 * An item is a pair of tensors or a call. Items are grouped into units, pairs of dumps; a unit that
 * is too large for one process is divided between calls, an item that is large by itself between
 * its chunks. Weights are bytes, and something for each item: opening two files takes as long as
 * reading some of their content.
 */
#ifndef TDC_SHARE_PIECES_H
#define TDC_SHARE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdc_share_item {
    uint64_t bytes;
    uint32_t unit;
    bool may_start; /* a piece may begin with it */
    bool may_cut;   /* it may be cut itself */
};

struct tdc_piece {
    size_t first, count; /* items */
    uint32_t number, of; /* of a single item that is cut; of is 1 for all others */
    uint64_t weight;
};

struct tdc_pieces {
    struct tdc_piece *pieces; /* heaviest first, as they are to be taken */
    uint32_t *owners;         /* by piece: the process that does it when all is settled before */
    size_t count;
    size_t units;
};

/* An item of at least twice this is cut into pieces of about this size. */
#define TDC_CUT_BYTES ((uint64_t)64 << 20)

/* How many pieces an item is cut into: a matter of its size alone, so that pieces that were found
 * with another number of processes still fit. */
uint32_t tdc_item_cuts(const struct tdc_share_item *item);

/* False when out of memory. */
bool tdc_pieces_make(const struct tdc_share_item *items, size_t count, uint32_t processes,
                     struct tdc_pieces *pieces);
void tdc_pieces_free(struct tdc_pieces *pieces);

#endif
