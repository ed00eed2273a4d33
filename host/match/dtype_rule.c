/* dtype_rule.c - types that may face each other (docs/msprobe.md#types-that-agree). */
#include <string.h>

#include "host/match/match.h"
#include "kernels/dtype.h"

/* Across frameworks only the kind of number counts; what no dtype is called stays itself. */
static bool same_kind(const char *npu, const char *bench)
{
    tdc_dtype n = tdc_dtype_shared(npu), b = tdc_dtype_shared(bench);
    if (n == TDC_DTYPE_NONE || b == TDC_DTYPE_NONE)
        return strcmp(npu, bench) == 0;
    return tdc_dtype_entry(n)->kind == tdc_dtype_entry(b)->kind;
}

/* Within one, float16, bfloat16 and float32 may face each other. */
static bool is_mixed(const char *text)
{
    tdc_dtype dtype = tdc_dtype_shared(text);
    return dtype == TDC_F16 || dtype == TDC_BF16 || dtype == TDC_F32;
}

bool tdc_dtypes_agree(const char *npu, const char *bench, bool cross)
{
    if (cross)
        return same_kind(npu, bench);
    /* 't': as torch writes them */
    return strcmp(npu, bench) == 0 ||
           (is_mixed(npu) && is_mixed(bench) && (npu[0] == 't') == (bench[0] == 't'));
}
