/*
 * synthetic_values.h - the elements of synthetic tensors: seeded, fast, the same on every machine.
 *
 * Floats follow a bell curve (sum of four uniform numbers, so never further than 3.5 deviations
 * from zero); integers look like the token numbers of a vocabulary, shorter ones like quantised
 * floats. A tensor is made in blocks, any
 * of which can be made without those before it.
 */
#ifndef TDC_BENCH_SYNTHETIC_VALUES_H
#define TDC_BENCH_SYNTHETIC_VALUES_H

#include "tdcmp.h"

#define TDC_VALUES_BLOCK ((size_t)4096)
/* What one element of a type takes at most. */
#define TDC_VALUES_WIDEST 8
/* Every so manyth element of a tensor is changed, by either kind of difference. */
#define TDC_VALUES_SPIKE_EVERY    64
#define TDC_VALUES_ROUNDING_EVERY 8
/* Every so manyth element is left as it is by noise. */
#define TDC_VALUES_KEPT_EVERY 4

struct tdc_values {
    tdc_dtype dtype;
    uint64_t seed;   /* of this tensor */
    float deviation; /* standard deviation, at most 1; integers do not use it */
};

/* f32, f16, bf16, f64, i64, i32, i16, i8 and bool. */
bool tdc_values_supported(tdc_dtype dtype);
/* True for the types that tdc_values_round changes. */
bool tdc_values_rounds(tdc_dtype dtype);

/* Fills `elements` with the first `count` <= TDC_VALUES_BLOCK elements of a block. Aligned for the
 * type. */
void tdc_values_fill(const struct tdc_values *values, uint64_t block, size_t count, void *elements);

/*
 * A fault no rule set overlooks: every 64th element, the first included, grows by 16 (integers:
 * 262144; shorter ones move by a third of their range, truths change). Whatever the tensor was, its
 * maximum then is at least three times as large and the largest absolute error above 1. count
 * starts at the beginning of a block.
 */
void tdc_values_spike(tdc_dtype dtype, void *elements, size_t count);
/* What two machines differ by when all is well: the last bit of every eighth float. */
void tdc_values_round(tdc_dtype dtype, void *elements, size_t count);

/*
 * What two machines differ by after some layers: most floats by a few units of their last place, of
 * f32 and f64 by a few more, and all by a little that does not shrink with them, so that signs
 * change near 0; integers by a few, some truths change. Three elements of four at most.
 */
void tdc_values_disturb(const struct tdc_values *values, uint64_t block, size_t count,
                        void *elements);

/* Statistics as a dump collector states them. */
struct tdc_values_statistics {
    double max, min, sum, squares;
    uint64_t count;
};

void tdc_values_statistics_clear(struct tdc_values_statistics *statistics);
/* Adds the elements of one block; the order of blocks decides the last bits of the sums. */
void tdc_values_statistics_add(struct tdc_values_statistics *statistics, tdc_dtype dtype,
                               const void *elements, size_t count);

/* One step of a hash that spreads any change over all bits: for seeds of tensors. */
uint64_t tdc_values_mix(uint64_t number);

#endif
