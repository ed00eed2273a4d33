/*
 * vector_calls.h - the element-wise calls of Ascend C: arithmetic, bits, conversion.
 *
 * f32 exactly as written (the build forbids contraction). NaN as on the Atlas A2: it wins every
 * maximum and minimum, and no comparison holds for it, NE included.
 */
#ifndef TDC_TESTS_TWIN_VECTOR_CALLS_H
#define TDC_TESTS_TWIN_VECTOR_CALLS_H

#include <cmath>

#include "tests/twin/device_memory.h"
#include "tests/twin/flawed_arithmetic.h"

namespace tdc_twin
{

template <typename... Types>
using only_if = std::enable_if_t<std::conjunction<Types...>::value, int>;
template <typename T, typename... Those> using among = std::bool_constant<is_one_of<T, Those...>>;

inline uint64_t lanes_of(int64_t count)
{
    if (count <= 0)
        here().complain("a count of " + std::to_string(count));
    return static_cast<uint64_t>(count);
}

/* What the lanes of a type are computed in: f32 holds every half, and integers must not overflow.
 */
inline float number(float x)
{
    return x;
}
inline float number(half x)
{
    return widen(x);
}
inline int64_t number(int16_t x)
{
    return x;
}
inline int64_t number(int32_t x)
{
    return x;
}

/* f32 has more than twice the digits of half: rounding again is rounding once. */
template <typename T, typename N> T lane(N x)
{
    if constexpr (std::is_same<T, half>::value) {
        return narrow_to_half(x);
    } else if constexpr (std::is_same<T, float>::value) {
        return x;
    } else {
        if (static_cast<T>(x) != x)
            here().complain("an integer overflows: devices differ in what they do then");
        return static_cast<T>(x);
    }
}

inline int64_t larger_of(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

inline int64_t smaller_of(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

inline float larger_of(float x, float y)
{
    if (x != x || y != y)
        return NAN;
    if (x == y)
        return std::signbit(x) ? y : x;
    return x > y ? x : y;
}

inline float smaller_of(float x, float y)
{
    if (x != x || y != y)
        return NAN;
    if (x == y)
        return std::signbit(x) ? x : y;
    return x < y ? x : y;
}

inline int64_t scaled(int64_t x, int64_t y)
{
    return x * y;
}

inline float scaled(float x, float y)
{
    return flaw != TDC_TWIN_SOUND ? flawed_multiply(x, y) : x * y;
}

inline int32_t round_to_integer(float x, AscendC::RoundMode how)
{
    using AscendC::RoundMode;
    const double whole = how == RoundMode::CAST_RINT    ? std::nearbyint(x)
                         : how == RoundMode::CAST_FLOOR ? std::floor(x)
                         : how == RoundMode::CAST_CEIL  ? std::ceil(x)
                         : how == RoundMode::CAST_ROUND ? std::round(x)
                                                        : std::trunc(x);
    if (!(whole >= INT32_MIN && whole <= INT32_MAX))
        here().complain("a number that int32_t does not hold");
    return static_cast<int32_t>(whole);
}

template <typename T, typename F>
void binary(const char *name, const AscendC::LocalTensor<T> &dst,
            const AscendC::LocalTensor<T> &src0, const AscendC::LocalTensor<T> &src1, int64_t count,
            F function)
{
    const uint64_t lanes = lanes_of(count);
    T *to = dst.twin_data();
    const T *x = src0.twin_data(), *y = src1.twin_data();
    here().issue({name,
                  QUEUE_V,
                  lanes,
                  {operand_of("dst", dst, lanes, true), operand_of("src0", src0, lanes, false),
                   operand_of("src1", src1, lanes, false)},
                  [=] {
                      for (uint64_t i = 0; i < lanes; i++)
                          to[i] = function(x[i], y[i]);
                  },
                  false});
}

/* Blocks of 32 bytes that an operand takes: eight a repeat. */
struct block_strides {
    uint32_t block, repeat;
};

template <typename T> uint64_t strided_place(const block_strides &s, uint32_t repeat, uint32_t i)
{
    constexpr uint32_t per_block = UB_BLOCK / sizeof(T);
    return uint64_t{repeat * s.repeat + i / per_block * s.block} * per_block + i % per_block;
}

/* An operand for each block, so that what lies between them is not taken for touched. */
template <typename T>
void strided_operands(std::vector<operand> &all, const char *name,
                      const AscendC::LocalTensor<T> &tensor, const block_strides &s,
                      uint32_t repeats, bool written)
{
    constexpr uint32_t per_block = UB_BLOCK / sizeof(T);
    for (uint32_t r = 0; r < repeats; r++)
        for (uint32_t block = 0; block < 8; block++)
            all.push_back(operand_of(
                name, tensor[static_cast<uint32_t>(strided_place<T>(s, r, block * per_block))],
                per_block, written));
}

/* The calls with a mask and repeats; the twin knows whole repeats of distinct blocks only. */
template <typename T> void check_repeats(uint64_t mask, uint32_t repeats, const block_strides &to)
{
    if (mask != 256 / sizeof(T))
        here().complain("a mask of " + std::to_string(mask) + " lanes");
    if (repeats < 1 || repeats > 255)
        here().complain(std::to_string(repeats) + " repeats");
    if (to.block < 1 || (repeats > 1 && to.repeat < 8 * to.block))
        here().complain("a block that is written twice");
}

template <typename T, typename S, typename F>
void unary(const char *name, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<S> &src,
           int64_t count, F function)
{
    const uint64_t lanes = lanes_of(count);
    T *to = dst.twin_data();
    const S *x = src.twin_data();
    here().issue({name,
                  QUEUE_V,
                  lanes,
                  {operand_of("dst", dst, lanes, true), operand_of("src", src, lanes, false)},
                  [=] {
                      for (uint64_t i = 0; i < lanes; i++)
                          to[i] = function(x[i]);
                  },
                  false});
}

} // namespace tdc_twin

namespace AscendC
{

struct BinaryRepeatParams {
    BinaryRepeatParams(uint8_t dstBlk, uint8_t src0Blk, uint8_t src1Blk, uint8_t dstRep,
                       uint8_t src0Rep, uint8_t src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk),
          dstRepStride(dstRep), src0RepStride(src0Rep), src1RepStride(src1Rep)
    {
    }
    uint8_t dstBlkStride, src0BlkStride, src1BlkStride;
    uint8_t dstRepStride, src0RepStride, src1RepStride;
};

struct CopyRepeatParams {
    CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dstRepeat, uint16_t srcRepeat)
        : dstStride(dst), srcStride(src), dstRepeatSize(dstRepeat), srcRepeatSize(srcRepeat)
    {
    }
    uint16_t dstStride, srcStride, dstRepeatSize, srcRepeatSize;
};

template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>
void Add(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams &params)
{
    using namespace tdc_twin;
    const block_strides to = {params.dstBlkStride, params.dstRepStride},
                        x = {params.src0BlkStride, params.src0RepStride},
                        y = {params.src1BlkStride, params.src1RepStride};
    const uint32_t repeats = repeatTime, lanes = static_cast<uint32_t>(mask);
    check_repeats<T>(mask, repeats, to);
    std::vector<operand> operands;
    strided_operands(operands, "dst", dst, to, repeats, true);
    strided_operands(operands, "src0", src0, x, repeats, false);
    strided_operands(operands, "src1", src1, y, repeats, false);
    T *out = dst.twin_data();
    const T *left = src0.twin_data(), *right = src1.twin_data();
    here().issue({"Add", QUEUE_V, mask * repeats, operands,
                  [=] {
                      for (uint32_t r = 0; r < repeats; r++)
                          for (uint32_t i = 0; i < lanes; i++) {
                              const T a = left[strided_place<T>(x, r, i)],
                                      b = right[strided_place<T>(y, r, i)];
                              out[strided_place<T>(to, r, i)] =
                                  flaw != TDC_TWIN_SOUND ? flawed_add(a, b) : a + b;
                          }
                  },
                  false});
}

template <typename T, tdc_twin::only_if<tdc_twin::among<T, half, float, int16_t, int32_t>> = 0>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask,
          const uint8_t repeatTime, const CopyRepeatParams &params)
{
    using namespace tdc_twin;
    const block_strides to = {params.dstStride, params.dstRepeatSize},
                        from = {params.srcStride, params.srcRepeatSize};
    const uint32_t repeats = repeatTime, lanes = static_cast<uint32_t>(mask);
    check_repeats<T>(mask, repeats, to);
    std::vector<operand> operands;
    strided_operands(operands, "dst", dst, to, repeats, true);
    strided_operands(operands, "src", src, from, repeats, false);
    T *out = dst.twin_data();
    const T *in = src.twin_data();
    here().issue({"Copy", QUEUE_V, mask * repeats, operands,
                  [=] {
                      for (uint32_t r = 0; r < repeats; r++)
                          for (uint32_t i = 0; i < lanes; i++)
                              out[strided_place<T>(to, r, i)] = in[strided_place<T>(from, r, i)];
                  },
                  false});
}

#define TDC_TWIN_NUMBERS(T)                                                                        \
    template <typename T, tdc_twin::only_if<tdc_twin::among<T, half, float, int16_t, int32_t>> = 0>

/* What a flawed device computes is decided outside of the loop: the loops are the tests' time. */
#define TDC_TWIN_BINARY(Name, expression, flawed)                                                  \
    TDC_TWIN_NUMBERS(T)                                                                            \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,   \
              const int32_t &count)                                                                \
    {                                                                                              \
        using namespace tdc_twin;                                                                  \
        if constexpr (std::is_same<T, float>::value)                                               \
            if (flaw != TDC_TWIN_SOUND)                                                            \
                return binary(#Name, dst, src0, src1, count, [](T x, T y) { return flawed; });     \
        binary(#Name, dst, src0, src1, count, [](T left, T right) {                                \
            const auto x = number(left), y = number(right);                                        \
            return lane<T>(expression);                                                            \
        });                                                                                        \
    }

