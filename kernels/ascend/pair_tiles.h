/*
 * pair_tiles.h - the kernel: a block takes its share of the tiles and leaves one record for each.
 *
 * While a tile is computed the next one is on its way into the other buffer of each queue. No state
 * goes from tile to tile, so records do not depend on the number of blocks.
 */
#ifndef TDC_KERNELS_ASCEND_PAIR_TILES_H
#define TDC_KERNELS_ASCEND_PAIR_TILES_H

#include "tile_sums.h"

/* Entry points are written __aicore__ in project builds, __vector__ in the ASC language. */
#ifdef TDC_ASC_LANGUAGE
#define TDC_KERNEL __vector__
#else
#define TDC_KERNEL __aicore__
#endif

namespace tdc_ascend
{

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

/* One side: values as they come, and as f32. 16-bit values leave their queue at once. */
template <typename T> class side
{
  public:
    static constexpr bool wide = sizeof(T) == sizeof(float);

    __aicore__ inline void open(TPipe *pipe, GM_ADDR tensor, uint64_t tiles)
    {
        values.SetGlobalBuffer((__gm__ T *)tensor, tiles * TILE);
        pipe->InitBuffer(queue, 2, TILE * sizeof(T));
        if constexpr (!wide)
            pipe->InitBuffer(widened, TILE * sizeof(float));
    }

    __aicore__ inline void load(uint64_t tile)
    {
        LocalTensor<T> to = queue.template AllocTensor<T>();
        DataCopy(to, values[tile * TILE], TILE);
        queue.template EnQue<T>(to);
    }

    __aicore__ inline lanes take()
    {
        arrived = queue.template DeQue<T>();
        if constexpr (wide) {
            return arrived;
        } else {
            const lanes to = widened.template Get<float>();
            Cast(to, arrived, RoundMode::CAST_NONE, TILE);
            settle();
            queue.FreeTensor(arrived);
            return to;
        }
    }

    __aicore__ inline void finish()
    {
        if constexpr (wide)
            queue.FreeTensor(arrived);
    }

  private:
    GlobalTensor<T> values;
    TQue<TPosition::VECIN, 1> queue;
    TBuf<TPosition::VECCALC> widened;
    LocalTensor<T> arrived;
};

template <typename N, typename B, rule relative> class pair_tiles
{
  public:
    __aicore__ inline void run(TPipe *pipe, GM_ADDR n, GM_ADDR b, GM_ADDR records, uint64_t tiles)
    {
        const uint64_t blocks = static_cast<uint64_t>(GetBlockNum());
        const uint64_t share = (tiles + blocks - 1) / blocks;
        const uint64_t start = static_cast<uint64_t>(GetBlockIdx()) * share;
        if (start >= tiles)
            return;
        const uint64_t end = start + share < tiles ? start + share : tiles;
        open(pipe, n, b, records, tiles);
        n_side.load(start);
        b_side.load(start);
        for (uint64_t tile = start; tile < end; tile++) {
            current.n = n_side.take();
            current.b = b_side.take();
            if (tile + 1 < end) {
                n_side.load(tile + 1);
                b_side.load(tile + 1);
            }
            compute();
            n_side.finish();
            b_side.finish();
            store(tile);
        }
    }

  private:
    /* Products of such values need no second float. */
    static constexpr bool short_values = sizeof(N) == 2 && sizeof(B) == 2;
    static constexpr bool half_values = is_half<N>::value;

    __aicore__ inline void open(TPipe *pipe, GM_ADDR n, GM_ADDR b, GM_ADDR records, uint64_t tiles)
    {
        n_side.open(pipe, n, tiles);
        b_side.open(pipe, b, tiles);
        results.SetGlobalBuffer((__gm__ float *)records, tiles * TDC_TILE_RECORD_FLOATS);
        pipe->InitBuffer(record_queue, 2, TDC_TILE_RECORD_BYTES);
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

    __aicore__ inline void compute()
    {
        constexpr float mark = relative == rule::exact ? TDC_TILE_MARK_EXACT : TDC_TILE_MARK_NATIVE;
        current.record = record_queue.template AllocTensor<float>();
        Duplicate(current.record[TDC_TILE_N_MAX], 0.0f, 8);
        Duplicate(current.record[TDC_TILE_N_MIN], mark, 8);
        settle();
        mark_finite(current);
        sum_values<short_values>(current);
        take_differences(current);
        sum_differences(current);
        if constexpr (relative == rule::exact)
            exact_f64(current);
        else if constexpr (half_values)
            native_f16(current);
        else
            native_f32<sizeof(B) == sizeof(float)>(current);
    }

    __aicore__ inline void store(uint64_t tile)
    {
        record_queue.template EnQue<float>(current.record);
        LocalTensor<float> done = record_queue.template DeQue<float>();
        DataCopy(results[tile * TDC_TILE_RECORD_FLOATS], done, TDC_TILE_RECORD_FLOATS);
        record_queue.FreeTensor(done);
    }

    side<N> n_side;
    side<B> b_side;
    GlobalTensor<float> results;
    TQue<TPosition::VECOUT, 1> record_queue;
    TBuf<TPosition::VECCALC> work_buffers[WORK_TENSORS], mask_buffers[MASKS], hold_buffer;
    tile_work current;
};

} // namespace tdc_ascend

#endif
