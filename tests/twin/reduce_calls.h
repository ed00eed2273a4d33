/*
 * reduce_calls.h - the reductions of Ascend C: per repeat of 256 bytes, per block of 32 bytes,
 * whole.
 */
#ifndef TDC_TESTS_TWIN_REDUCE_CALLS_H
#define TDC_TESTS_TWIN_REDUCE_CALLS_H

#include "tests/twin/vector_calls.h"

namespace tdc_twin
{

struct repeat_shape {
    int32_t lanes, repeats, to_stride, block_stride, repeat_stride;
};

template <typename T> constexpr int32_t block_lanes = UB_BLOCK / sizeof(T);
template <typename T> constexpr int32_t repeat_lanes = 8 * block_lanes<T>;

template <typename T> void check_repeat(const repeat_shape &s)
{
    if (s.lanes < 1 || s.lanes > repeat_lanes<T>)
        here().complain("a mask of " + std::to_string(s.lanes) + " lanes");
    if (s.repeats < 1 || s.repeats > 255)
        here().complain(std::to_string(s.repeats) + " repeats");
    if (s.to_stride < 1 || s.block_stride < 1 || s.repeat_stride < 1)
        here().complain("a stride below 1");
}

template <typename T> T sum_of(T x, T y)
{
    return lane<T>(number(x) + number(y));
}

template <typename T> T highest_of(T x, T y)
{
    return lane<T>(larger_of(number(x), number(y)));
}

template <typename T> T lowest_of(T x, T y)
{
    return lane<T>(smaller_of(number(x), number(y)));
}

/* A binary tree over the lanes, whatever `join` does. */
template <typename T, typename F> T join_lanes(T *lanes, int64_t count, F join)
{
    while (count > 1) {
        int64_t half_up = (count + 1) / 2;
        for (int64_t i = 0; i < count / 2; i++)
            lanes[i] = join(lanes[2 * i], lanes[2 * i + 1]);
        if (count % 2)
            lanes[half_up - 1] = lanes[count - 1];
        count = half_up;
    }
    return lanes[0];
}

template <typename T> int64_t lane_place(const repeat_shape &s, int64_t repeat, int64_t i)
{
    return (repeat * s.repeat_stride + i / block_lanes<T> * s.block_stride) * block_lanes<T> +
           i % block_lanes<T>;
}

/* Each repeat yields `results` values: reduce(its lanes, where to). */
template <typename T, typename F>
void reduce_repeats(const char *name, const AscendC::LocalTensor<T> &dst,
                    const AscendC::LocalTensor<T> &src, const repeat_shape &s, int64_t results,
                    uint32_t alignment, F reduce)
{
    check_repeat<T>(s);
    const int64_t reach = lane_place<T>(s, s.repeats - 1, s.lanes - 1) + 1;
    const int64_t to_step = s.to_stride * results, to_reach = (s.repeats - 1) * to_step + results;
    T *to = dst.twin_data();
    const T *from = src.twin_data();
    operand source = operand_of("src", src, static_cast<uint64_t>(reach), false);
    operand target = operand_of("dst", dst, static_cast<uint64_t>(to_reach), true, alignment);
    target.element = 0; /* never in place */
    here().issue({name,
                  QUEUE_V,
                  static_cast<uint64_t>(s.lanes) * static_cast<uint64_t>(s.repeats),
                  {target, source},
                  [=] {
                      for (int64_t r = 0; r < s.repeats; r++) {
                          T lanes[repeat_lanes<T>];
                          for (int64_t i = 0; i < s.lanes; i++)
                              lanes[i] = from[lane_place<T>(s, r, i)];
                          reduce(lanes, to + r * to_step);
                      }
                  },
                  false});
}

/* The first lane with the result; the index is stored as bits of the type's width. */
template <typename T> T index_of(const T *lanes, int64_t count, T result)
{
    using bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    bits at = 0;
    for (int64_t i = count; i-- > 0;)
        if (number(lanes[i]) == number(result))
            at = static_cast<bits>(i);
    return same_bits<T>(at);
}

template <typename T, typename F>
void reduce_extremes(const char *name, const AscendC::LocalTensor<T> &dst,
                     const AscendC::LocalTensor<T> &src, const repeat_shape &s,
                     AscendC::ReduceOrder order, F join)
{
    using AscendC::ReduceOrder;
    const bool both =
        order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
    /* the vendor's headers ask for the alignment of two results even for one */
    reduce_repeats(name, dst, src, s, both ? 2 : 1, 2 * sizeof(T), [=](T *lanes, T *to) {
        T copy[repeat_lanes<T>];
        memcpy(copy, lanes, static_cast<size_t>(s.lanes) * sizeof(T));
        const T value = join_lanes(copy, s.lanes, join);
        const T index = index_of(lanes, s.lanes, value);
        if (order == ReduceOrder::ORDER_ONLY_VALUE || order == ReduceOrder::ORDER_VALUE_INDEX)
            to[0] = value;
        else
            to[0] = index;
        if (both)
            to[1] = order == ReduceOrder::ORDER_VALUE_INDEX ? index : value;
    });
}

/* One result per block; lanes beyond the mask do not count. */
template <typename T, typename F>
void reduce_blocks(const char *name, const AscendC::LocalTensor<T> &dst,
                   const AscendC::LocalTensor<T> &src, const repeat_shape &s, F join)
{
    if (s.lanes % block_lanes<T> != 0)
        here().complain("a mask that divides a block");
    reduce_repeats(name, dst, src, s, 8, 8 * sizeof(T), [=](T *lanes, T *to) {
        for (int32_t k = 0; k < s.lanes / block_lanes<T>; k++)
            to[k] = join_lanes(lanes + k * block_lanes<T>, block_lanes<T>, join);
    });
}

/* `count` lanes to one result, and its index behind it. `shared` is overwritten. */
template <typename T, typename F>
void reduce_all(const char *name, const AscendC::LocalTensor<T> &dst,
                const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<T> &shared,
                int32_t count, bool index, F join)
{
    const uint64_t lanes = lanes_of(count);
    const uint64_t repeats = (lanes + static_cast<uint64_t>(repeat_lanes<T>) - 1) / repeat_lanes<T>;
    T *to = dst.twin_data(), *scratch = shared.twin_data();
    const T *from = src.twin_data();
    operand target = operand_of("dst", dst, index ? 2 : 1, true);
    target.element = 0;
    here().issue({name,
                  QUEUE_V,
                  lanes,
                  {target, operand_of("src", src, lanes, false),
                   operand_of("sharedTmpBuffer", shared, index ? 2 * repeats : repeats, true)},
                  [=] {
                      std::vector<T> copy(from, from + lanes);
                      const T value = join_lanes(copy.data(), count, join);
                      for (uint64_t i = 0; i < repeats; i++)
                          scratch[i] = value;
                      to[0] = value;
                      if (index)
                          to[1] = index_of(from, count, value);
                  },
                  false});
}

} // namespace tdc_twin

