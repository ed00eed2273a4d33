/*
 * pair_tiles.h - the kernel: a block takes its share of the tiles and leaves one record for each.
 *
 * While a tile is computed the next one is on its way into the other buffer of each queue. No state
 * goes from tile to tile, so records do not depend on the number of blocks.
 */
#ifndef TDC_KERNELS_ASCEND_PAIR_TILES_H
#define TDC_KERNELS_ASCEND_PAIR_TILES_H

#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
#include "register_tile.h"
#define TDC_TILE_KIND register_tile
#else
#include "memory_tile.h"
#define TDC_TILE_KIND memory_tile
#endif

namespace tdc_ascend
{

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
            const auto n_values = n_side.take();
            const auto b_values = b_side.take();
            if (tile + 1 < end) {
                n_side.load(tile + 1);
                b_side.load(tile + 1);
            }
            const LocalTensor<float> record = begin_record();
            work.compute(n_values, b_values, record);
            n_side.finish();
            b_side.finish();
            store(record, tile);
        }
    }

  private:
    using tile_kind = TDC_TILE_KIND<N, B, relative>;

    __aicore__ inline void open(TPipe *pipe, GM_ADDR n, GM_ADDR b, GM_ADDR records, uint64_t tiles)
    {
        n_side.open(pipe, n, tiles);
        b_side.open(pipe, b, tiles);
        results.SetGlobalBuffer((__gm__ float *)records, tiles * TDC_TILE_RECORD_FLOATS);
        pipe->InitBuffer(record_queue, 2, TDC_TILE_RECORD_BYTES);
        work.open(pipe);
    }

    /* What a kernel does not count is 0, and its mark stands where its last maximum may not. */
    __aicore__ inline LocalTensor<float> begin_record()
    {
        constexpr float mark = relative == rule::exact ? TDC_TILE_MARK_EXACT : TDC_TILE_MARK_NATIVE;
        const LocalTensor<float> record = record_queue.template AllocTensor<float>();
        Duplicate(record[TDC_TILE_N_MAX], 0.0f, 8);
        Duplicate(record[TDC_TILE_N_MIN], mark, 8);
        PipeBarrier<PIPE_V>();
        return record;
    }

    __aicore__ inline void store(const LocalTensor<float> &record, uint64_t tile)
    {
        record_queue.template EnQue<float>(record);
        LocalTensor<float> done = record_queue.template DeQue<float>();
        DataCopy(results[tile * TDC_TILE_RECORD_FLOATS], done, TDC_TILE_RECORD_FLOATS);
        record_queue.FreeTensor(done);
    }

    side<N, tile_kind::widens> n_side;
    side<B, tile_kind::widens> b_side;
    GlobalTensor<float> results;
    TQue<TPosition::VECOUT, 1> record_queue;
    tile_kind work;
};

} // namespace tdc_ascend

#endif
