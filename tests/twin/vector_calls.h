/*
 * vector_calls.h - the element-wise calls of Ascend C: arithmetic, bits, conversion, comparison.
 *
 * f32 exactly as written (the build forbids contraction). NaN as on the Atlas A2: it wins every
 * maximum and minimum, and no comparison holds for it, NE included.
 */
#ifndef TDC_TESTS_TWIN_VECTOR_CALLS_H
#define TDC_TESTS_TWIN_VECTOR_CALLS_H

#include <cmath>

#include "tests/twin/device_memory.h"

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

inline bool holds(AscendC::CMPMODE mode, float x, float y)
{
    using AscendC::CMPMODE;
    switch (mode) {
    case CMPMODE::LT:
        return x < y;
    case CMPMODE::GT:
        return x > y;
    case CMPMODE::EQ:
        return x == y;
    case CMPMODE::LE:
        return x <= y;
    case CMPMODE::GE:
        return x >= y;
    default:
        return x < y || x > y;
    }
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

/* Sets bit i of the mask where `function(i)` holds. */
template <typename U, typename T, typename F>
void compare(const char *name, const AscendC::LocalTensor<U> &dst,
             std::initializer_list<operand> sources, uint32_t count, F function)
{
    static_assert(sizeof(U) == 1, "a mask");
    const uint64_t lanes = lanes_of(count);
    if (lanes * sizeof(T) % 256 != 0)
        here().complain("a comparison of " + std::to_string(lanes) +
                        " elements drops the last ones");
    uint8_t *to = reinterpret_cast<uint8_t *>(dst.twin_data());
    std::vector<operand> operands(sources);
    operands.push_back(operand_of("dst", dst, lanes / 8, true));
    here().issue({name, QUEUE_V, lanes, operands,
                  [=] {
                      memset(to, 0, lanes / 8);
                      for (uint64_t i = 0; i < lanes; i++)
                          to[i / 8] = static_cast<uint8_t>(to[i / 8] | function(i) << i % 8);
                  },
                  false});
}

template <typename T, typename M, typename F>
void select(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<M> &mask,
            const AscendC::LocalTensor<T> &src0, std::vector<operand> more, uint32_t count, F other)
{
    const uint64_t lanes = lanes_of(count);
    const uint8_t *bits = reinterpret_cast<const uint8_t *>(mask.twin_data());
    T *to = dst.twin_data();
    const T *x = src0.twin_data();
    uint8_t *scratch = here().ub(UB_SCRATCH);
    more.push_back(operand_of("dst", dst, lanes, true));
    more.push_back(operand_of("src0", src0, lanes, false));
    more.push_back(operand_of("mask", mask, (lanes + 7) / 8 / sizeof(M), false));
    here().issue({"Select", QUEUE_V, lanes, more,
                  [=] {
                      memset(scratch, 0xa5, UB_BYTES - UB_SCRATCH);
                      for (uint64_t i = 0; i < lanes; i++)
                          to[i] = bits[i / 8] >> i % 8 & 1 ? x[i] : other(i);
                  },
                  true});
}

} // namespace tdc_twin

namespace AscendC
{

#define TDC_TWIN_BINARY(Name, expression)                                                          \
    template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>                        \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,   \
              const int32_t &count)                                                                \
    {                                                                                              \
        tdc_twin::binary(#Name, dst, src0, src1, count, [](T x, T y) { return expression; });      \
    }

TDC_TWIN_BINARY(Add, x + y)
TDC_TWIN_BINARY(Sub, x - y)
TDC_TWIN_BINARY(Mul, x *y)
TDC_TWIN_BINARY(Max, tdc_twin::larger_of(x, y))
TDC_TWIN_BINARY(Min, tdc_twin::smaller_of(x, y))
#undef TDC_TWIN_BINARY

template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>
void Div(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         const int32_t &count)
{
    tdc_twin::core *core = &tdc_twin::here();
    tdc_twin::binary("Div", dst, src0, src1, count,
                     [core](T x, T y) { return core->divide(x, y); });
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

template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>
void Abs(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count)
{
    tdc_twin::unary("Abs", dst, src, count, [](T x) { return std::fabs(x); });
}

template <typename T, tdc_twin::only_if<tdc_twin::among<T, float>> = 0>
void Muls(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar,
          const int32_t &count)
{
    const T factor = scalar;
    tdc_twin::unary("Muls", dst, src, count, [factor](T x) { return x * factor; });
}

template <typename T, tdc_twin::only_if<tdc_twin::among<T, float, uint16_t, int32_t>> = 0>
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
    tdc_twin::unary("Cast", dst, src, count, [](S x) { return tdc_twin::widen(x); });
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

template <typename U, typename T,
          tdc_twin::only_if<tdc_twin::among<T, float>, tdc_twin::among<U, uint8_t, int8_t>> = 0>
void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             CMPMODE mode, uint32_t count)
{
    const T *x = src0.twin_data(), *y = src1.twin_data();
    tdc_twin::compare<U, T>("Compare", dst,
                            {tdc_twin::operand_of("src0", src0, count, false),
                             tdc_twin::operand_of("src1", src1, count, false)},
                            count, [=](uint64_t i) { return tdc_twin::holds(mode, x[i], y[i]); });
}

template <typename U, typename T,
          tdc_twin::only_if<tdc_twin::among<T, float>, tdc_twin::among<U, uint8_t, int8_t>> = 0>
void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T scalar,
                   CMPMODE mode, uint32_t count)
{
    const T *x = src0.twin_data();
    tdc_twin::compare<U, T>("CompareScalar", dst,
                            {tdc_twin::operand_of("src0", src0, count, false)}, count,
                            [=](uint64_t i) { return tdc_twin::holds(mode, x[i], scalar); });
}

template <typename T, typename M,
          tdc_twin::only_if<tdc_twin::among<T, float>,
                            tdc_twin::among<M, uint8_t, uint16_t, uint32_t, uint64_t>> = 0>
void Select(const LocalTensor<T> &dst, const LocalTensor<M> &mask, const LocalTensor<T> &src0,
            T scalar, SELMODE mode, uint32_t count)
{
    if (mode != SELMODE::VSEL_TENSOR_SCALAR_MODE)
        tdc_twin::here().complain("a scalar, but not the mode for it");
    tdc_twin::select(dst, mask, src0, {}, count, [=](uint64_t) { return scalar; });
}

template <typename T, typename M,
          tdc_twin::only_if<tdc_twin::among<T, float>,
                            tdc_twin::among<M, uint8_t, uint16_t, uint32_t, uint64_t>> = 0>
void Select(const LocalTensor<T> &dst, const LocalTensor<M> &mask, const LocalTensor<T> &src0,
            const LocalTensor<T> &src1, SELMODE mode, uint32_t count)
{
    if (mode != SELMODE::VSEL_TENSOR_TENSOR_MODE)
        tdc_twin::here().complain("two tensors, but not the mode for them");
    const T *y = src1.twin_data();
    tdc_twin::select(dst, mask, src0, {tdc_twin::operand_of("src1", src1, count, false)}, count,
                     [=](uint64_t i) { return y[i]; });
}

} // namespace AscendC

#endif
