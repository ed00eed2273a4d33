/*
 * probe_arithmetic.cpp - what the vector unit makes of single numbers, before it is trusted with
 * tensors: every other kernel relies on additions and products that are rounded to nearest, keep
 * subnormals, and on a quotient that is a unit off at most.
 *
 * tdc_probe(n, b, records, tiles): a tile is TDC_PROBE_PAIRS pairs of f32 here. Its record holds
 * TDC_PROBE_PAIRS results of each operation (tile_layout.h).
 */
#include "lane_arithmetic.h"
#include "tile_input.h"

namespace tdc_ascend
{

class arithmetic_probe
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
        left.SetGlobalBuffer((__gm__ float *)n, tiles * PAIRS);
        right.SetGlobalBuffer((__gm__ float *)b, tiles * PAIRS);
        results.SetGlobalBuffer((__gm__ float *)records, tiles * TDC_TILE_RECORD_FLOATS);
        pipe->InitBuffer(left_queue, 1, PAIRS * sizeof(float));
        pipe->InitBuffer(right_queue, 1, PAIRS * sizeof(float));
        pipe->InitBuffer(record_queue, 1, TDC_TILE_RECORD_BYTES);
        pipe->InitBuffer(narrow_buffer, PAIRS * sizeof(half));
        for (uint64_t tile = start; tile < end; tile++)
            probe(tile);
    }

  private:
    static constexpr int32_t PAIRS = TDC_PROBE_PAIRS;

    __aicore__ inline void load(TQue<TPosition::VECIN, 1> &queue, GlobalTensor<float> &from,
                                uint64_t tile)
    {
        LocalTensor<float> to = queue.template AllocTensor<float>();
        DataCopy(to, from[tile * PAIRS], PAIRS);
        queue.template EnQue<float>(to);
    }

    template <typename T>
    __aicore__ inline void narrow(const lanes &to, const lanes &from, const LocalTensor<T> &between)
    {
        Cast(between, from, RoundMode::CAST_RINT, PAIRS);
        settle();
        Cast(to, between, RoundMode::CAST_NONE, PAIRS);
        settle();
    }

    __aicore__ inline void compute(const lanes &record, const lanes &x, const lanes &y)
    {
        const lanes fused = record[TDC_PROBE_FUSED];
        Add(record[TDC_PROBE_ADD], x, y, PAIRS);
        Sub(record[TDC_PROBE_SUB], x, y, PAIRS);
        Mul(record[TDC_PROBE_MUL], x, y, PAIRS);
        Div(record[TDC_PROBE_DIV], x, y, PAIRS);
        Muls(record[TDC_PROBE_SCALED], x, 4097.0f, PAIRS);
        settle();
        Muls(fused, record[TDC_PROBE_MUL], -1.0f, PAIRS);
        settle();
        MulAddDst(fused, x, y, PAIRS);
        narrow(record[TDC_PROBE_HALF], x, narrow_buffer.template Get<half>());
        narrow(record[TDC_PROBE_BFLOAT], x, narrow_buffer.template Get<bfloat16_t>());
    }

    __aicore__ inline void probe(uint64_t tile)
    {
        load(left_queue, left, tile);
        load(right_queue, right, tile);
        LocalTensor<float> x = left_queue.template DeQue<float>();
        LocalTensor<float> y = right_queue.template DeQue<float>();
        LocalTensor<float> record = record_queue.template AllocTensor<float>();
        compute(record, x, y);
        left_queue.FreeTensor(x);
        right_queue.FreeTensor(y);
        record_queue.template EnQue<float>(record);
        LocalTensor<float> done = record_queue.template DeQue<float>();
        DataCopy(results[tile * TDC_TILE_RECORD_FLOATS], done, TDC_TILE_RECORD_FLOATS);
        record_queue.FreeTensor(done);
    }

    GlobalTensor<float> left, right, results;
    TQue<TPosition::VECIN, 1> left_queue, right_queue;
    TQue<TPosition::VECOUT, 1> record_queue;
    TBuf<TPosition::VECCALC> narrow_buffer;
};

} // namespace tdc_ascend

extern "C" __global__ TDC_KERNEL void tdc_probe(GM_ADDR n, GM_ADDR b, GM_ADDR records,
                                                uint64_t tiles)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    AscendC::TPipe pipe;
    tdc_ascend::arithmetic_probe work;
    work.run(&pipe, n, b, records, tiles);
}
