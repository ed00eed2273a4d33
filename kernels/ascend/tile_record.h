/*
 * tile_record.h - the host's reading of device records (their layout: tile_layout.h).
 *
 * A record is used as it is, or its tile is "rescued": the CPU kernel goes over the 4096 pairs
 * again. Rescued are tiles with NaN, infinity or numbers beyond the reach of the device's
 * arithmetic, and those which may hold the first occurrence of a maximum. What comes out equals the
 * CPU kernel's result to the bit, but for the seven sums, which are within 2^-40 of the sum of
 * magnitudes.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_RECORD_H
#define TDC_KERNELS_ASCEND_TILE_RECORD_H

#include "kernels/ascend/tile_layout.h"
#include "kernels/pair.h"

/* Name of the kernel for a pair of dtypes under a rule, or NULL: such pairs stay on the CPU. */
const char *tdc_tile_kernel_name(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule);

enum tdc_tile_verdict {
    TDC_TILE_USE,
    TDC_TILE_RESCUE
};

/* A maximum lies in [low, high]; `known` when its value and position in `sums` are right. */
struct tdc_tile_maximum {
    double low, high;
    bool known;
};

struct tdc_tile {
    struct tdc_pair_sums sums; /* maxima that are not known are -1: they never win a merge */
    struct tdc_tile_maximum abs, rel;
};

/*
 * Reads one record of TDC_TILE_RECORD_FLOATS written for `plan`. TDC_TILE_RESCUE: *tile means
 * nothing, the tile must be recomputed. TDC_TILE_USE: everything is right but the unknown maxima.
 */
enum tdc_tile_verdict tdc_tile_read(const struct tdc_pair_plan *plan, const float *record,
                                    struct tdc_tile *tile);

/* What is known of the maxima of other tiles of the same pair, -1 at first. */
struct tdc_tile_bounds {
    double abs_everywhere, rel_everywhere; /* some tile reaches this */
    double abs_before, rel_before;         /* some tile in front of the one in question does */
};

/* May the tile hold the first occurrence of a maximum that is not known yet? */
bool tdc_tile_needs_rescue(const struct tdc_tile *tile, const struct tdc_tile_bounds *bounds);

/*
 * Recomputes tile number `tile` on the CPU (usually tdc_pair_run on TDC_TILE_PAIRS pairs). False
 * when the data cannot be had any more; the merge ends then and reports failure.
 */
typedef bool (*tdc_tile_rescuer)(void *context, size_t tile, struct tdc_pair_sums *sums);

/* At most the tiles of one chunk: TDC_PAIR_CHUNK / TDC_TILE_PAIRS. */
#define TDC_TILES_PER_CHUNK 64

/*
 * The sums of a whole chunk: reads `tiles` (<= TDC_TILES_PER_CHUNK) records that lie one behind the
 * other, rescues what must be, merges in tile order. *rescued grows by the number of tiles
 * recomputed. False: the rescuer failed.
 */
bool tdc_tiles_merge(const struct tdc_pair_plan *plan, const float *records, size_t tiles,
                     tdc_tile_rescuer rescue, void *context, struct tdc_pair_sums *sums,
                     size_t *rescued);

#endif
