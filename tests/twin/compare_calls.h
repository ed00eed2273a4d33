/*
 * compare_calls.h - comparisons, whose results are bits, and the selection by such bits.
 */
#ifndef TDC_TESTS_TWIN_COMPARE_CALLS_H
#define TDC_TESTS_TWIN_COMPARE_CALLS_H

#include "tests/twin/vector_calls.h"

namespace tdc_twin
{

template <typename N> bool holds(AscendC::CMPMODE mode, N x, N y)
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

template <typename T> void check_mode(AscendC::CMPMODE mode)
{
    if (std::is_same<T, int32_t>::value && mode != AscendC::CMPMODE::EQ)
        here().complain("int32_t is compared for equality only");
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

template <typename U, typename T,
          tdc_twin::only_if<tdc_twin::among<T, half, float, int32_t>,
                            tdc_twin::among<U, uint8_t, int8_t>> = 0>
void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             CMPMODE mode, uint32_t count)
{
    tdc_twin::check_mode<T>(mode);
    const T *x = src0.twin_data(), *y = src1.twin_data();
    tdc_twin::compare<U, T>("Compare", dst,
                            {tdc_twin::operand_of("src0", src0, count, false),
                             tdc_twin::operand_of("src1", src1, count, false)},
                            count, [=](uint64_t i) {
                                return tdc_twin::holds(mode, tdc_twin::number(x[i]),
                                                       tdc_twin::number(y[i]));
                            });
}

template <typename U, typename T,
          tdc_twin::only_if<tdc_twin::among<T, half, float, int32_t>,
                            tdc_twin::among<U, uint8_t, int8_t>> = 0>
void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T scalar,
                   CMPMODE mode, uint32_t count)
{
    tdc_twin::check_mode<T>(mode);
    const T *x = src0.twin_data();
    tdc_twin::compare<U, T>(
        "CompareScalar", dst, {tdc_twin::operand_of("src0", src0, count, false)}, count,
        [=](uint64_t i) {
            return tdc_twin::holds(mode, tdc_twin::number(x[i]), tdc_twin::number(scalar));
        });
}

template <typename T, typename M,
          tdc_twin::only_if<tdc_twin::among<T, half, float>,
                            tdc_twin::among<M, uint8_t, uint16_t, uint32_t, uint64_t>> = 0>
void Select(const LocalTensor<T> &dst, const LocalTensor<M> &mask, const LocalTensor<T> &src0,
            T scalar, SELMODE mode, uint32_t count)
{
    if (mode != SELMODE::VSEL_TENSOR_SCALAR_MODE)
        tdc_twin::here().complain("a scalar, but not the mode for it");
    tdc_twin::select(dst, mask, src0, {}, count, [=](uint64_t) { return scalar; });
}

template <typename T, typename M,
          tdc_twin::only_if<tdc_twin::among<T, half, float>,
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
