/*
 * tile_input.h - how a kernel begins, and one side of the pairs on its way to the vector unit.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_INPUT_H
#define TDC_KERNELS_ASCEND_TILE_INPUT_H

#include "kernel_operator.h"
#include "tile_layout.h"

/* Entry points are written __aicore__ in project builds, __vector__ in the ASC language. */
#ifdef TDC_ASC_LANGUAGE
#define TDC_KERNEL __vector__
#else
#define TDC_KERNEL __aicore__
#endif

namespace tdc_ascend
{
using namespace AscendC;

enum class rule {
    native, /* TDC_RELATIVE_NATIVE */
    exact   /* TDC_RELATIVE_F64 */
};

template <typename T> struct is_half {
    static constexpr bool value = false;
};
template <> struct is_half<half> {
    static constexpr bool value = true;
};

/* Values as they come or, where `widens`, as f32. 16-bit values leave their queue at once then. */
template <typename T, bool widens> class side
{
  public:
    static constexpr bool stays = !widens || sizeof(T) == sizeof(float);

    __aicore__ inline void open(TPipe *pipe, GM_ADDR tensor, uint64_t tiles)
    {
        values.SetGlobalBuffer((__gm__ T *)tensor, tiles * TDC_TILE_PAIRS);
        pipe->InitBuffer(queue, 2, TDC_TILE_PAIRS * sizeof(T));
        if constexpr (!stays)
            pipe->InitBuffer(widened, TDC_TILE_PAIRS * sizeof(float));
    }

    __aicore__ inline void load(uint64_t tile)
    {
        LocalTensor<T> to = queue.template AllocTensor<T>();
        DataCopy(to, values[tile * TDC_TILE_PAIRS], TDC_TILE_PAIRS);
        queue.template EnQue<T>(to);
    }

    __aicore__ inline auto take()
    {
        arrived = queue.template DeQue<T>();
        if constexpr (stays) {
            return arrived;
        } else {
            const LocalTensor<float> to = widened.template Get<float>();
            Cast(to, arrived, RoundMode::CAST_NONE, TDC_TILE_PAIRS);
            PipeBarrier<PIPE_V>();
            queue.FreeTensor(arrived);
            return to;
        }
    }

    __aicore__ inline void finish()
    {
        if constexpr (stays)
            queue.FreeTensor(arrived);
    }

  private:
    GlobalTensor<T> values;
    TQue<TPosition::VECIN, 1> queue;
    TBuf<TPosition::VECCALC> widened;
    LocalTensor<T> arrived;
};

} // namespace tdc_ascend

#endif
