/* The kernels of kernels/ascend with the bytes of an element of n and of b, and the pairs of a tile
 * where they are not TDC_TILE_PAIRS. No include guard. */
TDC_TWIN_KERNEL(tdc_pair_f32, 4, 4)
TDC_TWIN_KERNEL(tdc_pair_f16, 2, 2)
TDC_TWIN_KERNEL(tdc_pair_bf16, 2, 2)
TDC_TWIN_KERNEL(tdc_pair_bf16_f32, 2, 4)
TDC_TWIN_KERNEL(tdc_pair_f32_bf16, 4, 2)
TDC_TWIN_KERNEL(tdc_pair_f32_exact, 4, 4)
TDC_TWIN_KERNEL(tdc_pair_f16_exact, 2, 2)
TDC_TWIN_KERNEL(tdc_pair_bf16_exact, 2, 2)
TDC_TWIN_KERNEL(tdc_pair_bf16_f32_exact, 2, 4)
TDC_TWIN_KERNEL(tdc_pair_f32_bf16_exact, 4, 2)
TDC_TWIN_KERNEL(tdc_probe, 4, 4, TDC_PROBE_PAIRS)