namespace AscendC
{

#define TDC_TWIN_FLOATS                                                                            \
    template <typename T, tdc_twin::only_if<tdc_twin::among<T, half, float>> = 0>

TDC_TWIN_FLOATS
void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask,
                    const int32_t repeatTime, const int32_t dstRepStride,
                    const int32_t srcBlkStride, const int32_t srcRepStride)
{
    tdc_twin::reduce_repeats(
        "WholeReduceSum", dst, src, {mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride}, 1,
        sizeof(T),
        [mask](T *lanes, T *to) { *to = tdc_twin::join_lanes(lanes, mask, tdc_twin::sum_of<T>); });
}

#define TDC_TWIN_EXTREME(Name, join)                                                               \
    TDC_TWIN_FLOATS                                                                                \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask,            \
              const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,    \
              const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)      \
    {                                                                                              \
        tdc_twin::reduce_extremes(#Name, dst, src,                                                 \
                                  {mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride},    \
                                  order, tdc_twin::join<T>);                                       \
    }

TDC_TWIN_EXTREME(WholeReduceMax, highest_of)
TDC_TWIN_EXTREME(WholeReduceMin, lowest_of)
#undef TDC_TWIN_EXTREME

/* The number of repeats comes before the mask here. */
#define TDC_TWIN_BLOCKS(Name, join)                                                                \
    TDC_TWIN_FLOATS                                                                                \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,      \
              const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,          \
              const int32_t srcRepStride)                                                          \
    {                                                                                              \
        tdc_twin::reduce_blocks(#Name, dst, src,                                                   \
                                {mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride},      \
                                tdc_twin::join<T>);                                                \
    }

TDC_TWIN_BLOCKS(BlockReduceSum, sum_of)
TDC_TWIN_BLOCKS(BlockReduceMax, highest_of)
TDC_TWIN_BLOCKS(BlockReduceMin, lowest_of)
#undef TDC_TWIN_BLOCKS

TDC_TWIN_FLOATS
void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               const LocalTensor<T> &sharedTmpBuffer, const int32_t count)
{
    tdc_twin::reduce_all("ReduceSum", dst, src, sharedTmpBuffer, count, false, tdc_twin::sum_of<T>);
}

#define TDC_TWIN_WHOLE(Name, join)                                                                 \
    TDC_TWIN_FLOATS                                                                                \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                \
              const LocalTensor<T> &sharedTmpBuffer, const int32_t count, bool calIndex = 0)       \
    {                                                                                              \
        tdc_twin::reduce_all(#Name, dst, src, sharedTmpBuffer, count, calIndex,                    \
                             tdc_twin::join<T>);                                                   \
    }

TDC_TWIN_WHOLE(ReduceMax, highest_of)
TDC_TWIN_WHOLE(ReduceMin, lowest_of)
#undef TDC_TWIN_WHOLE
#undef TDC_TWIN_FLOATS

} // namespace AscendC

#endif