TDC_TWIN_BINARY(Add, x + y, flawed_add(x, y))
TDC_TWIN_BINARY(Sub, x - y, flawed_add(x, -y))
TDC_TWIN_BINARY(Mul, x *y, flawed_multiply(x, y))
TDC_TWIN_BINARY(Max, larger_of(x, y), larger_of(x, y))
TDC_TWIN_BINARY(Min, smaller_of(x, y), smaller_of(x, y))
#undef TDC_TWIN_BINARY

#define TDC_TWIN_SCALAR(Name, expression)                                                          \
    TDC_TWIN_NUMBERS(T)                                                                            \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar,               \
              const int32_t &count)                                                                \
    {                                                                                              \
        using namespace tdc_twin;                                                                  \
        const auto y = number(scalar);                                                             \
        unary(#Name, dst, src, count, [y](T left) {                                                \
            const auto x = number(left);                                                           \
            return lane<T>(expression);                                                            \
        });                                                                                        \
    }

TDC_TWIN_SCALAR(Adds, x + y)
TDC_TWIN_SCALAR(Muls, scaled(x, y))
TDC_TWIN_SCALAR(Maxs, larger_of(x, y))
TDC_TWIN_SCALAR(Mins, smaller_of(x, y))
#undef TDC_TWIN_SCALAR
#undef TDC_TWIN_NUMBERS

