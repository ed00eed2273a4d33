/*
 * register_calls.h - the register interface of architecture 3510: vector functions, their
 * registers, and what these load from and store to UB.
 *
 * A vector function is one instruction of the vector queue. It runs twice: at once on a copy of UB,
 * which shows what it reads and writes and checks it, and for real when its turn has come. Within
 * it loads and stores may overtake each other: what was stored is loaded only behind a LocalMemBar,
 * and so for the other orders.
 */
#ifndef TDC_TESTS_TWIN_REGISTER_CALLS_H
#define TDC_TESTS_TWIN_REGISTER_CALLS_H

#include "tests/twin/compare_calls.h"

#define __simd_vf__
#define __simd_callee__

namespace tdc_twin
{

constexpr uint32_t REGISTER_BYTES = 256;

/* What a vector function has done so far. */
struct vector_run {
    bool traced;
    std::vector<uint8_t> copy;
    struct block {
        bool loaded, stored; /* since the barrier between */
        bool stored_twice;   /* ... two stores */
        bool read_first, written;
    };
    std::vector<block> blocks;
    std::vector<operand> stores; /* of less than a block */
    uint64_t lanes = 0;
};

inline vector_run *&running()
{
    static thread_local vector_run *run;
    return run;
}

inline vector_run &this_run()
{
    if (running() == nullptr)
        here().complain("a register is used outside of a vector function");
    return *running();
}

inline void count_instruction(uint64_t lanes)
{
    vector_run &run = this_run();
    if (!run.traced)
        return;
    here().report.register_instructions++;
    run.lanes += lanes;
}

/* The bytes of an access, in the copy or in UB itself. */
inline uint8_t *access(const void *address, uint32_t bytes, uint32_t alignment, bool written)
{
    vector_run &run = this_run();
    const uint8_t *base = here().ub(0);
    const uint8_t *from = static_cast<const uint8_t *>(address);
    if (from < base || from + bytes > base + UB_BYTES)
        here().complain("an address outside of UB");
    const uint32_t at = static_cast<uint32_t>(from - base);
    if (!run.traced)
        return here().ub(at);
    if (at % alignment != 0)
        here().complain("an address that is not aligned to " + std::to_string(alignment) +
                        " bytes");
    here().check_region(at, bytes);
    for (uint32_t k = at / UB_BLOCK; k <= (at + bytes - 1) / UB_BLOCK; k++) {
        vector_run::block &b = run.blocks[k];
        if (!written && b.stored)
            here().complain("loaded before it is certainly stored");
        if (written && b.loaded)
            here().complain("stored before it is certainly loaded");
        if (!written) {
            b.read_first = b.read_first || !b.written;
            b.loaded = true;
        } else if (bytes >= UB_BLOCK) {
            b.written = b.stored = true;
        }
    }
    if (written && bytes < UB_BLOCK)
        run.stores.push_back({"store", here().region_of(at), at, bytes, 4, 4, true});
    return run.copy.data() + at;
}

} // namespace tdc_twin

namespace AscendC
{

enum class ReduceType {
    SUM = 0,
    MAX,
    MIN
};

namespace Reg
{

struct DefaultType {
};
enum class MaskMergeMode {
    UNKNOWN,
    MERGING,
    ZEROING
};
enum class RegLayout {
    UNKNOWN = -1,
    ZERO,
    ONE
};
enum class SatMode {
    UNKNOWN = -1,
    NO_SAT,
    SAT
};
enum class MaskPattern {
    ALL,
    VL8
};
enum class LoadDist {
    DIST_NORM,
    DIST_UNPACK_B16
};
enum class StoreDist {
    DIST_NORM,
    DIST_FIRST_ELEMENT_B32
};
enum class MemType {
    VEC_STORE,
    VEC_LOAD
};
struct CastTrait {
    RegLayout layoutMode;
    SatMode satMode;
    MaskMergeMode mrgMode;
    RoundMode roundMode;
};

/* A register that was never written must not be read. */
template <typename T> struct RegTensor {
    static constexpr uint32_t LANES = tdc_twin::REGISTER_BYTES / sizeof(T);
    T lanes[LANES];
    bool written = false;

    const T *read() const
    {
        if (!written)
            tdc_twin::here().complain("a register that was never written");
        return lanes;
    }
    T *write()
    {
        written = true;
        return lanes;
    }
};

/* A flag per float. */
struct MaskReg {
    uint64_t bits = 0;
    bool written = false;

