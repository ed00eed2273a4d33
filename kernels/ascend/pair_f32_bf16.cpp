#include "pair_tiles.h"

extern "C" __global__ TDC_KERNEL void tdc_pair_f32_bf16(GM_ADDR n, GM_ADDR b, GM_ADDR records,
                                                        uint64_t tiles)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    AscendC::TPipe pipe;
    tdc_ascend::pair_tiles<float, bfloat16_t, tdc_ascend::rule::native> work;
    work.run(&pipe, n, b, records, tiles);
}
