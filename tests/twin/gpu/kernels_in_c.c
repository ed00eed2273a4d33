/* kernels_in_c.c - see kernels_in_c.h. */
#include "tests/twin/gpu/kernels_in_c.h"

#include "tests/twin/gpu/dialect_c.h"

#include "kernels/gpu/decode_bits.h"
#include "kernels/gpu/join_lanes.h"
#include "kernels/gpu/pair_lanes.h"

typedef void pair_kernel(const gpu_u8 *n, const gpu_u8 *b, const gpu_u32 *table, gpu_u64 *lanes,
                         struct gpu_pair pair);

static pair_kernel *const kernels[TDC_GPU_JOIN] = {
    tdc_pair_any,
    tdc_pair_f32_exact,
    tdc_pair_bf16_exact,
    tdc_pair_f16_exact,
    tdc_pair_bf16_f32_exact,
    tdc_pair_f32_bf16_exact,
    tdc_pair_f32_native,
    tdc_pair_bf16_native,
    tdc_pair_f16_native,
    tdc_pair_bf16_f32_native,
    tdc_pair_f32_bf16_native,
};

void gpu_run_in_c(unsigned kernel, uint64_t items, void *const *arguments)
{
    void *const *first = arguments[0], *const *second = arguments[1], *const *third = arguments[2];
    for (uint64_t item = 0; item < items; item++) {
        gpu_work_item = item;
        if (kernel == TDC_GPU_JOIN)
            tdc_join_lanes(*first, *second, *third, *(const struct gpu_pair *)arguments[3]);
        else
            kernels[kernel](*first, *second, *third, *(gpu_u64 *const *)arguments[3],
                            *(const struct gpu_pair *)arguments[4]);
    }
}
