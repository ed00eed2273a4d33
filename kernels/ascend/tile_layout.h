/*
 * tile_layout.h - what a device kernel leaves behind for each tile of TDC_TILE_PAIRS pairs.
 *
 * Constants only, for C11, C++17 and device code. Arguments of every kernel, each 8 bytes:
 *     tdc_pair_<x>(n, b, records, tiles)
 * n and b are `tiles` whole tiles of their dtype, aligned to 32 bytes (512: fastest); records has
 * TDC_TILE_RECORD_BYTES per tile, aligned to 512 bytes. Names, n before b (bf16 counts as f32):
 *     TDC_RELATIVE_NATIVE  tdc_pair_f32  tdc_pair_f16  tdc_pair_bf16
 *                          tdc_pair_bf16_f32  tdc_pair_f32_bf16
 *     TDC_RELATIVE_F64     the same with the suffix _exact
 *
 * A record is 128 floats. Results of a maximum or minimum sit at even indices (the vendor's headers
 * ask for 8 bytes of alignment there), counts between them; what one instruction yields is two
 * floats apart.
 */
#ifndef TDC_KERNELS_ASCEND_TILE_LAYOUT_H
#define TDC_KERNELS_ASCEND_TILE_LAYOUT_H

#define TDC_TILE_PAIRS         4096
#define TDC_TILE_RECORD_FLOATS 128
#define TDC_TILE_RECORD_BYTES  512

/* Sums, each as 8 high lanes and, TDC_TILE_SUM_LOW behind, 8 low ones; both are added in float64,
 * lane by lane. The first five are folded together, and so are the last two. */
#define TDC_TILE_SUM_LANES 8
#define TDC_TILE_SUM_LOW   56
/* By at most so much of the sum of magnitudes a sum is off: tile_fold.h. */
#define TDC_TILE_SUM_ERROR 0x1p-40
#define TDC_TILE_SUM_NB    0
#define TDC_TILE_SUM_NN    8
#define TDC_TILE_SUM_BB    16
#define TDC_TILE_SUM_N     24
#define TDC_TILE_SUM_B     32
#define TDC_TILE_SUM_DD    40
#define TDC_TILE_SUM_ABS   48

#define TDC_TILE_N_MAX 112
#define TDC_TILE_B_MAX 114
/* Of |n - b| rounded to f32, and of what rounding took away: 0 = every difference is exact. */
#define TDC_TILE_ABS_MAX 116
#define TDC_TILE_ABS_ERR 118
#define TDC_TILE_N_MIN   120
#define TDC_TILE_B_MIN   122
/* Native: the largest e, 0 where e is NaN. Exact: a bound from below, and one from above in TOP. */
#define TDC_TILE_REL_MAX 124
#define TDC_TILE_REL_TOP 126

/* Counts of pairs. 0 against 0 has the e NaN in native f16 and 0 in the exact kernels.
 * e < 0.001, 0.005, 0.01, 0.1, the last two 0 in native kernels. Native f16 counts in, the exact
 * kernels leave out the pairs of TDC_TILE_ZEROS. */
#define TDC_TILE_BELOW_2 113
#define TDC_TILE_BELOW_3 115
#define TDC_TILE_ZEROS   117 /* f16 and exact: 0 against 0; else 0 */
#define TDC_TILE_FINITE  119 /* both values finite */
#define TDC_TILE_UNSURE  121 /* pairs whose quotient the device does not vouch for */
#define TDC_TILE_BELOW_0 123
#define TDC_TILE_BELOW_1 125

/* Says that the record was written, and by which kind of kernel. */
#define TDC_TILE_MARK        127
#define TDC_TILE_MARK_NATIVE 20261.0f
#define TDC_TILE_MARK_EXACT  20262.0f

/*
 * tdc_probe: a tile is TDC_PROBE_PAIRS pairs x, y of f32, and its record the results of eight
 * operations: x + y, x - y, x * y, x / y, 4097 x; x * y + (-(x * y)) by a multiply-add, which is
 * not 0 where that is fused; x rounded to f16 and to bf16.
 */
#define TDC_PROBE_PAIRS  16
#define TDC_PROBE_ADD    0
#define TDC_PROBE_SUB    16
#define TDC_PROBE_MUL    32
#define TDC_PROBE_DIV    48
#define TDC_PROBE_SCALED 64
#define TDC_PROBE_FUSED  80
#define TDC_PROBE_HALF   96
#define TDC_PROBE_BFLOAT 112

#endif
