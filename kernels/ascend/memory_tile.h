/*
 * memory_tile.h - one tile on architecture 2201, whose vector unit works from UB to UB.
 */
#ifndef TDC_KERNELS_ASCEND_MEMORY_TILE_H
#define TDC_KERNELS_ASCEND_MEMORY_TILE_H

#include "tile_input.h"
#include "tile_sums.h"

namespace tdc_ascend
{

template <typename N, typename B, rule relative> class memory_tile
{
  public:
    static constexpr bool widens = true;

    __aicore__ inline void open(TPipe *pipe)
    {
        for (int32_t i = 0; i < WORK_TENSORS; i++)
            pipe->InitBuffer(work_buffers[i], TILE * sizeof(float));
        for (int32_t i = 0; i < MASKS; i++)
            pipe->InitBuffer(mask_buffers[i], MASK_BYTES);
        pipe->InitBuffer(hold_buffer, HOLD_FLOATS * sizeof(float));
        for (int32_t i = 0; i < WORK_TENSORS; i++)
            current.work[i] = work_buffers[i].template Get<float>();
        for (int32_t i = 0; i < MASKS; i++)
            current.masks[i] = mask_buffers[i].template Get<uint8_t>();
        current.hold = hold_buffer.template Get<float>();
    }

    __aicore__ inline void compute(const lanes &n, const lanes &b, const lanes &record)
    {
        current.n = n;
        current.b = b;
        current.record = record;
        mark_finite(current);
        sum_values<short_values>(current);
        take_differences(current);
        sum_differences(current);
        if constexpr (relative == rule::exact)
            exact_f64(current);
        else if constexpr (is_half<N>::value)
            native_f16(current);
        else
            native_f32<sizeof(B) == sizeof(float)>(current);
    }

  private:
    /* Products of such values need no second float. */
    static constexpr bool short_values = sizeof(N) == 2 && sizeof(B) == 2;

    TBuf<TPosition::VECCALC> work_buffers[WORK_TENSORS], mask_buffers[MASKS], hold_buffer;
    tile_work current;
};

} // namespace tdc_ascend

#endif
