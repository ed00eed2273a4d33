/*
 * device_memory.h - tensors, buffers, queues and flags of Ascend C.
 */
#ifndef TDC_TESTS_TWIN_DEVICE_MEMORY_H
#define TDC_TESTS_TWIN_DEVICE_MEMORY_H

#include <exception>

#include "tests/twin/device_types.h"

namespace AscendC
{

template <typename T> class GlobalTensor
{
  public:
    void SetGlobalBuffer(__gm__ T *buffer, uint64_t elements)
    {
        start = buffer;
        size = elements;
    }
    void SetGlobalBuffer(__gm__ T *buffer)
    {
        SetGlobalBuffer(buffer, UINT64_MAX);
    }
    GlobalTensor operator[](const uint64_t offset) const
    {
        if (offset > size)
            tdc_twin::here().complain("an element behind the end of a global tensor");
        GlobalTensor rest;
        rest.start = start + offset;
        rest.size = size - offset;
        return rest;
    }
    const __gm__ T *GetPhyAddr() const
    {
        return start;
    }
    __gm__ T *GetPhyAddr(const uint64_t offset) const
    {
        return start + offset;
    }
    /* by the scalar unit */
    T GetValue(const uint64_t offset) const
    {
        tdc_twin::here().check_global("GetValue", plain(offset), sizeof(T), false, sizeof(T));
        return *plain(offset);
    }
    void SetValue(const uint64_t offset, T value)
    {
        tdc_twin::here().check_global("SetValue", plain(offset), sizeof(T), true, sizeof(T));
        *plain(offset) = value;
    }
    uint64_t GetSize() const
    {
        return size;
    }

  private:
    /* The twin works on plain addresses; with address spaces it is only compiled, never run. */
    T *plain(uint64_t offset) const
    {
        return (T *)(uintptr_t)(start + offset);
    }
    __gm__ T *start = nullptr;
    uint64_t size = 0;
};

/* A piece of UB. `region` names the buffer it was cut from, which no access may leave. */
template <typename T> class LocalTensor
{
  public:
    LocalTensor() = default;
    LocalTensor(int region_, uint32_t at_, uint32_t size_) : region(region_), at(at_), size(size_)
    {
    }
    LocalTensor operator[](const uint32_t offset) const
    {
        if (offset > size)
            tdc_twin::here().complain("an element behind the end of a tensor");
        return LocalTensor(region, at + offset * static_cast<uint32_t>(sizeof(T)), size - offset);
    }
    template <typename U> LocalTensor<U> ReinterpretCast() const
    {
        return LocalTensor<U>(region, at, static_cast<uint32_t>(size * sizeof(T) / sizeof(U)));
    }
    uint32_t GetSize() const
    {
        return size;
    }
    void SetSize(const uint32_t elements)
    {
        size = elements;
    }
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
    /* for vector functions */
    __ubuf__ T *GetPhyAddr() const
    {
        return (__ubuf__ T *)twin_data();
    }
#endif
    /* by the scalar unit: the kernel must have waited for whoever wrote the element */
    T GetValue(const uint32_t offset) const;
    template <typename S> void SetValue(const uint32_t offset, const S value) const;

    /* The twin's own: where it lies. */
    int twin_region() const
    {
        return region;
    }
    uint32_t twin_at() const
    {
        return at;
    }
    T *twin_data() const
    {
        return reinterpret_cast<T *>(tdc_twin::here().ub(at));
    }

  private:
    int region = -1;
    uint32_t at = 0, size = 0;
};

template <TPosition position, int32_t depth, auto mask = 0> class TQue
{
    static_assert(position == TPosition::VECIN || position == TPosition::VECOUT,
                  "queues stand between memory and the vector unit");

  public:
    template <typename T> LocalTensor<T> AllocTensor()
    {
        return whole<T>(tdc_twin::here().allocate(queue));
    }
    template <typename T> bool EnQue(const LocalTensor<T> &tensor)
    {
        tdc_twin::here().enqueue(queue, tensor.twin_region(), tensor.twin_at());
        return true;
    }
    template <typename T> LocalTensor<T> DeQue()
    {
        return whole<T>(tdc_twin::here().dequeue(queue));
    }
    template <typename T> void FreeTensor(LocalTensor<T> &tensor)
    {
        tdc_twin::here().release(queue, tensor.twin_region(), tensor.twin_at());
    }
    bool HasTensorInQue() const
    {
        return GetTensorCountInQue() != 0;
    }
    bool VacantInQue() const
    {
        return GetTensorCountInQue() < depth;
    }
    bool HasIdleBuffer() const
    {
        const tdc_twin::tensor_queue &q = tdc_twin::here().queue_of(queue);
        return q.buffers[q.next].state == tdc_twin::BUFFER_FREE;
    }
    int32_t GetTensorCountInQue() const
    {
        return static_cast<int32_t>(tdc_twin::here().queue_of(queue).waiting.size());
    }

  private:
    friend class TPipe;
    template <typename T> LocalTensor<T> whole(int region) const
    {
        tdc_twin::core &core = tdc_twin::here();
        return LocalTensor<T>(region, core.region_start(region),
                              core.region_bytes(region) / static_cast<uint32_t>(sizeof(T)));
    }
    int queue = -1;
};

template <TPosition position = TPosition::LCM> class TBuf
{
  public:
    template <typename T> LocalTensor<T> Get()
    {
        tdc_twin::core &core = tdc_twin::here();
        if (region < 0)
            core.complain("a buffer without InitBuffer");
        return LocalTensor<T>(region, core.region_start(region),
                              core.region_bytes(region) / static_cast<uint32_t>(sizeof(T)));
    }
    template <typename T> LocalTensor<T> Get(uint32_t elements)
    {
        LocalTensor<T> tensor = Get<T>();
        if (elements > tensor.GetSize())
            tdc_twin::here().complain("more elements than the buffer has");
        tensor.SetSize(elements);
        return tensor;
    }

  private:
    friend class TPipe;
    int region = -1;
};

class TPipe
{
  public:
    TPipe()
    {
        tdc_twin::here().open_pipe();
    }
    ~TPipe() noexcept(false)
    {
        if (std::uncaught_exceptions() == 0)
            tdc_twin::here().finish();
    }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;

