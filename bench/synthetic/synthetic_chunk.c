#include "bench/synthetic/synthetic_chunk.h"

#include <string.h>
#include <zlib.h>

bool tdc_chunk_differs(const struct tdc_chunk_plan *plan)
{
    return plan->fault || plan->rounded || plan->noisy || plan->mixed;
}

static uint32_t crc_of(const void *bytes, size_t size)
{
    return (uint32_t)crc32(0, bytes, (uInt)size);
}

/* Elements of the NPU side, at most a block. */
static void make_npu(const struct tdc_chunk_plan *plan, uint64_t block, size_t count,
                     const void *bench, void *npu)
{
    tdc_dtype dtype = plan->values[TDC_SIDE_NPU].dtype;
    if (plan->mixed)
        tdc_values_fill(&plan->values[TDC_SIDE_NPU], block, count, npu);
    else
        memcpy(npu, bench, count * tdc_dtype_size(dtype));
    if (plan->rounded)
        tdc_values_round(dtype, npu, count);
    if (plan->noisy)
        tdc_values_disturb(&plan->values[TDC_SIDE_NPU], block, count, npu);
    if (plan->fault)
        tdc_values_spike(dtype, npu, count);
}

void tdc_chunk_make(const struct tdc_chunk_plan *plan, uint64_t first, size_t count,
                    unsigned char *const buffers[TDC_SIDES],
                    struct tdc_values_statistics *const statistics[TDC_SIDES],
                    uint32_t crcs[TDC_SIDES])
{
    tdc_dtype npu_dtype = plan->values[TDC_SIDE_NPU].dtype,
              bench_dtype = plan->values[TDC_SIDE_BENCH].dtype;
    size_t npu_width = tdc_dtype_size(npu_dtype), bench_width = tdc_dtype_size(bench_dtype);
    bool differ = tdc_chunk_differs(plan);
    for (size_t done = 0; done < count; done += TDC_VALUES_BLOCK) {
        size_t part = count - done < TDC_VALUES_BLOCK ? count - done : TDC_VALUES_BLOCK;
        uint64_t block = (first + done) / TDC_VALUES_BLOCK;
        unsigned char *bench = buffers[TDC_SIDE_BENCH] + done * bench_width;
        unsigned char *npu = buffers[TDC_SIDE_NPU] + done * npu_width;
        tdc_values_fill(&plan->values[TDC_SIDE_BENCH], block, part, bench);
        tdc_values_statistics_add(statistics[TDC_SIDE_BENCH], bench_dtype, bench, part);
        if (!differ)
            continue;
        make_npu(plan, block, part, bench, npu);
        tdc_values_statistics_add(statistics[TDC_SIDE_NPU], npu_dtype, npu, part);
    }
    if (plan->crc) {
        crcs[TDC_SIDE_BENCH] = crc_of(buffers[TDC_SIDE_BENCH], count * bench_width);
        crcs[TDC_SIDE_NPU] =
            differ ? crc_of(buffers[TDC_SIDE_NPU], count * npu_width) : crcs[TDC_SIDE_BENCH];
    }
}
