/*
 * tile_count.h - a tile reduced to one float: extremes, and how many pairs a mask names.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_COUNT_H
#define TDC_KERNELS_ASCEND_TILE_COUNT_H

#include "lane_arithmetic.h"

namespace tdc_ascend
{

/* A bit per pair. */
using mask = LocalTensor<uint8_t>;

constexpr int32_t MASK_BYTES = TILE / 8;
/* The logical instructions work on 16 bits at a time. */
constexpr int32_t MASK_WORDS = MASK_BYTES / 2;
/* A repeat of the reductions: 256 bytes. 64 of them make a tile, and 64 results one more. */
constexpr int32_t REPEAT = 64;
constexpr int32_t REPEAT_BLOCKS = 8;

__aicore__ inline void highest(const lanes &out, const lanes &x, const lanes &partial)
{
    WholeReduceMax(partial, x, REPEAT, REPEAT, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
    settle();
    WholeReduceMax(out, partial, REPEAT, 1, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
    settle();
}

__aicore__ inline void lowest(const lanes &out, const lanes &x, const lanes &partial)
{
    WholeReduceMin(partial, x, REPEAT, REPEAT, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
    settle();
    WholeReduceMin(out, partial, REPEAT, 1, 1, 1, REPEAT_BLOCKS, ReduceOrder::ORDER_ONLY_VALUE);
    settle();
}

__aicore__ inline void count(const lanes &out, const mask &which, const lanes &spare,
                             const lanes &partial)
{
    Duplicate(spare, 1.0f, TILE);
    settle();
    Select(spare, which, spare, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
    settle();
    WholeReduceSum(partial, spare, REPEAT, REPEAT, 1, 1, REPEAT_BLOCKS);
    settle();
    WholeReduceSum(out, partial, REPEAT, 1, 1, 1, REPEAT_BLOCKS);
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