    uint64_t read() const
    {
        if (!written)
            tdc_twin::here().complain("flags that were never written");
        return bits;
    }
    void write(uint64_t value)
    {
        bits = value;
        written = true;
    }
    bool at(uint32_t lane) const
    {
        return read() >> lane & 1;
    }
};

template <typename T, MaskPattern pattern = MaskPattern::ALL> MaskReg CreateMask()
{
    static_assert(std::is_same<T, float>::value, "flags of floats");
    tdc_twin::count_instruction(0);
    MaskReg all;
    all.write(pattern == MaskPattern::ALL ? ~uint64_t{0} : 0xff);
    return all;
}

template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename S>
void LoadAlign(RegTensor<S> &to, __ubuf__ S *from)
{
    using namespace tdc_twin;
    constexpr bool unpacked = dist == LoadDist::DIST_UNPACK_B16;
    static_assert(unpacked == (sizeof(S) == 2), "halves are spread over a register");
    constexpr uint32_t count = unpacked ? RegTensor<S>::LANES / 2 : RegTensor<S>::LANES;
    count_instruction(count);
    const S *values = reinterpret_cast<const S *>(
        access((const void *)from, count * static_cast<uint32_t>(sizeof(S)), UB_BLOCK, false));
    S *lanes = to.write();
    memset(lanes, 0, REGISTER_BYTES);
    for (uint32_t i = 0; i < count; i++)
        lanes[unpacked ? 2 * i : i] = values[i];
}

template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM>
void StoreAlign(__ubuf__ float *to, RegTensor<float> &from, MaskReg &mask)
{
    using namespace tdc_twin;
    const float *lanes = from.read();
    const uint64_t bits = mask.read();
    const uint32_t count = dist == StoreDist::DIST_FIRST_ELEMENT_B32 ? 1
                           : bits == 0xff                            ? 8
                                                                     : RegTensor<float>::LANES;
    count_instruction(count);
    uint8_t *bytes = access((const void *)to, count * 4, count == 1 ? 4 : UB_BLOCK, true);
    memcpy(bytes, lanes, count * 4);
}

template <MemType src, MemType dst> void LocalMemBar()
{
    using namespace tdc_twin;
    static_assert(src != dst, "the twin knows the orders of loads and stores");
    vector_run &run = this_run();
    if (!run.traced || !here().next_barrier())
        return;
    for (vector_run::block &b : run.blocks)
        (src == MemType::VEC_STORE ? b.stored : b.loaded) = false;
}

namespace detail
{

template <typename F> void each(RegTensor<float> &to, MaskReg &mask, F function)
{
    const uint64_t bits = mask.read();
    tdc_twin::count_instruction(RegTensor<float>::LANES);
    float result[RegTensor<float>::LANES];
    for (uint32_t i = 0; i < RegTensor<float>::LANES; i++)
        result[i] = bits >> i & 1 ? function(i) : 0;
    memcpy(to.write(), result, sizeof result);
}

} // namespace detail

#define TDC_TWIN_REGISTER_BINARY(Name, expression)                                                 \
    inline void Name(RegTensor<float> &to, RegTensor<float> &left, RegTensor<float> &right,        \
                     MaskReg &mask)                                                                \
    {                                                                                              \
        using namespace tdc_twin;                                                                  \
        const float *xs = left.read(), *ys = right.read();                                         \
        detail::each(to, mask, [=](uint32_t i) {                                                   \
            const float x = xs[i], y = ys[i];                                                      \
            return expression;                                                                     \
        });                                                                                        \
    }

TDC_TWIN_REGISTER_BINARY(Add, flaw != TDC_TWIN_SOUND ? flawed_add(x, y) : x + y)
TDC_TWIN_REGISTER_BINARY(Sub, flaw != TDC_TWIN_SOUND ? flawed_add(x, -y) : x - y)
TDC_TWIN_REGISTER_BINARY(Mul, scaled(x, y))
TDC_TWIN_REGISTER_BINARY(Div, here().divide(x, y))
TDC_TWIN_REGISTER_BINARY(Max, larger_of(x, y))
TDC_TWIN_REGISTER_BINARY(Min, smaller_of(x, y))
#undef TDC_TWIN_REGISTER_BINARY

/* to * x + y, rounded once: so the documentation of 3510 */
inline void MulDstAdd(RegTensor<float> &to, RegTensor<float> &x, RegTensor<float> &y, MaskReg &mask)
{
    const float *ts = to.read(), *xs = x.read(), *ys = y.read();
    detail::each(to, mask, [=](uint32_t i) { return std::fma(ts[i], xs[i], ys[i]); });
}

inline void Muls(RegTensor<float> &to, RegTensor<float> &from, float factor, MaskReg &mask)
{
    const float *xs = from.read();
    detail::each(to, mask, [=](uint32_t i) { return tdc_twin::scaled(xs[i], factor); });
}

inline void Abs(RegTensor<float> &to, RegTensor<float> &from, MaskReg &mask)
{
    const float *xs = from.read();
    detail::each(to, mask, [=](uint32_t i) { return std::fabs(xs[i]); });
}

inline void Duplicate(RegTensor<float> &to, float value, MaskReg &mask)
{
    detail::each(to, mask, [=](uint32_t) { return value; });
}

inline void Select(RegTensor<float> &to, RegTensor<float> &yes, RegTensor<float> &no, MaskReg &mask)
{
    const float *xs = yes.read(), *ys = no.read();
    const uint64_t bits = mask.read();
    MaskReg all;
    all.write(~uint64_t{0});
    detail::each(to, all, [=](uint32_t i) { return bits >> i & 1 ? xs[i] : ys[i]; });
}

template <typename D, typename S, const CastTrait &trait>
void Cast(RegTensor<D> &to, RegTensor<S> &from, MaskReg &mask)
{
    static_assert(trait.layoutMode == RegLayout::ZERO, "every second place, the first ones");
    tdc_twin::count_instruction(RegTensor<float>::LANES);
    const S *xs = from.read();
    D *lanes = to.write();
    D result[RegTensor<D>::LANES];
    memset((void *)result, 0, sizeof result);
    for (uint32_t i = 0; i < RegTensor<float>::LANES; i++) {
        if (!mask.at(i))
            continue;
        if constexpr (std::is_same<D, float>::value) {
            result[i] = tdc_twin::widen(xs[2 * i]);
        } else {
            static_assert(trait.roundMode == RoundMode::CAST_RINT, "a cast must say how it rounds");
            static_assert(trait.satMode == SatMode::NO_SAT, "beyond the range is infinity");
            result[2 * i] = tdc_twin::narrow_to_half(xs[i]);
        }
    }
    memcpy((void *)lanes, result, sizeof result);
}

template <typename T, CMPMODE mode, typename F>
void compare_lanes(MaskReg &to, MaskReg &mask, F function)
{
    tdc_twin::count_instruction(RegTensor<T>::LANES);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < RegTensor<T>::LANES; i++)
        bits |= uint64_t{mask.at(i) && function(i)} << i;
    to.write(bits);
}

template <typename T, CMPMODE mode>
void Compares(MaskReg &to, RegTensor<T> &from, T value, MaskReg &mask)
{
    const T *xs = from.read();
    compare_lanes<T, mode>(to, mask,
                           [=](uint32_t i) { return tdc_twin::holds(mode, xs[i], value); });
}

template <typename T, CMPMODE mode>
void Compare(MaskReg &to, RegTensor<T> &left, RegTensor<T> &right, MaskReg &mask)
{
    const T *xs = left.read(), *ys = right.read();
    compare_lanes<T, mode>(to, mask,
                           [=](uint32_t i) { return tdc_twin::holds(mode, xs[i], ys[i]); });
}

inline void And(MaskReg &to, MaskReg &x, MaskReg &y, MaskReg &mask)
{
    tdc_twin::count_instruction(0);
    to.write(x.read() & y.read() & mask.read());
}

inline void Or(MaskReg &to, MaskReg &x, MaskReg &y, MaskReg &mask)
{
    tdc_twin::count_instruction(0);
    to.write((x.read() | y.read()) & mask.read());
}

inline void Not(MaskReg &to, MaskReg &x, MaskReg &mask)
{
    tdc_twin::count_instruction(0);
    to.write(~x.read() & mask.read());
}

/* The result in the first place; of maxima the place of it in the second. */
template <ReduceType kind> void Reduce(RegTensor<float> &to, RegTensor<float> from, MaskReg mask)
{
    using namespace tdc_twin;
    count_instruction(RegTensor<float>::LANES);
    if (~mask.read() != 0)
        here().complain("the twin reduces whole registers");
    float lanes[RegTensor<float>::LANES];
    memcpy(lanes, from.read(), sizeof lanes);
    for (uint32_t width = RegTensor<float>::LANES / 2; width > 0; width /= 2)
        for (uint32_t i = 0; i < width; i++)
            lanes[i] = kind == ReduceType::SUM   ? lanes[2 * i] + lanes[2 * i + 1]
                       : kind == ReduceType::MAX ? larger_of(lanes[2 * i], lanes[2 * i + 1])
                                                 : smaller_of(lanes[2 * i], lanes[2 * i + 1]);
    float *result = to.write();
    memset(result, 0, REGISTER_BYTES);
    result[0] = lanes[0];
}

} // namespace Reg
} // namespace AscendC

