/*
 * reduce_calls.h - the reductions of Ascend C that yield one float per repeat of 256 bytes.
 */
#ifndef TDC_TESTS_TWIN_REDUCE_CALLS_H
#define TDC_TESTS_TWIN_REDUCE_CALLS_H

#include "tests/twin/vector_calls.h"

namespace tdc_twin
{

struct repeat_shape {
    int32_t lanes, repeats, to_stride, block_stride, repeat_stride;
};

constexpr int32_t BLOCK_FLOATS = UB_BLOCK / sizeof(float);
constexpr int32_t REPEAT_FLOATS = 8 * BLOCK_FLOATS;

inline void check_repeat(const repeat_shape &s)
{
    if (s.lanes < 1 || s.lanes > REPEAT_FLOATS)
        here().complain("a mask of " + std::to_string(s.lanes) + " lanes");
    if (s.repeats < 1 || s.repeats > 255)
        here().complain(std::to_string(s.repeats) + " repeats");
    if (s.to_stride < 1 || s.block_stride < 1 || s.repeat_stride < 1)
        here().complain("a stride below 1");
}

/* A binary tree over the lanes, whatever `join` does. */
template <typename F> float join_lanes(float *lanes, int32_t count, F join)
{
    while (count > 1) {
        int32_t half_up = (count + 1) / 2;
        for (int32_t i = 0; i < count / 2; i++)
            lanes[i] = join(lanes[2 * i], lanes[2 * i + 1]);
        if (count % 2)
            lanes[half_up - 1] = lanes[count - 1];
        count = half_up;
    }
    return lanes[0];
}

template <typename F>
void reduce_repeats(const char *name, const AscendC::LocalTensor<float> &dst,
                    const AscendC::LocalTensor<float> &src, const repeat_shape &s,
                    uint32_t alignment, F join)
{
    check_repeat(s);
    const int64_t last_block = (s.lanes - 1) / BLOCK_FLOATS;
    const int64_t reach =
        ((s.repeats - 1) * int64_t{s.repeat_stride} + last_block * s.block_stride) * BLOCK_FLOATS +
        (s.lanes - 1) % BLOCK_FLOATS + 1;
    const int64_t to_reach = (s.repeats - 1) * int64_t{s.to_stride} + 1;
    float *to = dst.twin_data();
    const float *from = src.twin_data();
    operand source = operand_of("src", src, static_cast<uint64_t>(reach), false);
    operand target = operand_of("dst", dst, static_cast<uint64_t>(to_reach), true, alignment);
    target.element = 0; /* never in place */
    here().issue({name,
                  QUEUE_V,
                  static_cast<uint64_t>(s.lanes) * static_cast<uint64_t>(s.repeats),
                  {target, source},
                  [=] {
                      for (int64_t r = 0; r < s.repeats; r++) {
                          float lanes[REPEAT_FLOATS];
                          for (int64_t i = 0; i < s.lanes; i++)
                              lanes[i] =
                                  from[(r * s.repeat_stride + i / BLOCK_FLOATS * s.block_stride) *
                                           BLOCK_FLOATS +
                                       i % BLOCK_FLOATS];
                          to[r * s.to_stride] = join_lanes(lanes, s.lanes, join);
                      }
                  },
                  false});
}

} // namespace tdc_twin

namespace AscendC
{

template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>
void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask,
                    const int32_t repeatTime, const int32_t dstRepStride,
                    const int32_t srcBlkStride, const int32_t srcRepStride)
{
    tdc_twin::reduce_repeats("WholeReduceSum", dst, src,
                             {mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride},
                             sizeof(T), [](T x, T y) { return x + y; });
}

/* The vendor's headers ask for 8 bytes of alignment even without an index. */
#define TDC_TWIN_EXTREME(Name, join)                                                               \
    template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>                        \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask,            \
              const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,    \
              const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)      \
    {                                                                                              \
        if (order != ReduceOrder::ORDER_ONLY_VALUE)                                                \
            tdc_twin::here().complain("the twin knows values without index only");                 \
        tdc_twin::reduce_repeats(#Name, dst, src,                                                  \
                                 {mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride},     \
                                 2 * sizeof(T), [](T x, T y) { return join(x, y); });              \
    }

TDC_TWIN_EXTREME(WholeReduceMax, tdc_twin::larger_of)
TDC_TWIN_EXTREME(WholeReduceMin, tdc_twin::smaller_of)
#undef TDC_TWIN_EXTREME

} // namespace AscendC

#endif