template <typename T, tdc_twin::only_if<tdc_twin::among<T, half, float>> = 0>
void Div(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         const int32_t &count)
{
    using namespace tdc_twin;
    core *core = &here();
    binary("Div", dst, src0, src1, count,
           [core](T x, T y) { return lane<T>(core->divide(number(x), number(y))); });
}

/* dst + src0 * src1. Whether that is rounded once is not told of 2201: a kernel may ask, and must
 * not rely on it. */
template <typename T, typename U,
          tdc_twin::only_if<tdc_twin::among<T, float>, tdc_twin::among<U, float>> = 0>
void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,
               const int32_t &count)
{
    using namespace tdc_twin;
    const uint64_t lanes = lanes_of(count);
    T *to = dst.twin_data();
    const U *x = src0.twin_data(), *y = src1.twin_data();
    here().issue({"MulAddDst",
                  QUEUE_V,
                  lanes,
                  {operand_of("dst", dst, lanes, true), operand_of("dst", dst, lanes, false),
                   operand_of("src0", src0, lanes, false), operand_of("src1", src1, lanes, false)},
                  [=] {
                      for (uint64_t i = 0; i < lanes; i++)
                          to[i] = flaw == TDC_TWIN_FUSES ? std::fma(x[i], y[i], to[i])
                                                         : to[i] + x[i] * y[i];
                  },
                  false});
}