    template <TPosition position, int32_t depth, auto mask>
    bool InitBuffer(TQue<position, depth, mask> &que, uint8_t num, uint32_t bytes)
    {
        using tdc_twin::flag_of;
        constexpr bool in = position == TPosition::VECIN;
        que.queue = tdc_twin::here().add_queue(flag_of(in ? HardEvent::MTE2_V : HardEvent::V_MTE3),
                                               flag_of(in ? HardEvent::V_MTE2 : HardEvent::MTE3_V),
                                               depth, num, bytes);
        return true;
    }
    template <TPosition position> bool InitBuffer(TBuf<position> &buf, uint32_t bytes)
    {
        buf.region = tdc_twin::here().add_region(bytes);
        return true;
    }
    template <HardEvent event> TEventID AllocEventID()
    {
        return static_cast<TEventID>(tdc_twin::here().take_event(tdc_twin::flag_of(event)));
    }
    template <HardEvent event> void ReleaseEventID(TEventID id)
    {
        tdc_twin::here().give_event(tdc_twin::flag_of(event), static_cast<uint32_t>(id));
    }
    TEventID FetchEventID(HardEvent event)
    {
        const tdc_twin::flag which = tdc_twin::flag_of(event);
        const uint32_t id = tdc_twin::here().take_event(which);
        tdc_twin::here().give_event(which, id);
        return static_cast<TEventID>(id);
    }
};

template <HardEvent event> void SetFlag(int32_t id)
{
    tdc_twin::here().set_flag(tdc_twin::flag_of(event), static_cast<uint32_t>(id));
}

template <HardEvent event> void WaitFlag(int32_t id)
{
    tdc_twin::here().wait_flag(tdc_twin::flag_of(event), static_cast<uint32_t>(id));
}

template <pipe_t pipe> void PipeBarrier()
{
    static_assert(pipe != PIPE_S, "the scalar unit needs no barrier");
    constexpr int queue = pipe == PIPE_V      ? tdc_twin::QUEUE_V
                          : pipe == PIPE_MTE2 ? tdc_twin::QUEUE_MTE2
                          : pipe == PIPE_MTE3 ? tdc_twin::QUEUE_MTE3
                                              : tdc_twin::QUEUES;
    tdc_twin::here().barrier(queue);
}

inline int64_t GetBlockIdx()
{
    return tdc_twin::here().block;
}

inline int64_t GetBlockNum()
{
    return tdc_twin::here().blocks;
}

} // namespace AscendC

namespace tdc_twin
{

template <typename T>
operand operand_of(const char *name, const AscendC::LocalTensor<T> &tensor, uint64_t elements,
                   bool written, uint32_t alignment = UB_BLOCK)
{
    uint64_t bytes = elements * sizeof(T);
    if (bytes > UB_BYTES)
        here().complain(std::string(name) + " is larger than UB");
    return {name,
            tensor.twin_region(),
            tensor.twin_at(),
            static_cast<uint32_t>(bytes),
            alignment,
            sizeof(T),
            written};
}

} // namespace tdc_twin

namespace AscendC
{

template <typename T> T LocalTensor<T>::GetValue(const uint32_t offset) const
{
    using namespace tdc_twin;
    here().issue({"GetValue",
                  QUEUE_S,
                  1,
                  {operand_of("tensor", (*this)[offset], 1, false, sizeof(T))},
                  [] {},
                  false});
    here().run_pending();
    return twin_data()[offset];
}

template <typename T>
template <typename S>
void LocalTensor<T>::SetValue(const uint32_t offset, const S value) const
{
    using namespace tdc_twin;
    T *to = twin_data() + offset;
    here().issue({"SetValue",
                  QUEUE_S,
                  1,
                  {operand_of("tensor", (*this)[offset], 1, true, sizeof(T))},
                  [=] { *to = static_cast<T>(value); },
                  false});
}

} // namespace AscendC

#endif
