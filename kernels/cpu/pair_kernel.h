/*
 * pair_kernel.h - what dispatch.c and the per-instruction-set copies of pair_impl.h share.
 */
#ifndef TDC_KERNELS_CPU_PAIR_KERNEL_H
#define TDC_KERNELS_CPU_PAIR_KERNEL_H

#include "kernels/dtype.h"
#include "kernels/pair.h"

/* The arithmetic a pair of dtypes needs under a rule; picks one run function. */
enum pair_arithmetic {
    NATIVE_F16,     /* f16 against f16 */
    NATIVE_F32,     /* f16, bf16, f32 in any mix but f16 against f16; promoted: that one, too */
    NATIVE_F64,     /* at least one side counts as f64; promoted: likewise */
    NATIVE_INTEGER, /* of these: integers, bool included */
    EXACT_F32,      /* TDC_RELATIVE_F64, both sides fit f32 without rounding */
    EXACT_F64,      /* TDC_RELATIVE_F64, other real types */
    EXACT_INTEGER,  /* TDC_RELATIVE_F64, integers, bool included */
    EXACT_COMPLEX   /* TDC_RELATIVE_F64, at least one side is complex */
};
#define PAIR_ARITHMETICS 8

typedef void pair_run(const struct tdc_pair_plan *plan, const void *n, const void *b, size_t count,
                      struct tdc_pair_sums *sums);

/* One copy of pair_impl.h. */
struct tdc_pair_kernel {
    pair_run *run[PAIR_ARITHMETICS];
};

extern const struct tdc_pair_kernel tdc_pair_kernel_baseline;
#if defined(__x86_64__)
extern const struct tdc_pair_kernel tdc_pair_kernel_x86_64_v3;
extern const struct tdc_pair_kernel tdc_pair_kernel_x86_64_v4;
#endif

/* The run function for dtypes that float64 cannot hold, by TDC_RELATIVE_F64; NULL for all others.
 */
pair_run *tdc_pair_wide(tdc_dtype n, tdc_dtype b);

static inline bool dtype_is_integer(tdc_dtype dtype)
{
    return dtype >= TDC_BOOL && dtype <= TDC_U64;
}

/* Sides that count as f32 under TDC_RELATIVE_NATIVE. */
static inline bool dtype_is_single(tdc_dtype dtype)
{
    return dtype == TDC_F32 || dtype == TDC_BF16;
}

/* Sides that count as f32 under TDC_RELATIVE_PROMOTED. */
static inline bool dtype_is_short_float(tdc_dtype dtype)
{
    return dtype_is_single(dtype) || dtype == TDC_F16 || dtype == TDC_F8_E4M3 ||
           dtype == TDC_F8_E5M2;
}

#endif