namespace tdc_twin
{

/* Neighbouring blocks as one operand; what a function stores first it need not find there. */
inline std::vector<operand> operands_of(const vector_run &run)
{
    std::vector<operand> all = run.stores;
    for (bool written : {false, true}) {
        const uint32_t end = UB_BYTES / UB_BLOCK;
        for (uint32_t k = 0; k < end; k++) {
            uint32_t first = k;
            const int region = here().region_of(k * UB_BLOCK);
            while (k < end && here().region_of(k * UB_BLOCK) == region &&
                   (written ? run.blocks[k].written : run.blocks[k].read_first))
                k++;
            if (k > first)
                all.push_back({written ? "what is stored" : "what is loaded", region,
                               first * UB_BLOCK, (k-- - first) * UB_BLOCK, UB_BLOCK, 4, written});
        }
    }
    return all;
}

} // namespace tdc_twin

template <auto function, typename... Arguments> void asc_vf_call(Arguments... arguments)
{
    using namespace tdc_twin;
    vector_run trace{true, here().copy_of_ub(), {}, {}};
    trace.blocks.resize(UB_BYTES / UB_BLOCK);
    running() = &trace;
    function(arguments...);
    running() = nullptr;
    here().issue({"a vector function", QUEUE_V, trace.lanes, operands_of(trace),
                  [=] {
                      vector_run real{false, {}, {}, {}};
                      running() = &real;
                      function(arguments...);
                      running() = nullptr;
                  },
                  false});
}

#endif
