#include "host/engine/ascend/kernel_list.h"

const struct tdc_ascend_kernel_spec tdc_ascend_kernels[TDC_ASCEND_KERNELS + 1] = {
    {"tdc_pair_f32", TDC_F32, TDC_F32, TDC_RELATIVE_NATIVE, TDC_TILE_PAIRS},
    {"tdc_pair_f16", TDC_F16, TDC_F16, TDC_RELATIVE_NATIVE, TDC_TILE_PAIRS},
    {"tdc_pair_bf16", TDC_BF16, TDC_BF16, TDC_RELATIVE_NATIVE, TDC_TILE_PAIRS},
    {"tdc_pair_bf16_f32", TDC_BF16, TDC_F32, TDC_RELATIVE_NATIVE, TDC_TILE_PAIRS},
    {"tdc_pair_f32_bf16", TDC_F32, TDC_BF16, TDC_RELATIVE_NATIVE, TDC_TILE_PAIRS},
    {"tdc_pair_f32_exact", TDC_F32, TDC_F32, TDC_RELATIVE_F64, TDC_TILE_PAIRS},
    {"tdc_pair_f16_exact", TDC_F16, TDC_F16, TDC_RELATIVE_F64, TDC_TILE_PAIRS},
    {"tdc_pair_bf16_exact", TDC_BF16, TDC_BF16, TDC_RELATIVE_F64, TDC_TILE_PAIRS},
    {"tdc_pair_bf16_f32_exact", TDC_BF16, TDC_F32, TDC_RELATIVE_F64, TDC_TILE_PAIRS},
    {"tdc_pair_f32_bf16_exact", TDC_F32, TDC_BF16, TDC_RELATIVE_F64, TDC_TILE_PAIRS},
    {"tdc_probe", TDC_F32, TDC_F32, TDC_RELATIVE_NATIVE, TDC_PROBE_PAIRS},
};

int tdc_ascend_kernel_for(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule)
{
    for (int i = 0; i < TDC_ASCEND_KERNELS; i++)
        if (tdc_ascend_kernels[i].n_dtype == n_dtype && tdc_ascend_kernels[i].b_dtype == b_dtype &&
            tdc_ascend_kernels[i].rule == rule)
            return i;
    return -1;
}
