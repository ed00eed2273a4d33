/*
 * tile_count.h - a tile reduced to single floats: extremes, and how many pairs a mask names.
 *
 * A reduction has two steps: 64 repeats to 64 floats, and those to one. The second is done for
 * several quantities at once.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_COUNT_H
#define TDC_KERNELS_ASCEND_TILE_COUNT_H

#include "tile_fold.h"

namespace tdc_ascend
{

/* A bit per pair. */
using mask = LocalTensor<uint8_t>;

constexpr int32_t MASK_BYTES = TILE / 8;
/* The logical instructions work on 16 bits at a time. */
constexpr int32_t MASK_WORDS = MASK_BYTES / 2;
/* Neighbours of a kind in a record are two floats apart. */
constexpr int32_t RECORD_STEP = 2;

/* The first step. The caller settles. */
__aicore__ inline void highest(const lanes &partial, const lanes &x)
{
    WholeReduceMax(partial, x, REPEAT, REPEAT, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
}

__aicore__ inline void lowest(const lanes &partial, const lanes &x)
{
    WholeReduceMin(partial, x, REPEAT, REPEAT, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
}

/* The second step, of `quantities` neighbours. The caller settles. */
__aicore__ inline void finish_highest(const lanes &out, const lanes &partials, int32_t quantities)
{
    WholeReduceMax(out, partials, REPEAT, quantities, RECORD_STEP, 1, REPEAT_BLOCKS,
                   ReduceOrder::ORDER_ONLY_VALUE);
}

__aicore__ inline void finish_lowest(const lanes &out, const lanes &partials, int32_t quantities)
{
    WholeReduceMin(out, partials, REPEAT, quantities, RECORD_STEP, 1, REPEAT_BLOCKS,
                   ReduceOrder::ORDER_ONLY_VALUE);
}

struct count_space {
    lanes ones, even, odd, partials;
};

/*
 * How many pairs each of `masks` names, into neighbours from `out` on. While one is reduced the
 * next is selected; no two selections overlap, since they share a register.
 */
template <int32_t quantities>
__aicore__ inline void count(const lanes &out, const mask *masks, const count_space &space)
{
    Duplicate(space.ones, 1.0f, TILE);
    settle();
    for (int32_t i = 0; i <= quantities; i++) {
        if (i < quantities)
            Select(i % 2 ? space.odd : space.even, masks[i], space.ones, 0.0f,
                   SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
        if (i > 0)
            WholeReduceSum(space.partials[(i - 1) * REPEAT], i % 2 ? space.even : space.odd, REPEAT,
                           REPEAT, 1, 1, REPEAT_BLOCKS);
        settle();
    }
    WholeReduceSum(out, space.partials, REPEAT, quantities, RECORD_STEP, 1, REPEAT_BLOCKS);
    settle();
}

__aicore__ inline LocalTensor<uint16_t> words(const mask &bits)
{
    return bits.template ReinterpretCast<uint16_t>();
}

__aicore__ inline void both(const mask &to, const mask &x, const mask &y)
{
    And(words(to), words(x), words(y), MASK_WORDS);
    settle();
}

__aicore__ inline void either(const mask &to, const mask &x, const mask &y)
{
    Or(words(to), words(x), words(y), MASK_WORDS);
    settle();
}

__aicore__ inline void neither(const mask &to, const mask &x, const mask &y)
{
    either(to, x, y);
    Not(words(to), words(to), MASK_WORDS);
    settle();
}

} // namespace tdc_ascend

#endif
