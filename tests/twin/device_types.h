/*
 * device_types.h - keywords, numbers and enumerations of Ascend C.
 */
#ifndef TDC_TESTS_TWIN_DEVICE_TYPES_H
#define TDC_TESTS_TWIN_DEVICE_TYPES_H

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/twin/core.h"

#define __aicore__
#define __vector__
#define __global__
#ifdef TDC_TWIN_ADDRESS_SPACES
/* clang -fsyntax-only: mixing global memory with anything else is an error */
#define __gm__   __attribute__((address_space(1)))
#define __ubuf__ __attribute__((address_space(2)))
#else
#define __gm__
#define __ubuf__
#endif

#define GM_ADDR __gm__ uint8_t *

#define KERNEL_TYPE_AIV_ONLY 1
#define KERNEL_TASK_TYPE_DEFAULT(type)                                                             \
    static_assert((type) == KERNEL_TYPE_AIV_ONLY, "the kernels are for vector cores")

/* Two bytes without arithmetic, as in device code. */
struct half {
    uint16_t bits;
};
struct bfloat16_t {
    uint16_t bits;
};

enum pipe_t {
    PIPE_S = 0,
    PIPE_V,
    PIPE_M,
    PIPE_MTE1,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_ALL
};

enum event_t {
    EVENT_ID0 = 0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7
};

namespace AscendC
{

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM
};
using QuePosition = TPosition;
using TEventID = int8_t;

enum class HardEvent : uint8_t {
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S
};

enum class CMPMODE : uint8_t {
    LT = 0,
    GT,
    EQ,
    LE,
    GE,
    NE
};

enum class SELMODE : uint8_t {
    VSEL_CMPMASK_SPR = 0,
    VSEL_TENSOR_SCALAR_MODE,
    VSEL_TENSOR_TENSOR_MODE
};

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
    UNKNOWN = 255
#endif
};

enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX = 0,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX
};

} // namespace AscendC

namespace tdc_twin
{

constexpr flag flag_of(AscendC::HardEvent event)
{
    using AscendC::HardEvent;
    switch (event) {
    case HardEvent::MTE2_V:
        return {QUEUE_MTE2, QUEUE_V};
    case HardEvent::V_MTE2:
        return {QUEUE_V, QUEUE_MTE2};
    case HardEvent::MTE3_V:
        return {QUEUE_MTE3, QUEUE_V};
    case HardEvent::V_MTE3:
        return {QUEUE_V, QUEUE_MTE3};
    case HardEvent::MTE3_MTE2:
        return {QUEUE_MTE3, QUEUE_MTE2};
    case HardEvent::MTE2_MTE3:
        return {QUEUE_MTE2, QUEUE_MTE3};
    case HardEvent::S_V:
        return {QUEUE_S, QUEUE_V};
    case HardEvent::V_S:
        return {QUEUE_V, QUEUE_S};
    case HardEvent::S_MTE2:
        return {QUEUE_S, QUEUE_MTE2};
    case HardEvent::MTE2_S:
        return {QUEUE_MTE2, QUEUE_S};
    case HardEvent::S_MTE3:
        return {QUEUE_S, QUEUE_MTE3};
    default:
        return {QUEUE_MTE3, QUEUE_S};
    }
}

/* Is T one of these? */
template <typename T, typename... Those>
constexpr bool is_one_of = (std::is_same<T, Those>::value || ...);

template <typename To, typename From> To same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "bits are kept");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

inline float widen(bfloat16_t value)
{
    return same_bits<float>(static_cast<uint32_t>(value.bits) << 16);
}

inline float widen(half value)
{
    const uint32_t sign = (value.bits & 0x8000u) << 16, rest = value.bits & 0x7fffu;
    if (rest >= 0x7c00u)
        return same_bits<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    /* 2^112 moves the exponent, also that of subnormals */
    const float magnitude = same_bits<float>(rest << 13) * 0x1p112f;
    return same_bits<float>(sign | same_bits<uint32_t>(magnitude));
}

/* Rounds the lowest `dropped` bits away, ties to even. */
inline uint32_t drop_bits(uint32_t bits, unsigned dropped)
{
    const uint32_t odd = bits >> dropped & 1;
    return (bits + ((1u << (dropped - 1)) - 1) + odd) >> dropped;
}

inline half narrow_to_half(float value)
{
    const uint32_t bits = same_bits<uint32_t>(value), sign = bits >> 16 & 0x8000u;
    const uint32_t rest = bits & 0x7fffffffu;
    uint32_t to;
    if (rest > 0x7f800000u)
        to = 0x7e00u;
    else if (rest >= 0x47800000u) /* 2^16 */
        to = 0x7c00u;
    else if (rest >= 0x38800000u) /* 2^-14; rounding may carry into infinity */
        to = drop_bits(rest - 0x38000000u, 13);
    else /* adding 0.5 rounds to a multiple of 2^-24, the last bit of a subnormal half */
        to = same_bits<uint32_t>(same_bits<float>(rest) + 0.5f) - 0x3f000000u;
    return {static_cast<uint16_t>(sign | to)};
}

inline bfloat16_t narrow_to_bfloat16(float value)
{
    const uint32_t bits = same_bits<uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return {static_cast<uint16_t>(bits >> 16 | 0x40u)};
    return {static_cast<uint16_t>(drop_bits(bits, 16))};
}

} // namespace tdc_twin

#endif
