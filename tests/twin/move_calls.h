/*
 * move_calls.h - the moves between global memory and UB.
 */
#ifndef TDC_TESTS_TWIN_MOVE_CALLS_H
#define TDC_TESTS_TWIN_MOVE_CALLS_H

#include "tests/twin/device_memory.h"
#include "tests/twin/flawed_arithmetic.h"

namespace AscendC
{

/* Gaps between blocks: bytes in global memory, blocks of 32 bytes in UB. */
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0; /* bytes */
    uint32_t srcStride = 0, dstStride = 0;
    uint32_t rsv = 0;
};

template <typename T> struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0; /* elements */
    T paddingValue = T{};
};

} // namespace AscendC

namespace tdc_twin
{

/* The twin works on plain addresses; with address spaces it is only compiled, never run. */
template <typename T> uint8_t *plain_address(const AscendC::GlobalTensor<T> &tensor)
{
    return (uint8_t *)(uintptr_t)tensor.GetPhyAddr();
}

inline void check_move(uint64_t bytes)
{
    if (bytes == 0 || bytes % UB_BLOCK != 0 || bytes / UB_BLOCK > 65535)
        here().complain("a move of " + std::to_string(bytes) + " bytes");
}

inline void check_padded(const AscendC::DataCopyExtParams &p)
{
    if (p.blockCount > 4095 || p.blockLen > 2097151)
        here().complain("a padded move of " + std::to_string(p.blockCount) + " blocks of " +
                        std::to_string(p.blockLen) + " bytes");
}

inline uint32_t whole_blocks(uint32_t bytes)
{
    return (bytes + UB_BLOCK - 1) / UB_BLOCK * UB_BLOCK;
}

} // namespace tdc_twin

namespace AscendC
{

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count)
{
    using namespace tdc_twin;
    const uint64_t bytes = uint64_t{count} * sizeof(T);
    check_move(bytes);
    here().check_global("src", plain_address(src), bytes, false);
    void *to = dst.twin_data();
    const void *from = plain_address(src);
    /* small moves wait for each other */
    const bool arrives =
        flaw != TDC_TWIN_STALE_BUFFERS || bytes < 4096 || here().copies_into(to) == 0;
    here().issue({"DataCopy",
                  QUEUE_MTE2,
                  0,
                  {operand_of("dst", dst, count, true)},
                  [=] {
                      if (arrives)
                          memcpy(to, from, bytes);
                  },
                  false});
}

template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count)
{
    using namespace tdc_twin;
    const uint64_t bytes = uint64_t{count} * sizeof(T);
    check_move(bytes);
    here().check_global("dst", plain_address(dst), bytes, true);
    void *to = plain_address(dst);
    const void *from = src.twin_data();
    here().issue({"DataCopy",
                  QUEUE_MTE3,
                  0,
                  {operand_of("src", src, count, false)},
                  [=] { memcpy(to, from, bytes); },
                  false});
}

/* Padding and data of a block are followed by garbage up to the next 32 bytes. */
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                 const DataCopyExtParams &params, const DataCopyPadExtParams<T> &pad)
{
    using namespace tdc_twin;
    check_padded(params);
    const uint32_t left = pad.isPad ? pad.leftPadding : 0, right = pad.isPad ? pad.rightPadding : 0;
    if ((left > right ? left : right) * sizeof(T) > UB_BLOCK)
        here().complain("more than 32 bytes of padding");
    const uint32_t size = sizeof(T), body = params.blockLen;
    const uint32_t used = left * size + body + right * size, room = whole_blocks(used);
    for (uint32_t k = 0; k < params.blockCount; k++) {
        const LocalTensor<T> to = dst[k * (room + params.dstStride * UB_BLOCK) / size];
        const uint8_t *from = plain_address(src) + uint64_t{k} * (body + params.srcStride);
        here().check_global("src", from, body, false, sizeof(T));
        uint8_t *bytes = reinterpret_cast<uint8_t *>(to.twin_data());
        const T value = pad.paddingValue;
        here().issue({"DataCopyPad",
                      QUEUE_MTE2,
                      0,
                      {operand_of("dst", to, room / size, true)},
                      [=] {
                          memset(bytes, 0xfb, room);
                          for (uint32_t i = 0; i < left; i++)
                              memcpy(bytes + i * size, &value, size);
                          memcpy(bytes + left * size, from, body);
                          for (uint32_t i = 0; i < right; i++)
                              memcpy(bytes + left * size + body + i * size, &value, size);
                      },
                      false});
        here().forget(to.twin_at() + used, room - used);
    }
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                 const DataCopyExtParams &params)
{
    using namespace tdc_twin;
    check_padded(params);
    const uint32_t body = params.blockLen, room = whole_blocks(body);
    for (uint32_t k = 0; k < params.blockCount; k++) {
        const LocalTensor<T> from =
            src[k * (room + params.srcStride * UB_BLOCK) / static_cast<uint32_t>(sizeof(T))];
        uint8_t *to = plain_address(dst) + uint64_t{k} * (body + params.dstStride);
        here().check_global("dst", to, body, true, sizeof(T));
        const void *bytes = from.twin_data();
        here().issue({"DataCopyPad",
                      QUEUE_MTE3,
                      0,
                      {operand_of("src", from, body / sizeof(T), false)},
                      [=] { memcpy(to, bytes, body); },
                      false});
    }
}

} // namespace AscendC

#endif
