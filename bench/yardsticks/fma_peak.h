/* fma_peak.h - how many float64 multiplications and additions this machine can do at most. */
#ifndef TDC_BENCH_FMA_PEAK_H
#define TDC_BENCH_FMA_PEAK_H

/* The vectors used: "avx512", "avx2", "neon" or "plain". */
const char *tdc_fma_variant(void);

/* Chains of independent fused multiply-adds in registers, `rounds` times on each of `threads`
 * threads at once. Gives the operations of all, two per multiply-add. */
double tdc_fma_run(int threads, long rounds);

#endif