#define TDC_TWIN_BITS(Name, operation)                                                             \
    template <typename T, tdc_twin::only_if<tdc_twin::among<T, int16_t, uint16_t>> = 0>            \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,   \
              const int32_t &count)                                                                \
    {                                                                                              \
        tdc_twin::binary(#Name, dst, src0, src1, count,                                            \
                         [](T x, T y) { return static_cast<T>(x operation y); });                  \
    }

TDC_TWIN_BITS(And, &)
TDC_TWIN_BITS(Or, |)
#undef TDC_TWIN_BITS

template <typename T, tdc_twin::only_if<tdc_twin::among<T, int16_t, uint16_t>> = 0>
void Not(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count)
{
    tdc_twin::unary("Not", dst, src, count, [](T x) { return static_cast<T>(~x); });
}

template <typename T, tdc_twin::only_if<tdc_twin::among<T, half, float>> = 0>
void Abs(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count)
{
    using namespace tdc_twin;
    unary("Abs", dst, src, count, [](T x) { return lane<T>(std::fabs(number(x))); });
}

template <typename T, tdc_twin::only_if<tdc_twin::among<T, half, bfloat16_t, int16_t, uint16_t,
                                                        int32_t, uint32_t, float>> = 0>
void Duplicate(const LocalTensor<T> &dst, const T &value, const int32_t &count)
{
    using namespace tdc_twin;
    const uint64_t lanes = lanes_of(count);
    const T all = value;
    T *to = dst.twin_data();
    here().issue({"Duplicate",
                  QUEUE_V,
                  lanes,
                  {operand_of("dst", dst, lanes, true)},
                  [=] {
                      for (uint64_t i = 0; i < lanes; i++)
                          to[i] = all;
                  },
                  false});
}

template <typename D, typename S,
          tdc_twin::only_if<tdc_twin::among<D, float>, tdc_twin::among<S, half, bfloat16_t>> = 0>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
          const uint32_t count)
{
    if (mode != RoundMode::CAST_NONE)
        tdc_twin::here().complain("a cast that rounds nothing asks for rounding");
    tdc_twin::unary("Cast", dst, src, count, [](S x) {
        const float wide = tdc_twin::widen(x);
        return tdc_twin::flaw == tdc_twin_flaw::TDC_TWIN_FLUSHES_SUBNORMALS &&
                       std::fabs(wide) < (std::is_same<S, half>::value ? 0x1p-14f : 0x1p-126f)
                   ? std::copysign(0.0f, wide)
                   : wide;
    });
}

template <typename D, typename S,
          tdc_twin::only_if<tdc_twin::among<D, half, bfloat16_t>, tdc_twin::among<S, float>> = 0>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
          const uint32_t count)
{
    if (mode != RoundMode::CAST_RINT)
        tdc_twin::here().complain("a cast that rounds must say how");
    tdc_twin::unary("Cast", dst, src, count, [](S x) {
        if constexpr (std::is_same<D, half>::value)
            return tdc_twin::narrow_to_half(x);
        else
            return tdc_twin::narrow_to_bfloat16(x);
    });
}

template <typename D, typename S,
          tdc_twin::only_if<tdc_twin::among<D, float>, tdc_twin::among<S, int32_t>> = 0>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
          const uint32_t count)
{
    if (mode != RoundMode::CAST_NONE && mode != RoundMode::CAST_RINT)
        tdc_twin::here().complain("the twin rounds to the nearest number here");
    tdc_twin::unary("Cast", dst, src, count, [](S x) { return static_cast<D>(x); });
}

template <typename D, typename S,
          tdc_twin::only_if<tdc_twin::among<D, int32_t>, tdc_twin::among<S, float>> = 0>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
          const uint32_t count)
{
    if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_ODD)
        tdc_twin::here().complain("a cast that rounds must say how");
    const RoundMode how = mode;
    tdc_twin::unary("Cast", dst, src, count,
                    [how](S x) { return tdc_twin::round_to_integer(x, how); });
}

} // namespace AscendC

#endif
